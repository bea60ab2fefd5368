package terminal

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"loop/backend/core"
)

func code(err error) core.Code {
	if err == nil {
		return ""
	}
	return core.AsFailure(err).Code
}

func TestBadSpecs(t *testing.T) {
	s, _, _ := rig(t, Options{})
	many := make([]string, core.MaxTerminalArgs+1)
	for i := range many {
		many[i] = "x"
	}
	for name, spec := range map[string]core.TerminalSpec{
		"65 arguments":   {ChannelID: "c", Cmd: many},
		"empty argument": {ChannelID: "c", Cmd: []string{"ls", ""}},
		"zero byte":      {ChannelID: "c", Cmd: []string{"a\x00b"}},
		"target":         {ChannelID: "c", Target: "moon"},
		"open mode":      {ChannelID: "c", OpenMode: "again"},
		"no channel":     {},
	} {
		if _, err := s.Create(t.Context(), spec); code(err) != core.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := s.Create(t.Context(), core.TerminalSpec{ContainerID: "none"}); code(err) != core.CodeNotFound {
		t.Errorf("unknown container: %v", err)
	}
	for _, err := range []error{
		s.Input(t.Context(), "guess", []byte("x")), s.Resize(t.Context(), "guess", 1, 1), s.CloseSession(t.Context(), "guess"), s.Stop(t.Context(), "guess"),
	} {
		if code(err) != core.CodeNotFound {
			t.Errorf("a guessed id: %v", err)
		}
	}
	if err := s.Kill(t.Context(), "nobody"); err != nil {
		t.Errorf("kill without a container: %v", err)
	}
	if got := s.List(""); len(got) != 0 {
		t.Errorf("%d sessions", len(got))
	}
}

// TestOneShellPerChannel: panes that open at the same time share one container.
func TestOneShellPerChannel(t *testing.T) {
	s, _, b := rig(t, Options{Programs: &programs{next: func(Start) (Program, error) { return newProgram(), nil }}})
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			if _, err := s.Create(t.Context(), core.TerminalSpec{ChannelID: "c1"}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if b.made != 1 || len(s.List("c1")) != 16 || len(s.List("c2")) != 0 {
		t.Fatalf("%d containers, %d sessions", b.made, len(s.List("c1")))
	}
	if err := s.Kill(t.Context(), "c1"); err != nil {
		t.Fatal(err)
	}
	if len(s.List("")) != 0 || len(b.removed) != 1 {
		t.Fatalf("%d sessions after kill, removed %v", len(s.List("")), b.removed)
	}
}

// TestOneSideOfASize: a request may set only the rows or only the columns.
func TestOneSideOfASize(t *testing.T) {
	s, _, _ := rig(t, Options{Programs: &programs{next: func(Start) (Program, error) { return newProgram(), nil }}})
	for _, tc := range []struct{ cols, rows, wantCols, wantRows uint16 }{{0, 50, 80, 50}, {120, 0, 120, 24}, {0, 0, 80, 24}, {1, 1, core.MinTerminalCols, 1}} {
		if i := create(t, s, core.TerminalSpec{Cols: tc.cols, Rows: tc.rows}); i.Cols != tc.wantCols || i.Rows != tc.wantRows {
			t.Errorf("%+v: %dx%d", tc, i.Cols, i.Rows)
		}
	}
}

// TestNoAgentInAForeignContainer: nothing is typed into a shell that the engine runs,
// and its title is not Claude.
func TestNoAgentInAForeignContainer(t *testing.T) {
	s, _, _ := rig(t, Options{})
	if i := create(t, s, core.TerminalSpec{}); i.Title != "Shell" || !i.Plain {
		t.Errorf("%+v", i)
	}
}

// TestClosedByAnother: viewers get a reason when another client closes their session.
func TestClosedByAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, end := range []func(*Service, core.TerminalInfo) error{
			func(s *Service, i core.TerminalInfo) error { return s.CloseSession(t.Context(), i.ID) },
			func(s *Service, i core.TerminalInfo) error { return s.Kill(t.Context(), i.ChannelID) },
		} {
			s, _, _ := rig(t, Options{})
			info := create(t, s, core.TerminalSpec{})
			v := attach(t, s, info.ID, false)
			next(t, v)
			done := make(chan error, 1)
			go func() { done <- end(s, info) }()
			if f := next(t, v); f.Kind != core.FrameEnded || f.Exit.Reason != "The terminal was closed." {
				t.Errorf("%+v", f.Exit)
			}
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	})
}

