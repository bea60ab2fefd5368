//go:build linux

package spawn

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
	r, w, err := pipe()
	if err != nil {
		return tree{}, err
	}
	config, err := pollable(w, "config")
	if err != nil {
		return tree{}, errors.Join(err, unix.Close(r))
	}
	t, err := p.startKeeper(r)
	_ = unix.Close(r)
	p.closeChild()
	if err == nil {
		// A stage that died early makes this fail; the keeper says its reason.
		_, _ = config.Write(cfg)
	}
	_ = config.Close()
	if err != nil {
		return tree{}, err
	}
	if err := p.awaitStart(t); err != nil {
		<-t.keeper // the stage has ended or is about to; nothing is below it
		_ = t.events.Close()
		return tree{}, err
	}
	p.startedAt = time.Now().UnixMilli()
	p.exe = readExe(p.pid)
	return t, nil
}

// startKeeper gives a keeper its end of a socket, the stage's config and the
// program's descriptors.
func (p *proc) startKeeper(config int) (tree, error) {
	ours, theirs, err := newSocketPair()
	if err != nil {
		return tree{}, err
	}
	defer theirs.close()
	events, err := pollable(int(ours), "keeper")
	if err != nil {
		return tree{}, err
	}
	null, err := unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		_ = events.Close()
		return tree{}, fmt.Errorf("open %s: %w", os.DevNull, err)
	}
	defer func() { _ = unix.Close(null) }()
	at := map[int]int{0: null, 1: null, 2: 2, peerFD: int(theirs), configFD: config}
	for i, fd := range p.child {
		at[streamFD+i] = fd
	}
	argv := append([]string{"loop", "keep"}, keepArgs(p.req)...)
	pid, done, err := p.tab.cfg.Reaper.Start(p.id, "/proc/self/exe", argv, &syscall.ProcAttr{Dir: "/", Env: keepEnv, Files: layout(at)})
	if err != nil {
		_ = events.Close()
		if errors.Is(err, syscall.EAGAIN) {
			err = errNoProcess
		}
		return tree{}, err
	}
	p.keeper = pid
	return tree{events: events, keeper: done}, nil
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
		return wire.NewError(wire.CodeLimit, "the program's keeper ended at once, which happens without free processes or memory: "+err.Error())
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
