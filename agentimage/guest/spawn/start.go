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

	"loop/backend/wire"
)

// start runs keeper and stage and returns when the program has been executed.
func (p *proc) start(body Body) (*keeperEnd, error) {
	cfg, err := json.Marshal(p.stageConfig(body))
	if err != nil {
		return nil, fmt.Errorf("encode stage: %w", err)
	}
	if p.supervised { // before anything can read it
		if err := p.writePolicy(); err != nil {
			return nil, err
		}
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make pipe: %w", err)
	}
	defer func() { _ = w.Close() }()
	k, err := p.startKeeper(r)
	_ = r.Close()
	p.closeChild()
	if err != nil {
		return nil, err
	}
	p.tab.wg.Go(k.hear)
	if p.supervised {
		// What keeps a keeper from hearing it ends the keeper, which says so below.
		if err := k.supervise(p.policy); err != nil {
			p.tab.cfg.Log.Warn("start supervisor", "id", p.id, "err", err)
		}
	}
	// A stage that died early makes this fail; the keeper says its reason.
	_, _ = w.Write(cfg)
	_ = w.Close()
	if err := p.awaitStart(k); err != nil {
		ws := <-k.ended // the stage has ended or is about to; nothing is below it
		<-k.heard
		p.lost(ws, isClosed(p.going))
		return nil, err
	}
	p.startedAt = time.Now().UnixMilli()
	return k, nil
}

// startKeeper gives a keeper its end of a socket, the stage's config and the
// program's descriptors. Its arguments say how these are laid out: the kind of stdio,
// whether it supervises, then the numbers of the program's pipes.
func (p *proc) startKeeper(config *os.File) (*keeperEnd, error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = null.Close() }()
	ours, theirs, err := newSocketPair()
	if err != nil {
		return nil, err
	}
	defer theirs.close()
	l, err := newLine(ours) // no thread waits in a read
	if err != nil {
		return nil, err
	}
	k := newKeeperEnd(p, l)
	at := map[int]int{0: int(null.Fd()), 1: int(null.Fd()), 2: 2, peerFD: int(theirs), configFD: int(config.Fd())}
	for i, f := range p.child {
		at[streamFD+i] = int(f.Fd()) // and makes it one that blocks, as programs expect
	}
	kind, env := free, freeEnv
	if p.supervised {
		kind, env = gated, gatedEnv
	}
	argv := []string{"loop", "syscallwrap", p.req.Stdio, kind}
	for _, pipe := range p.req.Pipes {
		argv = append(argv, strconv.Itoa(pipe.FD))
	}
	attr := &syscall.ProcAttr{Dir: "/", Env: env, Files: layout(at)}
	p.keeper, k.ended, err = p.tab.cfg.Reaper.Start(p.id, "/proc/self/exe", argv, attr)
	if errors.Is(err, syscall.EAGAIN) {
		err = errNoProcess
	}
	if err != nil {
		k.cancel()
		l.close()
		return nil, err
	}
	p.keep.Store(k)
	return k, nil
}

var errNoProcess = wire.NewError(wire.CodeLimit, "the container has reached its limit of processes")

// Kinds of keepers, as their command line says it.
const (
	free  = "free"  // nothing is held
	gated = "gated" // it supervises
)

// freeEnv makes a keeper that needs no thread after its start: one running thread, and
// no collector to wake another. A stage has it as well.
var freeEnv = []string{"GOMAXPROCS=1", "GOGC=off"}

// gatedEnv makes one that judges on two processors, as calls of a busy program come from
// several threads, and that stays small: there is one for each spawn.
var gatedEnv = []string{"GOMAXPROCS=2", "GOGC=50", "GOMEMLIMIT=64MiB"}

// awaitStart waits until the keeper knows whether the program runs.
func (p *proc) awaitStart(k *keeperEnd) error {
	said, ok := <-k.started
	switch {
	case !ok:
		return wire.NewError(wire.CodeLimit,
			"the program's keeper ended at once, which happens without free processes or memory")
	case said.Error != nil:
		return said.Error
	}
	p.pid = said.Pid
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
	if p.supervised {
		c.Env = gateEnv(c.Env, p.tab.policyPath(p.id))
		c.Gate = &confinement{Spawn: p.id, Variant: p.variant}
	}
	return c
}
