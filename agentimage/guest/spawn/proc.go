//go:build linux

package spawn

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"loop/agentimage/guest/filter"
	"loop/backend/wire"
)

// proc is one spawn. Its steps only go forward, each marked by a channel:
// ready (runs, or could not start), exited (the program ended), gone (nothing
// of its tree is left), done (output drained, exit record written).
type proc struct {
	tab *Table
	id  string
	key [32]byte
	req wire.Spawn

	supervised bool           // written once, as variant
	variant    filter.Variant // of its filter, where it is supervised
	policyMu   sync.Mutex
	policy     document

	ready, exited, gone, done chan struct{}
	going                     chan struct{} // closed before ready, when a program may be about to run under its filter
	startErr                  error         // valid once ready

	// Written before ready.
	pid, keeper int
	startedAt   int64

	exit atomic.Pointer[wire.Exit] // set before exited

	drainCtx   context.Context
	stopDrains context.CancelFunc

	outlets []*outlet        // what the program writes: out, err unless it has a terminal, its pipes
	feeds   map[string]*feed // what the program reads, by the stream's name
	master  *os.File         // terminal
	child   []*os.File       // the program's ends until it has them: 0, 1, 2, its pipes

	keep   atomic.Pointer[keeperEnd] // once it was started
	ending atomic.Bool               // somebody ends the spawn: it asks nobody any more
	killMu sync.Mutex                // one hunt at a time
}

func newProc(tab *Table, id string, key [32]byte, req wire.Spawn) *proc {
	p := &proc{tab: tab, id: id, key: key, req: req,
		ready: make(chan struct{}), exited: make(chan struct{}), gone: make(chan struct{}), done: make(chan struct{}), going: make(chan struct{}),
		feeds: make(map[string]*feed)}
	p.drainCtx, p.stopDrains = context.WithCancel(tab.ctx)
	return p
}

func fingerprint(req wire.Spawn, body Body) [32]byte {
	h := sha256.New()
	_ = json.NewEncoder(h).Encode([]any{req, body}) // neither has what cannot be encoded
	return [32]byte(h.Sum(nil))
}

func (p *proc) isReady() bool { return isClosed(p.ready) && p.startErr == nil }

func (p *proc) info() wire.Info {
	i := wire.Info{ID: p.id, Pid: p.pid, Stdio: p.req.Stdio, Started: p.startedAt, Exit: p.exit.Load(),
		Gone: isClosed(p.gone), Debuggers: p.variant == filter.Debuggers}
	for _, o := range p.outlets {
		base, end, paused := o.State()
		switch o.name {
		case wire.StreamOut:
			i.OutBase, i.OutEnd = base, end
		case wire.StreamErr:
			i.ErrBase, i.ErrEnd = base, end
		}
		i.Paused = cmp.Or(i.Paused, paused)
	}
	if in := p.feeds[wire.StreamIn]; in != nil && p.master == nil {
		i.InEnd, i.InOpen = in.taken.Load(), p.req.OpenStdin && !in.closed.Load()
	}
	if p.req.Spool {
		i.Detached = p.detached()
	}
	return i
}

// detached lists the commands whose parents have ended and that have a session of their
// own: an agent's CLI gives one to each command that it runs for the agent. A process in
// the program's own session is its helper, an MCP server say, and about to follow it.
func (p *proc) detached() []string {
	if isClosed(p.gone) {
		return nil // and the keeper's pid may be somebody else's by now
	}
	all, err := processes()
	if err != nil {
		p.tab.cfg.Log.Warn("list detached processes", "id", p.id, "err", err)
		return nil
	}
	var out []string
	for _, q := range all {
		if q.ppid != p.keeper || q.session == p.pid || len(out) == wire.MaxDetached {
			continue
		}
		if command := readCommand(q.pid); command != "" { // a zombie has none
			out = append(out, command)
		}
	}
	return out
}

// run is the spawn's whole life, on a goroutine of its own.
func (p *proc) run(body Body) {
	defer p.stopDrains()
	k, err := p.begin(body)
	if err != nil {
		p.abandon()
		p.fail(err)
		return
	}
	var drains sync.WaitGroup
	p.drain(&drains, body.Stdin)
	close(p.ready)
	p.tab.cfg.Log.Info("spawned", "id", p.id, "pid", p.pid)
	p.follow(k)
	if err := p.tab.removeRunDir(p.id); err != nil {
		p.tab.cfg.Log.Warn("spawn", "id", p.id, "err", err)
	}
	p.settle(&drains)
	p.record()
	close(p.done)
	<-p.gone
}