// TestEnding: viewers get the program's last output, and then its exit.
func TestEnding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f, b := rig(t, Options{})
		info := create(t, s, core.TerminalSpec{Cmd: []string{"/usr/bin/make"}})
		if info.Title != "make" || info.Target != core.TargetAgent || info.ContainerID != "box-c1" {
			t.Fatalf("%+v", info)
		}
		v := attach(t, s, info.ID, false)
		next(t, v)
		f.print("bye")
		f.exit()
		if f := next(t, v); string(f.Data) != "bye" {
			t.Fatalf("%+v", f)
		}
		if f := next(t, v); f.Kind != core.FrameEnded || f.Exit.Code != 7 {
			t.Fatalf("%+v", f)
		}
		if _, err := v.Next(t.Context()); !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		if i := s.List("")[0]; i.State != core.TerminalEnded || i.Exit.Code != 7 {
			t.Fatalf("%+v", i)
		}
		if err := s.Input(t.Context(), info.ID, []byte("x")); code(err) != core.CodeConflict {
			t.Fatalf("input after the end: %v", err)
		}
		// A late viewer still sees the end. Closing the session forgets it, but the
		// container stays.
		synctest.Wait()
		late := attach(t, s, info.ID, false)
		next(t, late)
		if f := next(t, late); f.Kind != core.FrameEnded {
			t.Fatalf("%+v", f)
		}
		if err := s.CloseSession(t.Context(), info.ID); err != nil {
			t.Fatal(err)
		}
		if len(s.List("")) != 0 || len(b.removed) != 0 || !f.closed {
			t.Fatal("not forgotten, or too much")
		}
	})
}

func TestStopRemovesTheContainer(t *testing.T) {
	s, _, b := rig(t, Options{})
	info := create(t, s, core.TerminalSpec{})
	if err := s.Stop(t.Context(), info.ID); err != nil {
		t.Fatal(err)
	}
	if len(b.removed) != 1 || b.removed[0] != info.ContainerID {
		t.Fatalf("removed %v", b.removed)
	}
	host := create(t, s, core.TerminalSpec{Target: core.TargetHost})
	if err := s.Stop(t.Context(), host.ID); err != nil || len(b.removed) != 1 {
		t.Fatalf("host: %v, removed %v", err, b.removed)
	}
}

// TestTreeThatStays: a session is kept when its programs could not be ended.
func TestTreeThatStays(t *testing.T) {
	s, f, _ := rig(t, Options{})
	info := create(t, s, core.TerminalSpec{})
	f.endErr = errors.New("still there")
	if err := s.CloseSession(t.Context(), info.ID); err == nil || len(s.List("")) != 1 {
		t.Fatalf("%v, %d sessions", err, len(s.List("")))
	}
	f.endErr = nil
	if err := s.CloseSession(t.Context(), info.ID); err != nil {
		t.Fatal(err)
	}
}

// TestCloseInAPausedContainer: programs in a paused container cannot end, and a close
// fails within seconds. A container that is paused only for a moment, as by Loop
// itself, is waited for.
func TestCloseInAPausedContainer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f, b := rig(t, Options{})
		info := create(t, s, core.TerminalSpec{})
		f.endHeld, b.paused = true, true
		began := time.Now()
		err := s.CloseSession(t.Context(), info.ID)
		if core.AsFailure(err).Code != core.CodeConflict || len(s.List("")) != 1 || time.Since(began) > 3*time.Second {
			t.Fatalf("%v after %v, %d sessions", err, time.Since(began), len(s.List("")))
		}
		time.AfterFunc(pausedTime/2, func() {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.paused = false
		})
		began = time.Now()
		if err := s.CloseSession(t.Context(), info.ID); core.AsFailure(err).Code != core.CodeInternal || time.Since(began) != endTime {
			t.Fatalf("%v after %v", err, time.Since(began))
		}
		if err := s.Stop(t.Context(), info.ID); err != nil || len(b.removed) != 1 {
			t.Fatalf("%v, removed %v", err, b.removed)
		}
	})
}

