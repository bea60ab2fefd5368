package terminal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"loop/backend/core"
)

// told are the sizes that a program was told, in order.
func (f *program) told() (out []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range f.sizes {
		out = append(out, fmt.Sprintf("%dx%d", m.cols, m.rows))
	}
	return out
}

// TestSizeWhileAway: a size that was asked for while the program could not be
// reached is told when it can be, and asking is no mistake.
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

// restored is a service that takes up one session, whose program is given.
func restored(t *testing.T, k *keeper, resume func(Saved) (Program, int64, error)) (*Service, core.TerminalID) {
	t.Helper()
	id := core.TerminalID(core.NewID())
	k.rows[id] = Saved{Info: core.TerminalInfo{ID: id, ChannelID: "c1", ContainerID: "box", Target: core.TargetAgent, Cols: 90, Rows: 20}}
	s, _, _ := rig(t, Options{Keeper: k, Programs: &programs{resume: resume}})
	if err := s.Restore(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s, id
}

// TestRestoreTellsTheSize: the app may have died after it told the program a
// size and before that was kept.
func TestRestoreTellsTheSize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newProgram()
		restored(t, &keeper{rows: map[core.TerminalID]Saved{}}, func(Saved) (Program, int64, error) { return f, 0, nil })
		synctest.Wait()
		if got := f.told(); len(got) != 1 || got[0] != "90x20" {
			t.Fatalf("told %v", got)
		}
	})
}

// TestQueryRightAfterOldOnes: what was printed before the app came back was
// answered then or is too late; the next byte is not.
func TestQueryRightAfterOldOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newProgram()
		f.print("old \x1b[6n")
		restored(t, &keeper{rows: map[core.TerminalID]Saved{}}, func(Saved) (Program, int64, error) {
			end := f.size
			f.print("\x1b[5n") // read in one piece with the old
			return f, end, nil
		})
		<-time.After(time.Second)
		f.mu.Lock()
		defer f.mu.Unlock()
		if got := f.input.String(); got != "\x1b[0n" {
			t.Fatalf("answered %q", got)
		}
	})
}

// TestRestoredMarks: the commands of an earlier launch are there for who attaches,
// and what the shell does is what it last said.
func TestRestoredMarks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &keeper{rows: map[core.TerminalID]Saved{}}
		id := core.TerminalID(core.NewID())
		screen := []byte("\x1b]133;A\x1b\\$ make\r\n\x1b]633;E;make\x1b\\\x1b]133;C\x1b\\done\r\n\x1b]133;D;1\x1b\\\x1b]133;A\x1b\\$ ")
		k.rows[id] = Saved{
			Info:   core.TerminalInfo{ID: id, ChannelID: "c1", ContainerID: "box", Cols: 90, Rows: 20, Shell: core.ShellRunning, Command: "vim"},
			Screen: screen, Offset: 100,
		}
		s, _, _ := rig(t, Options{Keeper: k, Programs: &programs{resume: func(Saved) (Program, int64, error) { return nil, 0, errDown }}})
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

// countingKeeper counts snapshots.
type countingKeeper struct {
	*keeper
	screens atomic.Int64
}

func (k *countingKeeper) SaveScreen(ctx context.Context, id core.TerminalID, screen []byte, off int64, cols, rows uint16) error {
	k.screens.Add(1)
	return k.keeper.SaveScreen(ctx, id, screen, off, cols, rows)
}

// TestSpinnerInTheTitle: a title that changes all the time has the screen kept as
// seldom as other output has.
func TestSpinnerInTheTitle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &countingKeeper{keeper: &keeper{rows: map[core.TerminalID]Saved{}}}
		g := NewGuest((&guestBox{}).ports(false), core.Container{ID: "c"}, "t", nil, 0, "")
		s, _, _ := rig(t, Options{Keeper: k, Programs: &programs{next: func(Start) (Program, error) { return g, nil }}})
		info := create(t, s, core.TerminalSpec{})
		tt, err := s.session(info.ID)
		if err != nil {
			t.Fatal(err)
		}
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

// TestOneSnapshotIsEnough: while it is made, the viewer that it is for counts as
// nobody who is behind.
func TestOneSnapshotIsEnough(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f, _ := rig(t, Options{})
		info := create(t, s, core.TerminalSpec{})
		v := attach(t, s, info.ID, true)
		next(t, v)
		f.change(func() { f.make, f.size = lines, 5<<20 })
		<-time.After(time.Minute) // let go of
		tt, err := s.session(info.ID)
		if err != nil {
			t.Fatal(err)
		}
		tt.screenMu.Lock() // a snapshot takes its time
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

// TestSizesOfAStalledViewerAreBounded: between any two there is output, so that
// each is a mark of its own.
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

// againProgram is one that is started again when it is gone.
type againProgram struct {
	*program
	launches int
	line     string
}

func (p *againProgram) Relaunch(context.Context, int64) error {
	p.change(func() { p.gone = nil; p.launches++; p.line = "claude --continue" })
	return nil
}

func (p *againProgram) Typed() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.line
	p.line = ""
	return l
}