// begin takes one of the places for starts.
func (p *proc) begin(body Body) (*keeperEnd, error) {
	p.tab.starts <- struct{}{}
	defer func() { <-p.tab.starts }()
	if err := p.open(); err != nil {
		return nil, err
	}
	return p.start(body)
}

func (p *proc) fail(err error) {
	p.startErr = err
	// A start that failed has no program, no tree and no output.
	p.exit.Store(&wire.Exit{Code: 127, At: time.Now().UnixMilli()})
	close(p.exited)
	close(p.gone)
	close(p.done)
	close(p.ready)
}

// follow waits for the program to end and closes exited; in the background it
// waits for the keeper and closes gone.
func (p *proc) follow(k *keeperEnd) {
	p.tab.wg.Go(func() {
		p.lost(p.awaitKeeper(k), p.supervised)
		if err := p.removePolicy(); err != nil { // here, since a later spawn may have the same id
			p.tab.cfg.Log.Warn("spawn", "id", p.id, "err", err)
		}
		close(p.gone)
	})
	select {
	case <-p.exited:
	case <-k.heard:
		p.hasExited(syscall.WaitStatus(unix.SIGKILL)) // unless the last that was heard is the end
	}
}

// lost looks at how a keeper ended. One that was killed (out of memory) or crashed leaves
// its children to PID 1, which ends them; one that supervised leaves them a filter whose
// calls nobody answers any more, and then the container cannot go on.
func (p *proc) lost(ws syscall.WaitStatus, filtered bool) {
	if ws.Exited() && (ws.ExitStatus() == 0 || ws.ExitStatus() == notStarted) {
		return
	}
	p.tab.cfg.Log.Error("keeper ended before its tree", "id", p.id, "status", int(ws))
	if filtered && p.tab.cfg.Unsupervised != nil {
		p.tab.cfg.Unsupervised(p.id)
	}
	p.tab.killStrays()
}

// hasExited notes how the program ended, once; it is for one goroutine at a time.
func (p *proc) hasExited(ws syscall.WaitStatus) {
	if isClosed(p.exited) {
		return
	}
	exit := wire.Exit{Code: ws.ExitStatus(), At: time.Now().UnixMilli()}
	if ws.Signaled() {
		exit.Code, exit.Signal = 128+int(ws.Signal()), unix.SignalName(ws.Signal())
	}
	p.exit.Store(&exit)
	close(p.exited)
}

// settle waits for the drains. The bytes that are in the program's pipes are kept; a
// background process that holds a pipe open does not keep the output open.
func (p *proc) settle(drains *sync.WaitGroup) {
	for _, o := range p.outlets {
		o.Lift()
	}
	drained := make(chan struct{})
	go func() { drains.Wait(); close(drained) }()
	select {
	case <-drained:
	case <-time.After(drainGrace):
		p.closeFeeds() // nothing reads them any more
		for _, o := range p.outlets {
			o.cut()
		}
		<-drained // a full disk, or a pipe's late reader, keeps it here until there is room or Forget
	}
	p.closeFeeds()
	p.closeOutlets()
}

// record writes the exit record: whole or not at all.
func (p *proc) record() {
	if !p.req.Spool {
		return
	}
	info := p.info()
	record := wire.ExitRecord{ID: p.id, Exit: *info.Exit, OutEnd: info.OutEnd, ErrEnd: info.ErrEnd, BootID: p.tab.cfg.BootID}
	data, err := record.Encode()
	if err == nil {
		err = writeWhole(p.tab.spoolPath(p.id, wire.ExitSuffix), data, 0o644)
	}
	if err != nil {
		p.tab.cfg.Log.Error("write exit record", "id", p.id, "err", err)
	}
}

// readCommand is the command line of a process, empty for one that has none any more.
func readCommand(pid int) string {
	f, err := os.Open("/proc/" + strconv.Itoa(pid) + "/cmdline")
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	line, _ := io.ReadAll(io.LimitReader(f, wire.MaxCommand)) // a process may claim gigabytes
	line = bytes.TrimRight(line, "\x00")
	return strings.Map(func(r rune) rune { // the agent chose it
		switch {
		case r == 0:
			return ' '
		case r < ' ' || r == 0x7f || r == '\uFFFD':
			return '?'
		}
		return r
	}, string(line))
}
