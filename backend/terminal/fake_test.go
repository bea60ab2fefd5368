package terminal

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"sync"
	"testing"
	"time"

	"loop/backend/core"
)

// program is a Program whose output a test writes.
type program struct {
	mu      sync.Mutex
	out     []byte
	make    func(p []byte, off int64) // makes the output instead of out, up to size
	size    int64
	base    int64 // output before it is gone
	ended   bool
	gone    error
	down    error // Output fails with this error
	input   bytes.Buffer
	deaf    bool // does not read its input
	sizes   []sizeMark
	changed chan struct{}
	readers map[*programReader]bool
	closed  bool
	endErr  error
	endHeld bool // End waits until its context ends
}

func newProgram() *program {
	return &program{changed: make(chan struct{}), readers: map[*programReader]bool{}}
}

func (f *program) change(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do()
	close(f.changed)
	f.changed = make(chan struct{})
}

func (f *program) print(s string) {
	f.change(func() { f.out = append(f.out, s...); f.size = int64(len(f.out)) })
}
func (f *program) exit() { f.change(func() { f.ended = true }) }

type programReader struct {
	f      *program
	off    int64
	closed bool
}

func (f *program) Output(_ context.Context, offset int64) (io.ReadCloser, int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.gone != nil {
		return nil, 0, f.gone
	}
	if f.down != nil {
		return nil, 0, f.down
	}
	r := &programReader{f: f, off: max(offset, f.base)}
	f.readers[r] = true
	return r, r.off, nil
}

func (r *programReader) Read(p []byte) (int, error) {
	f := r.f
	for {
		f.mu.Lock()
		switch {
		case r.closed:
			f.mu.Unlock()
			return 0, io.ErrClosedPipe
		case f.down != nil:
			f.mu.Unlock()
			return 0, f.down
		case f.gone != nil:
			f.mu.Unlock()
			return 0, f.gone
		case r.off < f.size:
			n := int(min(int64(len(p)), f.size-r.off))
			if f.make != nil {
				f.make(p[:n], r.off)
			} else {
				copy(p[:n], f.out[r.off:])
			}
			r.off += int64(n)
			f.mu.Unlock()
			return n, nil
		case f.ended:
			f.mu.Unlock()
			return 0, io.EOF
		}
		changed := f.changed
		f.mu.Unlock()
		<-changed
	}
}

func (r *programReader) Close() error {
	r.f.change(func() { r.closed = true; delete(r.f.readers, r) })
	return nil
}

func (f *program) Write(ctx context.Context, p []byte) error {
	f.mu.Lock()
	deaf := f.deaf
	if !deaf {
		f.input.Write(p)
	}
	f.mu.Unlock()
	if deaf {
		<-ctx.Done()
		return ctx.Err()
	}
	return nil
}

func (f *program) Resize(_ context.Context, cols, rows uint16) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sizes = append(f.sizes, sizeMark{f.size, cols, rows})
	return nil
}

func (f *program) End(ctx context.Context) error {
	if f.endHeld {
		<-ctx.Done()
		return ctx.Err()
	}
	if f.endErr != nil {
		return f.endErr
	}
	f.exit()
	return nil
}

func (f *program) Wait(context.Context) (core.TerminalExit, error) {
	return core.TerminalExit{Code: 7}, nil
}

func (f *program) Close() error { f.change(func() { f.closed = true }); return nil }

// programs returns the programs that a test makes.
type programs struct {
	next   func(Start) (Program, error)
	resume func(s Saved, found func(int64)) Program
}

func (p *programs) Start(_ context.Context, s Start) (Program, error) { return p.next(s) }
func (p *programs) Resume(s Saved, found func(int64)) Program         { return p.resume(s, found) }

// boxes are Containers with at most one shell container per channel.
type boxes struct {
	mu      sync.Mutex
	shells  map[core.ChannelID]core.Container
	running bool // a run works in them
	made    int
	removed []core.ContainerID
	paused  bool
	held    map[core.Holder]core.ContainerID
	ended   bool // the container has ended since it was looked at
}

