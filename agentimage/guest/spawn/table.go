//go:build linux

package spawn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"loop/agentimage/guest/threads"
	"loop/backend/wire"
)

// Agent is who programs run as.
type Agent struct {
	UID, GID int
	Groups   []int // supplementary; the engine's own are not inherited
	Home     string
}

// Limits of one spawn.
const (
	// DefaultSpoolMax is the cap of each spooled stream: 1 GiB of stream-json is
	// some 250,000 turns, and the disk is the person's.
	DefaultSpoolMax = 1 << 30
	// DefaultRing is the memory kept of a stream without a spool.
	DefaultRing = 1 << 20
	// DefaultGrace is what a tree gets between TERM and KILL. The CLI writes its
	// transcript on TERM in well under a second.
	DefaultGrace = 3 * time.Second
	// drainGrace is how long output may still come after the program has ended
	// while a background process of it holds the pipe.
	drainGrace = 500 * time.Millisecond
	// firstReader is how long a terminal with a full ring waits for its first
	// reader: a start, the reply and one request, over any link.
	firstReader = 20 * time.Second
	// maxStarts is how many spawns start at a time: each holds a thread or two for
	// some milliseconds, and loop init has a fixed number of them.
	maxStarts = 4
	// killDeadline bounds the hunt for a tree that keeps forking. Where hundreds of
	// processes leave loop init little of the processor, one sweep may take as long;
	// it is not given up before killSweeps of them.
	killDeadline = 20 * time.Second
	killSweeps   = 20
)

// Config is what a Table needs to know.
type Config struct {
	Agent    Agent
	Env      []string // the agent's base environment
	RunsDir  string
	SpoolDir string
	BootID   string
	SpoolMax int64
	Ring     int
	Grace    time.Duration
	Reaper   *threads.Reaper
	Log      *slog.Logger

	GateDir string // of the files that tell programs their policy; the agent may not write it
	Gated   bool   // nothing runs without a policy
	Asker   Asker  // of what supervisors ask; nil denies
	// Unsupervised is told that the keeper of a supervised spawn ended before its tree. It
	// has to end the container, and returns only in a test.
	Unsupervised func(id string)
}

// Table owns every spawn. Its methods may be called from any goroutine.
type Table struct {
	cfg    Config
	ctx    context.Context // of the table's own goroutines
	cancel context.CancelFunc
	wg     sync.WaitGroup
	ptys   *ptyThread
	starts chan struct{} // bounds starts at a time
	names  portNames

	mu     sync.Mutex
	spawns map[string]*proc
	policy document // of those to come that bring none
	closed bool
}

// New makes an empty table; the caller ends it with Close.
func New(cfg Config) *Table {
	cfg.SpoolMax = cmp.Or(cfg.SpoolMax, DefaultSpoolMax)
	cfg.Ring = cmp.Or(cfg.Ring, DefaultRing)
	cfg.Grace = cmp.Or(cfg.Grace, DefaultGrace)
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(context.Background())
	return &Table{cfg: cfg, ctx: ctx, cancel: cancel, spawns: make(map[string]*proc),
		ptys: newPTYThread(cfg.Agent.UID, ctx.Done()), starts: make(chan struct{}, maxStarts)}
}

// Body is what follows a spawn request.
type Body struct {
	Stdin  []byte
	Files  [][]byte // in the order of Spawn.Files
	Policy []byte   // what Spawn.Policy heads
}

// Spawn starts a process and answers once the program runs or could not. The
// same id with the same request answers what the first one did; with another it
// is refused.
func (tab *Table) Spawn(ctx context.Context, id string, req wire.Spawn, body Body) (wire.Info, error) {
	p, err := tab.begin(id, req, body)
	if err != nil {
		return wire.Info{}, err
	}
	if err := await(ctx, p.ready); err != nil {
		return wire.Info{}, err
	}
	if p.startErr != nil {
		return wire.Info{}, p.startErr
	}
	return p.info(), nil
}