// TestDeafProgram: input that the program does not read is bounded. More input is
// refused as a whole, and nothing else is held up.
func TestDeafProgram(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f, _ := rig(t, Options{})
		f.deaf = true
		info := create(t, s, core.TerminalSpec{})
		if err := s.Input(t.Context(), info.ID, make([]byte, maxInput+1)); code(err) != core.CodeInvalid {
			t.Fatalf("too much at once: %v", err)
		}
		var err error
		for range 6 {
			if err = s.Input(t.Context(), info.ID, make([]byte, maxInput/2)); err != nil {
				break
			}
		}
		if code(err) != core.CodeConflict || !strings.Contains(err.Error(), "not reading") {
			t.Fatalf("%v", err)
		}
		if err := s.Resize(t.Context(), info.ID, 90, 30); err != nil {
			t.Fatal(err)
		}
		if err := s.CloseSession(t.Context(), info.ID); err != nil {
			t.Fatal(err)
		}
	})
}

// TestLinkBreaks: the session goes on where it was, with every byte exactly once.
func TestLinkBreaks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f, _ := rig(t, Options{})
		info := create(t, s, core.TerminalSpec{})
		v := attach(t, s, info.ID, false)
		next(t, v)
		f.print("one ")
		if f := next(t, v); string(f.Data) != "one " {
			t.Fatalf("%q", f.Data)
		}
		f.change(func() { f.down = errDown })
		<-time.After(time.Second)
		if st := s.List("")[0].State; st != core.TerminalAway {
			t.Fatalf("state %s", st)
		}
		if err := s.Input(t.Context(), info.ID, []byte("x")); code(err) != core.CodeConflict {
			t.Fatalf("input while away: %v", err)
		}
		f.print("two ")
		f.change(func() { f.down = nil })
		if f := next(t, v); string(f.Data) != "two " {
			t.Fatalf("%q", f.Data)
		}
		synctest.Wait()
		if st := s.List("")[0].State; st != core.TerminalRunning {
			t.Fatalf("state %s", st)
		}
		// More was printed than is kept. A note says so.
		f.change(func() { f.down = errDown })
		synctest.Wait()
		f.change(func() {
			f.out = append(f.out, make([]byte, 5000)...)
			f.out = append(f.out, "three"...)
			f.size, f.base = int64(len(f.out)), int64(len(f.out))-5
			f.down = nil
		})
		<-time.After(10 * time.Second)
		g := next(t, v)
		if g.Kind != core.FrameSnapshot || !strings.Contains(string(g.Data), "bytes printed while Loop was away are gone") {
			t.Fatalf("%v %q", g.Kind, g.Data)
		}
		if g.Offset != f.size && string(next(t, v).Data) != "three" {
			t.Fatal("what is left was not shown")
		}
		if !strings.Contains(string(g.Data), "one two ") {
			t.Fatalf("what was there is gone: %q", g.Data)
		}
	})
}

// TestContainerGone ends the session with a reason.
func TestContainerGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f, _ := rig(t, Options{})
		info := create(t, s, core.TerminalSpec{})
		v := attach(t, s, info.ID, false)
		next(t, v)
		f.change(func() { f.gone = core.ErrNotFound })
		if f := next(t, v); f.Kind != core.FrameEnded || f.Exit.Reason == "" {
			t.Fatalf("%+v", f)
		}
	})
}

