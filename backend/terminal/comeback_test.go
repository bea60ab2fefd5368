package terminal

import (
	"bytes"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"loop/backend/core"
)

// told lists the sizes that the program got, in order.
func (f *program) told() (out []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range f.sizes {
		out = append(out, fmt.Sprintf("%dx%d", m.cols, m.rows))
	}
	return out
}

// TestSizeWhileAway: a size is set while the program cannot be reached. That is no
// error, and the program gets the size when it can.
func TestSizeWhileAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f, _ := rig(t, Options{})
		info := create(t, s, core.TerminalSpec{Cols: 80, Rows: 24})
		synctest.Wait()
		f.change(func() { f.down = errDown })
		<-time.After(time.Second)
		for _, cols := range []uint16{90, 100} {
			if err := s.Resize(t.Context(), info.ID, cols, 30); err != nil {
				t.Fatal(err)
			}
		}
		if got := f.told(); len(got) != 0 {
			t.Fatalf("told while away: %v", got)
		}
		f.change(func() { f.down = nil })
		<-time.After(10 * time.Second)
		if got := f.told(); len(got) != 1 || got[0] != "100x30" {
			t.Fatalf("told %v", got)
		}
	})
}

// restored is a service that takes up one session with the program that resume returns.
func restored(t *testing.T, k *keeper, resume func(Saved, func(int64)) Program) (*Service, core.TerminalID) {
	t.Helper()
	id := core.TerminalID(core.NewID())
	k.rows[id] = Saved{Info: core.TerminalInfo{ID: id, ChannelID: "c1", ContainerID: "box", Target: core.TargetAgent, Cols: 90, Rows: 20}}
	s, _, _ := rig(t, Options{Keeper: k, Programs: &programs{resume: resume}})
	if err := s.Restore(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s, id
}

// TestRestoreTellsTheSize: the app may have died after it gave the program a size and
// before it stored that.
func TestRestoreTellsTheSize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newProgram()
		restored(t, &keeper{rows: map[core.TerminalID]Saved{}}, func(Saved, func(int64)) Program { return f })
		synctest.Wait()
		if got := f.told(); len(got) != 1 || got[0] != "90x20" {
			t.Fatalf("told %v", got)
		}
	})
}

// TestQueryRightAfterOldOnes: queries from before the app came back have been answered,
// or it is too late. A query in the next byte is answered.
func TestQueryRightAfterOldOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newProgram()
		f.print("old \x1b[6n")
		restored(t, &keeper{rows: map[core.TerminalID]Saved{}}, func(_ Saved, found func(int64)) Program {
			found(f.size)
			f.print("\x1b[5n") // one read returns it together with the old output
			return f
		})
		<-time.After(time.Second)
		f.mu.Lock()
		defer f.mu.Unlock()
		if got := f.input.String(); got != "\x1b[0n" {
			t.Fatalf("answered %q", got)
		}
	})
}

// TestRestoredMarks: a new viewer gets the commands of an earlier launch. The state of
// the shell is the last stored one.
func TestRestoredMarks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &keeper{rows: map[core.TerminalID]Saved{}}
		id := core.TerminalID(core.NewID())
		screen := []byte("\x1b]133;A\x1b\\$ make\r\n\x1b]633;E;make\x1b\\\x1b]133;C\x1b\\done\r\n\x1b]133;D;1\x1b\\\x1b]133;A\x1b\\$ ")
		k.rows[id] = Saved{
			Info:   core.TerminalInfo{ID: id, ChannelID: "c1", ContainerID: "box", Cols: 90, Rows: 20, Shell: core.ShellRunning, Command: "vim"},
			Screen: screen, Offset: 100,
		}
		s, _, _ := rig(t, Options{Keeper: k, Programs: &programs{resume: func(Saved, func(int64)) Program {
			p := newProgram()
			p.down = errDown
			return p
		}}})
		if err := s.Restore(t.Context()); err != nil {
			t.Fatal(err)
		}
		if i := s.List("")[0]; i.Shell != core.ShellRunning || i.Command != "vim" {
			t.Errorf("%q %q", i.Shell, i.Command)
		}
		g := next(t, attach(t, s, id, false))
		for _, want := range []string{"\x1b]133;A\x1b\\$ make", "\x1b]633;E;make\x1b\\\x1b]133;C\x1b\\done", "\x1b]133;D;1\x1b\\\x1b]133;A\x1b\\$ "} {
			if !bytes.Contains(g.Data, []byte(want)) {
				t.Errorf("no %q in %q", want, g.Data)
			}
		}
	})
}

