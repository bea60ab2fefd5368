package enginetest

import (
	"context"
	"fmt"
	"io"

	"loop/backend/core"
)

// fakeExec is the host's end of a played exec.
type fakeExec struct {
	out *io.PipeReader
	in  *io.PipeWriter
	err text
}

func (s *fakeExec) Read(p []byte) (int, error)  { return s.out.Read(p) }
func (s *fakeExec) Write(p []byte) (int, error) { return s.in.Write(p) }
func (s *fakeExec) Stderr() string              { return s.err.String() }

func (s *fakeExec) Close() error {
	_ = s.in.Close()
	return s.out.Close()
}

// DialExec starts the Exec hook on one end of a pipe and returns the other.
func (f *Fake) DialExec(ctx context.Context, id core.ContainerID, user string, argv []string) (io.ReadWriteCloser, error) {
	if err := f.enter(ctx, "DialExec"); err != nil {
		return nil, err
	}
	defer f.mu.Unlock()
	b, err := f.box(id)
	if err != nil {
		return nil, err
	}
	if !b.facts.Running {
		return nil, fmt.Errorf("prepare an exec: %w", core.ErrNotRunning)
	}
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	s := &fakeExec{out: outR, in: inW}
	run, cancel := context.WithCancel(context.Background())
	done := b.done
	call := FakeExec{ID: id, Spec: b.spec, User: user, Argv: argv}
	gone := make(chan struct{})
	f.wg.Go(func() { // the end of the container ends its execs
		select {
		case <-done:
			_ = inR.Close()
			_ = outW.Close()
		case <-gone:
		}
		cancel()
	})
	f.wg.Go(func() {
		if f.Exec != nil {
			f.Exec(run, call, struct {
				io.Reader
				io.Writer
			}{inR, outW}, &s.err)
		}
		close(gone)
		_ = inR.Close()
		_ = outW.Close()
	})
	return s, nil
}

func (s *fakeSub) push(ev core.ContainerEvent) {
	s.queue = append(s.queue, ev)
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// emit queues an event for every subscriber that it concerns. The caller holds the
// lock.
func (f *Fake) emit(kind string, b *fakeBox) {
	ev := core.ContainerEvent{Kind: kind, ID: b.facts.ID, Labels: b.copyFacts().Labels, At: f.now()}
	if kind == core.ContainerDied {
		ev.ExitCode = b.facts.ExitCode
	}
	for s := range f.subs {
		if f.down == nil && hasLabels(ev.Labels, s.labels) {
			s.push(ev)
		}
	}
}

// Events reports as the real engine does. Events while the fake is down are lost, and a
// resync follows.
func (f *Fake) Events(ctx context.Context, labels map[string]string) <-chan core.ContainerEvent {
	s := &fakeSub{labels: labels, ch: make(chan core.ContainerEvent), wake: make(chan struct{}, 1)}
	f.mu.Lock()
	f.subs[s] = struct{}{}
	if f.down == nil {
		s.push(core.ContainerEvent{Kind: core.ContainerResync, At: f.now()})
	}
	f.mu.Unlock()
	f.wg.Go(func() {
		defer close(s.ch)
		defer func() {
			f.mu.Lock()
			delete(f.subs, s)
			f.mu.Unlock()
		}()
		for {
			f.mu.Lock()
			q := s.queue
			s.queue = nil
			f.mu.Unlock()
			for _, ev := range q {
				if !send(ctx, s.ch, ev) {
					return
				}
			}
			if len(q) > 0 {
				continue
			}
			select {
			case <-s.wake:
			case <-ctx.Done():
				return
			}
		}
	})
	return s.ch
}