// TestTypedAtTheNewPrompt: after a restart the agent's command waits for the new
// shell's prompt, whatever the old one said of its own.
func TestTypedAtTheNewPrompt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &againProgram{program: newProgram()}
		s, _, _ := rig(t, Options{Programs: &programs{next: func(Start) (Program, error) { return p, nil }}})
		create(t, s, core.TerminalSpec{Cols: 90, Rows: 20})
		p.print("\x1b]133;B\a$ \x1b]133;B\a$ ")
		synctest.Wait()
		p.change(func() { p.gone = core.ErrNotFound })
		p.print("") // wakes the reader, which finds it gone
		<-time.After(promptQuiet / 2)
		synctest.Wait()
		typed := func() string {
			p.mu.Lock()
			defer p.mu.Unlock()
			return p.input.String()
		}
		if p.launches != 1 || typed() != "" {
			t.Fatalf("%d launches, typed %q before the prompt", p.launches, typed())
		}
		if got := p.told(); len(got) != 1 || got[0] != "90x20" {
			t.Fatalf("the new program was told %v", got)
		}
		p.print("\x1b]133;B\a$ ")
		synctest.Wait()
		if typed() != "claude --continue\r" {
			t.Fatalf("typed %q", typed())
		}
	})
}

// TestRelaunchIsKeptFirst: whenever the app dies, the next one knows at which
// offset the new program began.
func TestRelaunchIsKeptFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &keeper{rows: map[core.TerminalID]Saved{}}
		id := core.TerminalID(core.NewID())
		k.rows[id] = Saved{Info: core.TerminalInfo{ID: id, ChannelID: "c1", ContainerID: "box", Cols: 90, Rows: 20}, Screen: []byte("x"), Offset: 50}
		kept := int64(-1)
		b := &guestBox{running: true}
		ports := b.ports(true)
		ports.Again = func(context.Context, core.Link) (string, error) {
			kept = k.row(id).Shift
			b.program = true
			return "", nil
		}
		s, _, _ := rig(t, Options{Keeper: k, Programs: &programs{resume: func(Saved) (Program, int64, error) {
			return NewGuest(ports, core.Container{ID: "box"}, core.SpawnID(id), nil, 0, ""), 50, nil
		}}})
		if err := s.Restore(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if kept != 50 {
			t.Fatalf("kept %d when the program started, want 50", kept)
		}
	})
}

// flakyProgram cannot say at first how it ended.
type flakyProgram struct {
	*program
	tries int
}

func (p *flakyProgram) Wait(ctx context.Context) (core.TerminalExit, error) {
	if p.tries++; p.tries < 3 {
		return core.TerminalExit{}, errDown
	}
	return p.program.Wait(ctx)
}

func TestEndOverALinkThatBreaks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &flakyProgram{program: newProgram()}
		s, _, _ := rig(t, Options{Programs: &programs{next: func(Start) (Program, error) { return p, nil }}})
		info := create(t, s, core.TerminalSpec{})
		p.exit()
		<-time.After(time.Second)
		if i := s.List("")[0]; i.ID != info.ID || i.Exit == nil || i.Exit.Code != 7 || i.Exit.Reason != "" {
			t.Fatalf("%+v", i)
		}
	})
}

// stuckBoxes cannot remove anything.
type stuckBoxes struct{ *boxes }

func (stuckBoxes) Remove(context.Context, core.ContainerID) error {
	return errors.New("the engine does not answer")
}

// TestKillThatFails leaves the sessions as they were: what ends one later says why.
func TestKillThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f, b := rig(t, Options{})
		s.o.Containers = stuckBoxes{b}
		create(t, s, core.TerminalSpec{})
		if err := s.Kill(t.Context(), "c1"); err == nil {
			t.Fatal("no error")
		}
		f.change(func() { f.gone = core.ErrNotFound })
		synctest.Wait()
		if i := s.List("")[0]; i.Exit == nil || i.Exit.Reason == "" {
			t.Fatalf("%+v", i)
		}
	})
}

// TestMissedInTheMiddle: the note about bytes that are gone is seen although what
// is gone began within a sequence.
func TestMissedInTheMiddle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f, _ := rig(t, Options{})
		info := create(t, s, core.TerminalSpec{})
		f.print("\x1b]2;half a title")
		synctest.Wait()
		f.change(func() {
			f.down = errDown
			f.out = append(f.out, make([]byte, 5000)...)
			f.size, f.base = int64(len(f.out)), int64(len(f.out))
		})
		<-time.After(time.Second)
		f.change(func() { f.down = nil })
		<-time.After(10 * time.Second)
		if g := next(t, attach(t, s, info.ID, false)); !bytes.Contains(g.Data, []byte("are gone")) || s.List("")[0].Title == "half a title" {
			t.Fatalf("%q %q", g.Data, s.List("")[0].Title)
		}
	})
}
