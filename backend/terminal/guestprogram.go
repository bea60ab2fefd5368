package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"loop/backend/backoff"
	"loop/backend/core"
)

// GuestContainer is the container of ours that a Guest runs in.
type GuestContainer interface {
	// Open opens a link after its hello; the Guest closes it. core.ErrNotRunning says
	// that the container does not run now, core.ErrNotFound that it is gone.
	Open(ctx context.Context) (core.Link, error)
	// Again spawns the program anew after a restart of the container and returns the
	// line to type into it. core.ErrNotFound says that it is not to be spawned again.
	Again(ctx context.Context, link core.Link) (typed string, err error)
}

// restartTime is how long a container that does not run may take to run again
// before its programs count as gone: a restart takes a second or two, and ten
// when something in it ignores the stop signal.
const restartTime = 15 * time.Second

// Guest is a Program of loop init, reached over the link. It goes on while the
// link is down; every call opens a new one if needed.
type Guest struct {
	container GuestContainer
	id        core.SpawnID

	mu      sync.Mutex
	found   func(end int64) // until the program of an earlier launch is found
	link    core.Link
	stdin   io.WriteCloser
	shift   int64 // the session's offsets are the program's plus shift
	typed   string
	stopped time.Time // when the container was first seen not to run
	closed  bool
}

var _ Lasting = (*Guest)(nil)

// NewGuest is the program that was spawned as id over link, and a line to type
// into it.
func NewGuest(c GuestContainer, id core.SpawnID, link core.Link, typed string) *Guest {
	return &Guest{container: c, id: id, link: link, typed: typed}
}

// ResumeGuest is a program of an earlier launch. A container that does not run now
// ended with it. found is called once, before output is read, with the offset of the
// session up to which the program has printed.
func ResumeGuest(c GuestContainer, s Saved, found func(end int64)) *Guest {
	return &Guest{container: c, id: core.SpawnID(s.Info.ID), shift: s.Shift, found: found, stopped: time.Unix(0, 0)}
}

// Typed implements Lasting.
func (g *Guest) Typed() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	line := g.typed
	g.typed = ""
	return line
}

// opened returns a link that is up.
func (g *Guest) opened(ctx context.Context) (core.Link, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil, fmt.Errorf("terminal: %w", core.ErrNotFound)
	}
	if g.link != nil {
		select {
		case <-g.link.Done():
			_ = g.link.Close()
			g.link, g.stdin = nil, nil
		default:
			return g.link, nil
		}
	}
	link, err := g.container.Open(ctx)
	if errors.Is(err, core.ErrNotRunning) && !errors.Is(err, core.ErrNotFound) {
		if g.stopped.IsZero() {
			g.stopped = time.Now()
		}
		if time.Since(g.stopped) >= restartTime {
			err = core.Fail(core.CodeNotFound, core.ErrNotFound, "The container it ran in was stopped.", "Open a new terminal.")
		}
	}
	if err == nil && g.found != nil {
		if err = g.findEnd(ctx, link); err != nil {
			err = errors.Join(err, link.Close())
		}
	}
	if err != nil {
		return nil, fmt.Errorf("reach the container: %w", err)
	}
	g.link, g.stopped = link, time.Time{}
	return link, nil
}

// findEnd reports once how much a program of an earlier launch has printed; for one
// that loop init does not know, Output says so.
func (g *Guest) findEnd(ctx context.Context, link core.Link) error {
	list, err := link.Spawns(ctx)
	if err != nil {
		return fmt.Errorf("list programs: %w", err)
	}
	for _, i := range list {
		if i.ID == g.id {
			g.found(i.OutEnd + g.shift)
		}
	}
	g.found = nil
	return nil
}

func (g *Guest) Output(ctx context.Context, offset int64) (io.ReadCloser, int64, error) {
	link, err := g.opened(ctx)
	if err != nil {
		return nil, 0, err
	}
	g.mu.Lock()
	shift := g.shift
	g.mu.Unlock()
	r, err := link.ReadHeld(ctx, g.id, "out", max(0, offset-shift))
	if err != nil {
		return nil, 0, err
	}
	start := offset
	if at, ok := r.(interface{ Offset() int64 }); ok {
		start = at.Offset() + shift
	}
	return r, start, nil
}

// Write keeps one stream of input open. After a link that broke, what was on
// its way is not sent twice.
func (g *Guest) Write(ctx context.Context, p []byte) error {
	link, err := g.opened(ctx)
	if err != nil {
		return err
	}
	g.mu.Lock()
	w := g.stdin
	g.mu.Unlock()
	if w == nil {
		if w, err = link.Stdin(ctx, g.id); err != nil {
			return fmt.Errorf("open input: %w", err)
		}
		g.mu.Lock()
		g.stdin = w
		g.mu.Unlock()
	}
	if _, err := w.Write(p); err != nil {
		g.mu.Lock()
		g.stdin = nil // Write alone sets another
		g.mu.Unlock()
		_ = w.Close()
		return fmt.Errorf("write input: %w", err)
	}
	return nil
}

func (g *Guest) Resize(ctx context.Context, cols, rows uint16) error {
	link, err := g.opened(ctx)
	if err != nil {
		return err
	}
	return link.Resize(ctx, g.id, cols, rows)
}

// End kills the program's tree.
func (g *Guest) End(ctx context.Context) error {
	for try := 0; ; try++ {
		link, err := g.opened(ctx)
		if err == nil {
			err = link.Kill(ctx, g.id)
		}
		if err = unlessGone(err); !errors.Is(err, core.ErrLinkDown) || try == endTries || !backoff.Sleep(ctx, endPause) {
			return err
		}
	}
}

// endTries times after endPause a link that broke is opened again for an end: a container
// that takes no new work ends with its last program, which may be before the answer comes.
const (
	endTries = 5
	endPause = 300 * time.Millisecond
)

// unlessGone drops an error that says that the program went with its container.
func unlessGone(err error) error {
	if errors.Is(err, core.ErrNotFound) || errors.Is(err, core.ErrNotRunning) {
		return nil
	}
	return err
}

func (g *Guest) Wait(ctx context.Context) (core.TerminalExit, error) {
	link, err := g.opened(ctx)
	if err != nil {
		return core.TerminalExit{}, err
	}
	st, err := link.Wait(ctx, g.id)
	if err != nil {
		return core.TerminalExit{}, err
	}
	return core.TerminalExit{Code: st.Code, Signal: st.Signal}, nil
}

// Forget implements Lasting: loop init drops the program, with what it printed and
// what it left in the background. One that cannot be reached is dropped when loop
// init needs its place.
func (g *Guest) Forget(ctx context.Context) error {
	link, err := g.opened(ctx)
	if err == nil {
		err = link.Forget(ctx, g.id)
	}
	return unlessGone(err)
}

// Relaunch implements Lasting: only a container that runs without knowing the
// program was restarted.
func (g *Guest) Relaunch(ctx context.Context, at int64) error {
	link, err := g.opened(ctx)
	if err != nil {
		return err
	}
	g.mu.Lock()
	g.shift, g.stdin = at, nil // also when the answer is lost and the program is found running
	g.mu.Unlock()
	typed, err := g.container.Again(ctx, link)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.typed = typed
	return err
}

// Close implements Program. The stream of input stays open: closing it would end
// the program's input.
func (g *Guest) Close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed, g.stdin = true, nil
	if g.link == nil {
		return nil
	}
	link := g.link
	g.link = nil
	return link.Close()
}
