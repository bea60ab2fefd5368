//go:build linux

package spawn

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"loop/backend/wire"
)

// start runs keeper and stage and answers when the program has been executed.
func (p *proc) start(body Body) (tree, error) {
	cfg, err := json.Marshal(p.stageConfig(body))
	if err != nil {
		return tree{}, fmt.Errorf("encode stage: %w", err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		return tree{}, fmt.Errorf("make pipe: %w", err)
	}
	defer func() { _ = w.Close() }()
	t, err := p.startKeeper(r)
	_ = r.Close()
	p.closeChild()
	if err != nil {
		return tree{}, err
	}
	// A stage that died early makes this fail; the keeper says its reason.
	_, _ = w.Write(cfg)
	_ = w.Close()
	if err := p.awaitStart(t); err != nil {
		<-t.keeper // the stage has ended or is about to; nothing is below it
		_ = t.events.Close()
		return tree{}, err
	}
	p.startedAt = time.Now().UnixMilli()
	return t, nil
}

// startKeeper gives a keeper its end of a socket, the stage's config and the
// program's descriptors. Its arguments say how these are laid out: the kind of stdio,
// then the numbers of the program's pipes.
func (p *proc) startKeeper(config *os.File) (tree, error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return tree{}, err
	}
	defer func() { _ = null.Close() }()
	ours, theirs, err := newSocketPair()
	if err != nil {
		return tree{}, err
	}
	defer theirs.close()
	if err := unix.SetNonblock(int(ours), true); err != nil { // no thread waits in a read
		return tree{}, errors.Join(fmt.Errorf("set nonblocking: %w", err), unix.Close(int(ours)))
	}
	t := tree{events: os.NewFile(uintptr(ours), "keeper")}
	at := map[int]int{0: int(null.Fd()), 1: int(null.Fd()), 2: 2, peerFD: int(theirs), configFD: int(config.Fd())}
	for i, f := range p.child {
		at[streamFD+i] = int(f.Fd()) // and makes it one that blocks, as programs expect
	}
	argv := []string{"loop", "syscallwrap", p.req.Stdio}
	for _, pipe := range p.req.Pipes {
		argv = append(argv, strconv.Itoa(pipe.FD))
	}
	attr := &syscall.ProcAttr{Dir: "/", Env: keepEnv, Files: layout(at)}
	p.keeper, t.keeper, err = p.tab.cfg.Reaper.Start(p.id, "/proc/self/exe", argv, attr)
	if errors.Is(err, syscall.EAGAIN) {
		err = errNoProcess
	}
	if err != nil {
		_ = t.events.Close()
	}
	return t, err
}

var errNoProcess = wire.NewError(wire.CodeLimit, "the container has reached its limit of processes")

// keepEnv makes a keeper that needs no thread after its start: one running
// thread, and no collector to wake another.
var keepEnv = []string{"GOMAXPROCS=1", "GOGC=off"}

// awaitStart waits until the keeper knows whether the program runs.
func (p *proc) awaitStart(t tree) error {
	ev, err := t.next()
	switch {
	case err != nil:
		return wire.NewError(wire.CodeLimit,
			"the program's keeper ended at once, which happens without free processes or memory: "+err.Error())
	case ev.Error != nil:
		return ev.Error
	}
	p.pid = ev.Pid
	return nil
}

func (p *proc) stageConfig(body Body) stageConfig {
	a := p.tab.cfg.Agent
	c := stageConfig{
		Argv: p.req.Argv, Env: mergeEnv(p.tab.cfg.Env, p.req), Dir: cmp.Or(p.req.Dir, a.Home, "/"),
		UID: a.UID, GID: a.GID, Groups: a.Groups, RunDir: filepath.Join(p.tab.cfg.RunsDir, p.id), Files: make(map[string][]byte),
	}
	for i, f := range p.req.Files {
		c.Files[f.Name] = body.Files[i]
	}
	for _, pipe := range p.req.Pipes {
		c.Pipes = append(c.Pipes, pipe.FD)
	}
	return c
}
