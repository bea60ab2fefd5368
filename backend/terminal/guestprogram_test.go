package terminal

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"loop/backend/core"
)

// guestLink is a link into one container with at most one program.
type guestLink struct {
	core.Link
	box   *guestBox
	done  chan struct{}
	ended bool
}

// guestBox is the container of a guestLink.
type guestBox struct {
	id       core.SpawnID
	running  bool
	gone     bool
	program  bool // loop init has this program
	out      string
	base     int64
	typed    []string
	killed   int
	forgot   int
	resized  [2]uint16
	links    []*guestLink
	dies     int    // so many kills break the link before they answer
	ends     bool   // the container, with the program that a kill ends
	again    func() // called when the agent's program is started again; nil: the program is not the agent's
	launches int
}

func (b *guestBox) Open(context.Context) (core.Link, error) {
	switch {
	case b.gone:
		return nil, core.ErrNotFound
	case !b.running:
		return nil, core.ErrNotRunning
	}
	l := &guestLink{box: b, done: make(chan struct{})}
	b.links = append(b.links, l)
	return l, nil
}

func (b *guestBox) Again(context.Context, core.Link) (string, error) {
	if b.again == nil {
		return "", core.ErrNotFound
	}
	b.again()
	b.launches++
	b.program, b.out, b.base = true, "", 0
	return "claude --continue", nil
}

type offsetReader struct {
	io.Reader
	at int64
}

func (offsetReader) Close() error    { return nil }
func (r offsetReader) Offset() int64 { return r.at }

func (l *guestLink) Done() <-chan struct{} { return l.done }
func (l *guestLink) Close() error          { l.ended = true; return nil }
func (l *guestLink) known() error {
	select {
	case <-l.done:
		return core.ErrLinkDown
	default:
	}
	if !l.box.program {
		return core.ErrNotFound
	}
	return nil
}
func (l *guestLink) Spawns(context.Context) ([]core.SpawnInfo, error) {
	if !l.box.program {
		return nil, nil
	}
	return []core.SpawnInfo{{ID: l.box.id, OutEnd: l.box.base + int64(len(l.box.out))}}, nil
}
func (l *guestLink) ReadHeld(_ context.Context, _ core.SpawnID, _ string, off int64) (io.ReadCloser, error) {
	if err := l.known(); err != nil {
		return nil, err
	}
	at := max(off, l.box.base)
	return offsetReader{strings.NewReader(l.box.out[at:]), at}, nil
}

type guestInput struct{ l *guestLink }

func (w guestInput) Write(p []byte) (int, error) {
	if err := w.l.known(); err != nil {
		return 0, err
	}
	w.l.box.typed = append(w.l.box.typed, string(p))
	return len(p), nil
}
func (guestInput) Close() error { return nil }

func (l *guestLink) Stdin(context.Context, core.SpawnID) (io.WriteCloser, error) {
	return guestInput{l}, l.known()
}
func (l *guestLink) Resize(_ context.Context, _ core.SpawnID, c, r uint16) error {
	l.box.resized = [2]uint16{c, r}
	return l.known()
}
func (l *guestLink) Kill(context.Context, core.SpawnID) error {
	l.box.killed++
	if l.box.killed <= l.box.dies {
		close(l.done)
		l.box.running = l.box.running && !l.box.ends
	}
	return l.known()
}
func (l *guestLink) Wait(context.Context, core.SpawnID) (core.ExitStatus, error) {
	return core.ExitStatus{Code: 130, Signal: "SIGINT"}, l.known()
}
func (l *guestLink) Forget(context.Context, core.SpawnID) error { l.box.forgot++; return l.known() }

func TestGuestOverALinkThatBreaks(t *testing.T) {
	b := &guestBox{running: true, program: true, out: "0123456789"}
	g := NewGuest(b, "t", nil, "claude")
	read := func(off int64) (string, int64) {
		t.Helper()
		r, at, err := g.Output(t.Context(), off)
		if err != nil {
			t.Fatal(err)
		}
		p, _ := io.ReadAll(r)
		return string(p), at
	}
	if s, at := read(4); s != "456789" || at != 4 {
		t.Fatal(s, at)
	}
	if err := g.Write(t.Context(), []byte("a")); err != nil {
		t.Fatal(err)
	}
	close(b.links[0].done)
	b.base = 7
	if s, at := read(4); s != "789" || at != 7 {
		t.Fatalf("%q at %d", s, at)
	}
	if !b.links[0].ended || len(b.links) != 2 {
		t.Fatal("the broken link was kept")
	}
	if err := g.Write(t.Context(), []byte("b")); err != nil || strings.Join(b.typed, "") != "ab" {
		t.Fatal(err, b.typed)
	}
	if err := g.Resize(t.Context(), 70, 20); err != nil || b.resized != [2]uint16{70, 20} {
		t.Fatal(err, b.resized)
	}
	if e, err := g.Wait(t.Context()); err != nil || e.Code != 130 || e.Signal != "SIGINT" || b.forgot != 0 {
		t.Fatal(e, err, b.forgot)
	}
	if err := g.Forget(t.Context()); err != nil || b.forgot != 1 { // called once the session is closed
		t.Fatal(err, b.forgot)
	}
	if g.Typed() != "claude" || g.Typed() != "" {
		t.Fatal("typed twice, or never")
	}
	if err := g.Close(); err != nil || !b.links[1].ended {
		t.Fatal("the link was kept")
	}
	if _, _, err := g.Output(t.Context(), 0); !errors.Is(err, core.ErrNotFound) {
		t.Fatal(err)
	}
}