func (b *boxes) Hold(_ context.Context, id core.ContainerID, h core.Holder) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended {
		return core.ErrNotRunning
	}
	if b.held == nil {
		b.held = map[core.Holder]core.ContainerID{}
	}
	b.held[h] = id
	return nil
}

func (b *boxes) Release(_ context.Context, h core.Holder, _ core.Ending) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.held, h)
	return nil
}

func (b *boxes) Recovered(_ context.Context, kind core.HolderKind, alive func(string) bool, _ core.Ending) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	maps.DeleteFunc(b.held, func(h core.Holder, _ core.ContainerID) bool { return h.Kind == kind && !alive(h.ID) })
	return nil
}

// holders lists the terminals that hold a container.
func (b *boxes) holders() (out []core.TerminalID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for h := range b.held {
		out = append(out, core.TerminalID(h.ID))
	}
	return out
}

func (b *boxes) Shells(_ context.Context, ch core.ChannelID) (out []core.Container, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if c, ok := b.shells[ch]; ok {
		out = append(out, c)
	}
	return out, nil
}

func (b *boxes) Shell(_ context.Context, ch core.ChannelID, h core.Holder) (core.Container, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c, ok := b.shells[ch]
	if !ok {
		b.made++
		c = core.Container{ID: core.ContainerID("box-" + string(ch)), ChannelID: ch, Type: core.TypeShell}
		b.shells[ch] = c
	}
	if b.held == nil {
		b.held = map[core.Holder]core.ContainerID{}
	}
	b.held[h] = c.ID
	return c, nil
}

func (b *boxes) Used(core.ContainerID) {}

func (b *boxes) Running(_ context.Context, id core.ContainerID) (core.Container, bool, bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.shells {
		if c.ID == id {
			return c, true, true, nil
		}
	}
	return core.Container{}, false, false, core.ErrNotFound
}

func (b *boxes) Paused(context.Context, core.ContainerID) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.paused
}

func (b *boxes) Remove(_ context.Context, id core.ContainerID) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.running {
		return core.ErrConflict
	}
	b.removed = append(b.removed, id)
	for ch, c := range b.shells {
		if c.ID == id {
			delete(b.shells, ch)
		}
	}
	return nil
}

// whole fills in what a test does not look at.
func whole(o Options, b *boxes) Options {
	o.Containers, o.Leases, o.Log = b, b, slog.New(slog.DiscardHandler)
	if o.Keeper == nil {
		o.Keeper = &keeper{rows: map[core.TerminalID]Saved{}}
	}
	if o.Publish == nil {
		o.Publish = func(core.EventType, core.TerminalInfo) {}
	}
	if o.IdleTimeout == nil {
		o.IdleTimeout = func() time.Duration { return 0 }
	}
	return o
}

// rig is a service with one program.
func rig(t *testing.T, o Options) (*Service, *program, *boxes) {
	t.Helper()
	f, b := newProgram(), &boxes{shells: map[core.ChannelID]core.Container{}}
	if o.Programs == nil {
		o.Programs = &programs{next: func(Start) (Program, error) { return f, nil }}
	}
	s := New(whole(o, b))
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s, f, b
}

func create(t *testing.T, s *Service, spec core.TerminalSpec) core.TerminalInfo {
	t.Helper()
	if spec.ChannelID == "" {
		spec.ChannelID = "c1"
	}
	info, err := s.Create(t.Context(), spec)
	if err != nil {
		t.Fatalf("create: %v", err)
	}
	return info
}

func attach(t *testing.T, s *Service, id core.TerminalID, acks bool) core.TerminalViewer {
	t.Helper()
	v, err := s.Attach(t.Context(), id, core.TerminalAttach{Acks: acks})
	if err != nil {
		t.Fatalf("attach: %v", err)
	}
	t.Cleanup(v.Close)
	return v
}

func next(t *testing.T, v core.TerminalViewer) core.TerminalFrame {
	t.Helper()
	f, err := v.Next(t.Context())
	if err != nil {
		t.Fatalf("next: %v", err)
	}
	return f
}

var errDown = errors.New("the link is down")
