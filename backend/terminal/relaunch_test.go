package terminal

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"loop/backend/core"
)

// againProgram is a program that is started again when it is gone.
type againProgram struct {
	*program
	launches int
	line     string
}

func (p *againProgram) Relaunch(_ context.Context, at int64) error {
	p.print(strings.Repeat(" ", int(at-p.size))) // the new output begins here; these bytes are never read
	p.change(func() { p.gone = nil; p.launches++; p.line = "claude --continue" })
	return nil
}

func (*againProgram) Forget(context.Context) error { return nil }

func (p *againProgram) Typed() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.line
	p.line = ""
	return l
}

// TestTypedAtTheNewPrompt: after a restart the agent's command waits for the new
// shell's prompt, whatever prompts the old shell has shown.
func TestTypedAtTheNewPrompt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &againProgram{program: newProgram()}
		s, _, _ := rig(t, Options{Programs: &programs{next: func(Start) (Program, error) { return p, nil }}})
		create(t, s, core.TerminalSpec{Cols: 90, Rows: 20})
		p.print("\x1b]133;B\a$ \x1b]133;B\a$ ")
		synctest.Wait()
		p.change(func() { p.gone = core.ErrNotFound })
		p.print("") // wakes the reader, which finds the program gone
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

// TestRelaunchIsKeptFirst: the offset at which the new program begins is stored before
// its start. Whenever the app dies, the next launch knows it.
func TestRelaunchIsKeptFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &keeper{rows: map[core.TerminalID]Saved{}}
		id := core.TerminalID(core.NewID())
		k.rows[id] = Saved{Info: core.TerminalInfo{ID: id, ChannelID: "c1", ContainerID: "box", Cols: 90, Rows: 20}, Screen: []byte("x"), Offset: 50}
		kept := int64(-1)
		b := &guestBox{running: true, again: func() { kept = k.row(id).Shift }}
		s, _, _ := rig(t, Options{Keeper: k, Programs: &programs{resume: func(s Saved, found func(int64)) Program {
			return ResumeGuest(b, s, found)
		}}})
		if err := s.Restore(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if want := int64(50 + len(freshScreen)); kept != want {
			t.Fatalf("kept %d when the program started, want %d", kept, want)
		}
	})
}

// flakyProgram cannot report its exit at first.
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

// stuckBoxes cannot remove a container.
type stuckBoxes struct{ *boxes }

func (stuckBoxes) Remove(context.Context, core.ContainerID) error {
	return errors.New("the engine does not answer")
}

// TestKillThatFails leaves the sessions as they were. When a session ends later, it has
// a reason.
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

// TestMissedInTheMiddle: output is lost in the middle of a sequence. The note about the
// lost bytes is shown all the same.
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