// TestGuestThatEndsItsContainer: the link breaks in the middle of an end. The container went
// with its last program, or it is reached once more.
func TestGuestThatEndsItsContainer(t *testing.T) {
	for name, c := range map[string]struct {
		box    guestBox
		fails  bool
		killed int
	}{
		"went with it":  {guestBox{dies: 1, ends: true}, false, 1},
		"is there":      {guestBox{dies: 2}, false, 3},
		"never answers": {guestBox{dies: 100}, true, 1 + endTries},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c.box.id, c.box.running, c.box.program = "s", true, true
				link, err := c.box.Open(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				g := NewGuest(&c.box, "s", link, "")
				if err := g.End(t.Context()); (err != nil) != c.fails || c.box.killed != c.killed {
					t.Errorf("%v after %d kills", err, c.box.killed)
				}
			})
		})
	}
}

// TestGuestInARestart: a container that stops running for a while is away, not gone. An
// agent's shell is started again in it, another program is not.
func TestGuestInARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, again := range []bool{true, false} {
			b := &guestBox{running: true, program: true, out: "before"}
			if again {
				b.again = func() {}
			}
			g := NewGuest(b, "t", nil, "")
			if _, _, err := g.Output(t.Context(), 6); err != nil {
				t.Fatal(err)
			}
			close(b.links[0].done)
			b.running, b.program = false, false
			if _, _, err := g.Output(t.Context(), 6); errors.Is(err, core.ErrNotFound) || err == nil {
				t.Fatalf("while it restarts: %v", err)
			}
			<-time.After(5 * time.Second)
			b.running = true
			if _, _, err := g.Output(t.Context(), 6); !errors.Is(err, core.ErrNotFound) {
				t.Fatalf("after the restart: %v", err)
			}
			err := g.Relaunch(t.Context(), 6)
			if !again {
				if !errors.Is(err, core.ErrNotFound) {
					t.Fatal(err)
				}
				continue
			}
			if err != nil || b.launches != 1 || g.Typed() != "claude --continue" {
				t.Fatal(err, b.launches)
			}
			b.out = "after"
			r, at, err := g.Output(t.Context(), 6)
			if err != nil || at != 6 {
				t.Fatal(at, err)
			}
			if p, _ := io.ReadAll(r); string(p) != "after" {
				t.Fatalf("%q", p)
			}

			close(b.links[1].done)
			b.running = false
			if _, _, err := g.Output(t.Context(), 6); errors.Is(err, core.ErrNotFound) {
				t.Fatal("gone at once")
			}
			<-time.After(restartTime)
			if _, _, err := g.Output(t.Context(), 6); !errors.Is(err, core.ErrNotFound) {
				t.Fatalf("stopped for good: %v", err)
			}
			if err := g.End(t.Context()); err != nil {
				t.Fatalf("end of what is gone: %v", err)
			}
			b.gone = true
			if _, _, err := g.Output(t.Context(), 6); !errors.Is(err, core.ErrNotFound) {
				t.Fatalf("removed: %v", err)
			}
		}
	})
}

// TestGuestOfAnEarlierLaunch: the length of its output is reported once. When its
// container does not run, the program ended while Loop was away.
func TestGuestOfAnEarlierLaunch(t *testing.T) {
	saved := Saved{Info: core.TerminalInfo{ID: "t"}, Shift: 100}
	b := &guestBox{id: "t", running: true, program: true, out: "0123456789"}
	var ends []int64
	g := ResumeGuest(b, saved, func(end int64) { ends = append(ends, end) })
	for range 2 {
		r, at, err := g.Output(t.Context(), 104)
		if err != nil || at != 104 {
			t.Fatal(at, err)
		}
		if p, _ := io.ReadAll(r); string(p) != "456789" {
			t.Fatalf("%q", p)
		}
		close(b.links[len(b.links)-1].done)
	}
	if len(ends) != 1 || ends[0] != 110 {
		t.Errorf("said %v", ends)
	}
	stopped := ResumeGuest(&guestBox{}, saved, func(int64) { t.Error("found") })
	if _, _, err := stopped.Output(t.Context(), 104); !errors.Is(err, core.ErrNotFound) {
		t.Error(err)
	}
}