// TestIdle: a session ends when nobody views it, nothing is printed and nothing is
// typed. Each of the three keeps it.
func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var limit atomic.Int64 // the test changes the setting while the session lives
		s, f, _ := rig(t, Options{IdleTimeout: func() time.Duration { return time.Duration(limit.Load()) }})
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { _ = s.Run(ctx) })
		defer wg.Wait()
		defer cancel()
		info := create(t, s, core.TerminalSpec{})
		alive := func(what string) {
			t.Helper()
			if len(s.List("")) != 1 {
				t.Fatalf("ended in spite of %s", what)
			}
		}
		<-time.After(time.Hour)
		alive("no limit")
		limit.Store(int64(10 * time.Minute))
		f.print("x")
		<-time.After(9 * time.Minute)
		f.print("x")
		<-time.After(9 * time.Minute)
		alive("output")
		if err := s.Input(t.Context(), info.ID, []byte("x")); err != nil {
			t.Fatal(err)
		}
		<-time.After(9 * time.Minute)
		alive("input")
		v := attach(t, s, info.ID, false)
		<-time.After(time.Hour)
		alive("a viewer")
		v.Close()
		<-time.After(9 * time.Minute)
		alive("a viewer that has just gone")
		<-time.After(4 * time.Minute)
		if len(s.List("")) != 0 {
			t.Fatal("still there")
		}
	})
}

// keeper is a Keeper in memory.
type keeper struct {
	mu   sync.Mutex
	rows map[core.TerminalID]Saved
}

func (k *keeper) SaveTerminal(s Saved) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.rows[s.Info.ID] = s
	return nil
}

func (k *keeper) DropTerminal(id core.TerminalID) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.rows, id)
	return nil
}

func (k *keeper) SavedTerminals() ([]Saved, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	var out []Saved
	for _, s := range k.rows {
		out = append(out, s)
	}
	return out, nil
}

func (k *keeper) row(id core.TerminalID) Saved {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.rows[id]
}

// TestRestore: after a restart of the app, the session has its old id. It shows its
// earlier output and the output of the time between, each once. Old queries are not
// answered again.
func TestRestore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &keeper{rows: map[core.TerminalID]Saved{}}
		id := core.TerminalID(core.NewID())
		k.rows[id] = Saved{
			Info:   core.TerminalInfo{ID: id, ChannelID: "c1", ContainerID: "box", Target: core.TargetAgent, Title: "mine", Named: true, Cols: 90, Rows: 20},
			Screen: []byte("seen before\r\n"), Offset: 13,
		}
		f := newProgram()
		f.print("seen before\r\nwhile away \x1b[6n")
		f.down = errDown // the engine does not answer yet
		time.AfterFunc(time.Second, func() { f.change(func() { f.down = nil }) })
		s, _, _ := rig(t, Options{Keeper: k, Programs: &programs{resume: func(_ Saved, found func(int64)) Program {
			found(f.size)
			return f
		}}})
		if err := s.Restore(t.Context()); err != nil {
			t.Fatal(err)
		}
		if l := s.List("c1"); len(l) != 1 || l[0].ID != id || l[0].State != core.TerminalAway || l[0].Title != "mine" {
			t.Fatalf("%+v", l)
		}
		<-time.After(5 * time.Second)
		if l := s.List("c1"); l[0].State != core.TerminalRunning {
			t.Fatalf("%+v", l)
		}
		v := attach(t, s, id, false)
		g := next(t, v)
		if got := string(g.Data); strings.Count(got, "seen before") != 1 || strings.Count(got, "while away") != 1 || g.Cols != 90 {
			t.Fatalf("%d %q", g.Cols, got)
		}
		synctest.Wait()
		if f.input.Len() != 0 {
			t.Fatalf("an old query was answered: %q", f.input.String())
		}
		// Output from now on is answered and kept.
		f.print("live")
		<-time.After(10 * time.Second)
		if sv := k.row(id); sv.Offset != f.size {
			t.Fatalf("kept up to %d of %d", sv.Offset, f.size)
		}
		f.exit()
		if err := s.CloseSession(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		if len(k.rows) != 0 {
			t.Fatal("still kept")
		}
	})
}
