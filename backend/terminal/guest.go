package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"loop/backend/core"
)

// GuestPorts is what a program of loop init needs.
type GuestPorts struct {
	// Open returns after the link's hello; the program closes what it opened.
	Open func(ctx context.Context, c core.Container) (core.Link, error)
	// Running says whether the container runs; core.ErrNotFound when it is gone.
	Running func(ctx context.Context, id core.ContainerID) (bool, error)
	// Again spawns the program anew after a restart of its container and says
	// what is typed into it; nil when it is not to be.
	Again func(ctx context.Context, link core.Link) (typed string, err error)
}

// restartTime is how long a container that does not run may take to run again
// before its programs count as gone: a restart takes a second or two, and ten
// when something in it ignores the stop signal.
const restartTime = 15 * time.Second

// Guest is a Program of loop init, reached over the link. It goes on while the
// link is down; every call opens a new one if needed.
type Guest struct {
	ports     GuestPorts
	container core.Container
	id        core.SpawnID

	mu      sync.Mutex
	link    core.Link
	stdin   io.WriteCloser
	shift   int64
	typed   string
	stopped time.Time // when the container was first seen not to run
	closed  bool
}

// NewGuest is the program that link, if any, has spawned as id, and a line to be
// typed into it.
func NewGuest(ports GuestPorts, c core.Container, id core.SpawnID, link core.Link, shift int64, typed string) *Guest {
	return &Guest{ports: ports, container: c, id: id, link: link, shift: shift, typed: typed}
}

// Typed implements Typist.
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
	running, err := g.ports.Running(ctx, g.container.ID)
	if err != nil {
		return nil, fmt.Errorf("look at the container: %w", err)
	}
	if !running {
		if g.stopped.IsZero() {
			g.stopped = time.Now()
		}
		if time.Since(g.stopped) < restartTime {
			return nil, fmt.Errorf("container: %w", core.ErrNotRunning)
		}
		return nil, core.Fail(core.CodeNotFound, core.ErrNotFound, "The container it ran in was stopped.", "Open a new terminal.")
	}
	g.stopped = time.Time{}
	link, err := g.ports.Open(ctx, g.container)
	if err != nil {
		return nil, fmt.Errorf("open link: %w", err)
	}
	g.link = link
	return link, nil
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
		if g.stdin == w {
			g.stdin = nil
		}
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

// End kills the tree. One that is gone with its
// container has ended.
func (g *Guest) End(ctx context.Context) error {
	link, err := g.opened(ctx)
	if errors.Is(err, core.ErrNotFound) || errors.Is(err, core.ErrNotRunning) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := link.Kill(ctx, g.id); err != nil && !errors.Is(err, core.ErrNotFound) {
		return fmt.Errorf("end terminal: %w", err)
	}
	return nil
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

// Forget implements Forgetter: loop init drops the program, with what it printed
// and what it left in the background. One that cannot be reached is dropped when
// loop init needs its place.
func (g *Guest) Forget(ctx context.Context) error {
	link, err := g.opened(ctx)
	if err == nil {
		err = link.Forget(ctx, g.id)
	}
	if errors.Is(err, core.ErrNotFound) || errors.Is(err, core.ErrNotRunning) {
		return nil
	}
	return err
}

// Relaunch implements Relauncher: only a container that runs without knowing the
// program was restarted.
func (g *Guest) Relaunch(ctx context.Context, at int64) error {
	if g.ports.Again == nil {
		return fmt.Errorf("start terminal again: %w", core.ErrNotFound)
	}
	link, err := g.opened(ctx)
	if err != nil {
		return err
	}
	typed, err := g.ports.Again(ctx, link)
	if err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shift, g.stdin, g.typed = at, nil, typed
	return nil
}

// Shift moves the session's offsets away from the program's.
func (g *Guest) Shift(by int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shift += by
}

func (g *Guest) Close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	if g.stdin != nil {
		g.stdin = nil // closing it would end the program's input
	}
	if g.link == nil {
		return nil
	}
	link := g.link
	g.link = nil
	return link.Close()
}