// countingKeeper counts the screens that are kept.
type countingKeeper struct {
	*keeper
	screens atomic.Int64
}

func (k *countingKeeper) SaveTerminal(s Saved) error {
	k.screens.Add(1)
	return k.keeper.SaveTerminal(s)
}

// TestSpinnerInTheTitle: when a title changes all the time, the screen is kept no more
// often than for other output.
func TestSpinnerInTheTitle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &countingKeeper{keeper: &keeper{rows: map[core.TerminalID]Saved{}}}
		g := NewGuest(&guestBox{}, "t", nil, "")
		s, _, _ := rig(t, Options{Keeper: k, Programs: &programs{next: func(Start) (Program, error) { return g, nil }}})
		info := create(t, s, core.TerminalSpec{})
		tt, err := s.session(info.ID)
		if err != nil {
			t.Fatal(err)
		}
		k.screens.Store(0) // a new session is kept at once
		for i := range 100 {
			tt.append(fmt.Appendf(nil, "\x1b]2;%d\a.", i))
			<-time.After(100 * time.Millisecond)
		}
		<-time.After(2 * time.Second)
		if n := k.screens.Load(); n < 2 || n > 5 {
			t.Fatalf("kept %d times in ten seconds", n)
		}
		if sv := k.row(info.ID); sv.Offset != tt.screenOffset() {
			t.Fatalf("kept up to %d of %d", sv.Offset, tt.screenOffset())
		}
	})
}

// TestSizeIsKept: a size that changes is kept although the program says nothing to it.
func TestSizeIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &keeper{rows: map[core.TerminalID]Saved{}}
		s, _, _ := rig(t, Options{Keeper: k, Programs: &programs{next: func(Start) (Program, error) { return NewGuest(&guestBox{}, "t", nil, ""), nil }}})
		info := create(t, s, core.TerminalSpec{Cols: 80, Rows: 24})
		<-time.After(2 * saveEvery)
		if err := s.Resize(t.Context(), info.ID, 70, 20); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if sv := k.row(info.ID); sv.Info.Cols != 70 || sv.Info.Rows != 20 {
			t.Fatalf("kept %dx%d", sv.Info.Cols, sv.Info.Rows)
		}
	})
}

// TestOneSnapshotIsEnough: while a snapshot is made for a viewer, that viewer does not
// count as behind.
func TestOneSnapshotIsEnough(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f, _ := rig(t, Options{})
		info := create(t, s, core.TerminalSpec{})
		v := attach(t, s, info.ID, true)
		next(t, v)
		f.change(func() { f.make, f.size = lines, 2<<20 })
		<-time.After(time.Minute) // meanwhile the service gives the viewer up
		tt, err := s.session(info.ID)
		if err != nil {
			t.Fatal(err)
		}
		tt.screenMu.Lock() // makes the snapshot take long
		got := make(chan core.TerminalFrame)
		go func() {
			f, _ := v.Next(t.Context())
			got <- f
		}()
		for lost := true; lost; runtime.Gosched() {
			tt.mu.Lock()
			for v := range tt.viewers {
				lost = v.lost || v.snap
			}
			tt.mu.Unlock()
		}
		tt.hold(time.Now())
		tt.screenMu.Unlock()
		if f := <-got; f.Kind != core.FrameSnapshot {
			t.Fatalf("%v", f.Kind)
		}
		v.Ack(1 << 40)
		f.change(func() { f.size += 100 })
		synctest.Wait()
		if f := next(t, v); f.Kind != core.FrameOutput {
			t.Fatalf("a second snapshot, or %v", f.Kind)
		}
	})
}

// TestSizesOfAStalledViewerAreBounded: there is output between any two sizes, so each
// size is a mark of its own.
func TestSizesOfAStalledViewerAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f, _ := rig(t, Options{})
		info := create(t, s, core.TerminalSpec{})
		v := attach(t, s, info.ID, true)
		next(t, v)
		for i := range 3 * maxSizes {
			if err := s.Resize(t.Context(), info.ID, uint16(20+i%100), 5); err != nil {
				t.Fatal(err)
			}
			f.print("x")
			synctest.Wait()
		}
		tt, err := s.session(info.ID)
		if err != nil {
			t.Fatal(err)
		}
		tt.mu.Lock()
		n := len(tt.sizes)
		tt.mu.Unlock()
		if n > maxSizes {
			t.Fatalf("%d sizes are kept", n)
		}
		if g := next(t, v); g.Kind != core.FrameSnapshot || g.Cols != uint16(20+(3*maxSizes-1)%100) {
			t.Fatalf("%v %d", g.Kind, g.Cols)
		}
	})
}
