package terminal

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"loop/backend/core"
)

// hostRow is a shell of this computer as an earlier launch kept it.
func hostRow(screen string) Saved {
	return Saved{Info: core.TerminalInfo{
		ID: core.TerminalID(core.NewID()), ChannelID: "c1", Target: core.TargetHost, Cols: 40, Rows: 10, Dir: "/src/shop", Title: "logs", Named: true,
		Shell: core.ShellRunning, State: core.TerminalRunning,
	}, Screen: []byte(screen), Offset: int64(len(screen))}
}

// shown is the text of a viewer's first frames.
func shown(t *testing.T, v core.TerminalViewer) string {
	t.Helper()
	var b strings.Builder
	for !strings.Contains(b.String(), "fresh$") {
		b.Write(next(t, v).Data)
	}
	return b.String()
}

// TestAShellOfThisComputerComesBack: it stands grey above a fresh one, which begins where the
// one before was, and not before somebody looks.
func TestAShellOfThisComputerComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newProgram()
		began := make(chan Start, 10)
		k := &keeper{rows: map[core.TerminalID]Saved{}}
		row := hostRow("\x1b[31mmake test\x1b[0m\r\nall passed\r\n\x1b[?1049hvim\x1b]0;evil\x07")
		k.rows[row.Info.ID] = row
		s, _, _ := rig(t, Options{Keeper: k, Programs: &programs{next: func(st Start) (Program, error) { began <- st; return f, nil }}})
		if err := s.Restore(t.Context()); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Minute)
		list := s.List("c1")
		if len(list) != 1 || list[0].State != core.TerminalRunning || list[0].Title != "logs" || list[0].Shell != "" || len(began) != 0 {
			t.Fatalf("%+v, %d began", list, len(began))
		}
		if st := s.Standing(); st[0].Outlives || !st[0].Idle {
			t.Errorf("%+v", st[0])
		}
		if err := s.Resize(t.Context(), row.Info.ID, 50, 12); err != nil {
			t.Fatal(err)
		}
		v := attach(t, s, row.Info.ID, false)
		f.print("fresh$ ")
		text := shown(t, v)
		if !strings.Contains(text, "\x1b[90m") || !strings.Contains(text, "make test") || !strings.Contains(text, "all passed") || !strings.Contains(text, "fresh shell") ||
			strings.Contains(text, "vim") || strings.Contains(text, "\x1b[31m") {
			t.Errorf("%q", text)
		}
		if st := <-began; st.ID != row.Info.ID || st.Spec.Dir != "/src/shop" || st.Spec.Target != core.TargetHost || len(st.Spec.Cmd) != 0 || st.Spec.Cols != 50 {
			t.Errorf("%+v", st)
		}
		attach(t, s, row.Info.ID, false)
		<-time.After(time.Minute)
		if len(began) != 0 {
			t.Error("it began twice")
		}
		if kept := string(k.row(row.Info.ID).Screen); !strings.Contains(kept, "all passed") || !strings.Contains(kept, "fresh$") {
			t.Errorf("kept %q", kept)
		}
	})
}

// TestWhatIsKeptOfAShellOfThisComputer: it is kept while it runs and when Loop ends, and no more
// once it or the person ended it. A program that the person named is not kept.
func TestWhatIsKeptOfAShellOfThisComputer(t *testing.T) {
	for name, c := range map[string]struct {
		cmd  []string
		do   func(s *Service, f *program, id core.TerminalID) error
		kept bool
	}{
		"Loop ends":      {nil, func(s *Service, _ *program, _ core.TerminalID) error { return s.Close() }, true},
		"it is closed":   {nil, func(s *Service, _ *program, id core.TerminalID) error { return s.CloseSession(t.Context(), id) }, false},
		"it ends itself": {nil, func(_ *Service, f *program, _ core.TerminalID) error { return f.End(t.Context()) }, false},
		"a program":      {[]string{"vim"}, func(s *Service, _ *program, _ core.TerminalID) error { return s.Close() }, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			k := &keeper{rows: map[core.TerminalID]Saved{}}
			s, f, _ := rig(t, Options{Keeper: k})
			info := create(t, s, core.TerminalSpec{Target: core.TargetHost, Cmd: c.cmd})
			f.print("some text\r\n")
			<-time.After(time.Minute)
			if err := c.do(s, f, info.ID); err != nil {
				t.Fatal(err)
			}
			<-time.After(time.Minute)
			row := k.row(info.ID)
			kept := row.Info.ID != ""
			if kept != c.kept || kept && !strings.Contains(string(row.Screen), "some text") {
				t.Errorf("%s: kept %v %q", name, kept, row.Screen)
			}
		})
	}
}

// TestAShellThatCannotComeBack says why, and can be closed without having begun.
func TestAShellThatCannotComeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &keeper{rows: map[core.TerminalID]Saved{}}
		one, two := hostRow("one\r\n"), hostRow("")
		k.rows[one.Info.ID], k.rows[two.Info.ID] = one, two
		why := core.Fail(core.CodeNotFound, errors.New("no such file"), "The shell zsh is not there.", "Install it.")
		s, _, _ := rig(t, Options{Keeper: k, Programs: &programs{next: func(Start) (Program, error) { return nil, why }}})
		if err := s.Restore(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := s.CloseSession(t.Context(), two.Info.ID); err != nil {
			t.Fatal(err)
		}
		attach(t, s, one.Info.ID, false)
		<-time.After(time.Minute)
		list := s.List("")
		if len(list) != 1 || list[0].State != core.TerminalEnded || list[0].Exit == nil || list[0].Exit.Reason != why.Cause {
			t.Errorf("%+v", list)
		}
		if k.row(two.Info.ID).Info.ID != "" {
			t.Error("what was closed is kept")
		}
	})
}