func (tab *Table) begin(id string, req wire.Spawn, body Body) (*proc, error) {
	key := fingerprint(req, body)
	rules, variant, govErr := tab.govern(req, body)
	tab.mu.Lock()
	defer tab.mu.Unlock()
	if p, ok := tab.spawns[id]; ok {
		if p.key != key {
			return nil, wire.NewError(wire.CodeConflict, "spawn id "+id+" is taken by another request")
		}
		return p, nil
	}
	if govErr != nil {
		return nil, govErr
	}
	if tab.closed {
		return nil, wire.NewError(wire.CodeEnded, "the container is stopping")
	}
	if len(tab.spawns) >= wire.MaxSpawns && !tab.evict() {
		return nil, wire.NewError(wire.CodeLimit, fmt.Sprintf("%d spawns are remembered; forget some", wire.MaxSpawns))
	}
	p := newProc(tab, id, key, req)
	p.policy, p.variant, p.supervised = rules, variant, rules.doc != nil
	tab.spawns[id] = p
	tab.wg.Go(func() { // before the lock goes, so that Close cannot miss it
		p.run(body)
		if p.startErr != nil {
			tab.drop(id) // nothing ran: the id may be tried again
		}
	})
	return p, nil
}

// evict drops the spawn that ended first among those of which nothing runs and
// nothing is in a file: a host that has gone away may have forgotten to. The lock
// is held.
func (tab *Table) evict() bool {
	var first *proc
	for _, p := range tab.spawns {
		if !isClosed(p.done) || !isClosed(p.gone) {
			continue
		}
		if exit := p.exit.Load(); !p.req.Spool && p.startErr == nil && (first == nil || exit.At < first.exit.Load().At) {
			first = p
		}
	}
	if first == nil {
		return false
	}
	delete(tab.spawns, first.id)
	return true
}

func (tab *Table) drop(id string) {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	delete(tab.spawns, id)
}

func (tab *Table) find(id string) (*proc, error) {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	p, ok := tab.spawns[id]
	if !ok {
		return nil, wire.NewError(wire.CodeNotFound, "no spawn "+id)
	}
	return p, nil
}

// ready finds a spawn that has started.
func (tab *Table) ready(id string) (*proc, error) {
	p, err := tab.find(id)
	if err == nil && !p.isReady() {
		err = wire.NewError(wire.CodeNotFound, "spawn "+id+" has not started")
	}
	return p, err
}

func (tab *Table) all() []*proc {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	return slices.Collect(maps.Values(tab.spawns))
}

// List is every spawn that started, oldest first.
func (tab *Table) List() []wire.Info {
	out := []wire.Info{}
	for _, p := range tab.all() {
		if p.isReady() {
			out = append(out, p.info())
		}
	}
	slices.SortFunc(out, func(a, b wire.Info) int {
		return cmp.Or(cmp.Compare(a.Started, b.Started), strings.Compare(a.ID, b.ID))
	})
	return out
}

// Wait answers when the program of a spawn has ended. Output that is still in
// its pipe may follow.
func (tab *Table) Wait(ctx context.Context, id string) (wire.Exit, error) {
	p, err := tab.find(id)
	if err != nil {
		return wire.Exit{}, err
	}
	if err := await(ctx, p.exited); err != nil {
		return wire.Exit{}, err
	}
	return *p.exit.Load(), nil
}

// Forget drops an ended spawn: what is left of its tree, its spool and its
// private directory.
func (tab *Table) Forget(ctx context.Context, id string) error {
	p, err := tab.find(id)
	if err != nil {
		return err
	}
	if !isClosed(p.exited) {
		return wire.NewError(wire.CodeConflict, "spawn "+id+" still runs")
	}
	if err := tab.kill(ctx, p, 0); err != nil {
		return err
	}
	p.stopDrains()
	if err := await(ctx, p.done); err != nil {
		return err
	}
	if err := p.removeFiles(); err != nil {
		return err
	}
	tab.drop(id)
	return nil
}

// Close ends every tree (TERM, grace, KILL), waits for all goroutines, and
// leaves spools and exit records behind.
func (tab *Table) Close(ctx context.Context) error {
	tab.mu.Lock()
	tab.closed = true
	tab.mu.Unlock()
	all := tab.all()
	errs := make([]error, len(all))
	var kills sync.WaitGroup
	for i, p := range all {
		kills.Go(func() { errs[i] = tab.kill(ctx, p, tab.cfg.Grace) })
	}
	kills.Wait()
	err := errors.Join(errs...)
	tab.cancel()
	done := make(chan struct{})
	go func() { tab.wg.Wait(); close(done) }()
	err = errors.Join(err, await(ctx, done))
	for _, p := range all {
		p.closeLogs()
	}
	return err
}
