package terminal

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"loop/backend/core"
)

// TestWhatAShellDoes: the marks show whether the shell waits or runs a command, and
// which one.
func TestWhatAShellDoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f, _ := rig(t, Options{})
		info := create(t, s, core.TerminalSpec{Plain: true})
		if !info.Plain || info.Shell != core.ShellUnknown {
			t.Fatalf("%+v", info)
		}
		for _, c := range []struct {
			print   string
			state   core.ShellState
			command string
		}{
			{"\x1b]133;A\x07$ \x1b]133;B\x07", core.ShellPrompt, ""},
			{"\x1b]633;E;make test\x07", core.ShellPrompt, ""},
			{"\x1b]133;C\x07running", core.ShellRunning, "make test"},
			{"\x1b]133;D;0\x07", core.ShellPrompt, ""},
			{"\x1b]633;E;x\\x1b[31m\u202ey\x07\x1b]133;C\x07", core.ShellRunning, "x[31my"},
			{"\x1b]133;D\x07\x1b]133;C\x07", core.ShellRunning, ""}, // history did not store the line
		} {
			f.print(c.print)
			<-time.After(time.Second) // the session collects output for a moment
			if i := s.List("")[0]; i.Shell != c.state || i.Command != c.command {
				t.Errorf("after %q: %q, %q", c.print, i.Shell, i.Command)
			}
		}
	})
}

// TestTitlesOfWhatRuns: the title is the command in front, or the one that it sets
// itself. Both go when the command is over.
func TestTitlesOfWhatRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f, _ := rig(t, Options{})
		info := create(t, s, core.TerminalSpec{Plain: true})
		for _, c := range []struct{ print, want string }{
			{"\x1b]133;A\x07$ ", "Shell"},
			{"\x1b]0;ana: ~\x07", "ana: ~"},
			{"\x1b]633;E;vim notes\x07\x1b]133;C\x07", "vim notes"},
			{"\x1b]2;notes (~) - VIM\x07", "notes (~) - VIM"},
			{"\x1b]133;D;0\x07\x1b]133;A\x07$ ", "ana: ~"}, // a killed program leaves its title behind
			{"\x1b]633;E;make\x07\x1b]133;C\x07", "make"},
		} {
			f.print(c.print)
			<-time.After(time.Second)
			if i := s.List("")[0]; i.Title != c.want {
				t.Errorf("after %q: %q, want %q", c.print, i.Title, c.want)
			}
		}
		if i, err := s.Rename(t.Context(), info.ID, "mine"); err != nil || i.Title != "mine" {
			t.Errorf("%+v, %v", i, err)
		}
		if i, err := s.Rename(t.Context(), info.ID, ""); err != nil || i.Title != "make" {
			t.Errorf("%+v, %v", i, err)
		}
	})
}

// TestLeakedReportsDoNotComeBack: a killed program leaves mouse and focus reports
// switched on. A viewer that attaches at the next prompt does not switch them on.
func TestLeakedReportsDoNotComeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f, _ := rig(t, Options{})
		info := create(t, s, core.TerminalSpec{})
		f.print("\x1b]133;C\x07\x1b[?1002h\x1b[?1006h\x1b[?1004h\x1b[?2004h")
		<-time.After(time.Second)
		during := next(t, attach(t, s, info.ID, false)).Data
		f.print("\x1b]133;D;137\x07\x1b]133;A\x07$ ")
		<-time.After(time.Second)
		after := next(t, attach(t, s, info.ID, false)).Data
		for _, mode := range []string{"\x1b[?1002h", "\x1b[?1006h", "\x1b[?1004h"} {
			if !bytes.Contains(during, []byte(mode)) || bytes.Contains(after, []byte(mode)) {
				t.Errorf("%q: while it runs %t, at the prompt %t", mode, bytes.Contains(during, []byte(mode)), bytes.Contains(after, []byte(mode)))
			}
		}
		if !bytes.Contains(after, []byte("\x1b[?2004h")) {
			t.Error("bracketed paste is the shell's own")
		}
	})
}

// TestClearIsForEverybody: all viewers are drawn again without the scrollback, later
// viewers too. The stream goes on.
func TestClearIsForEverybody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f, _ := rig(t, Options{})
		info := create(t, s, core.TerminalSpec{})
		v, w := attach(t, s, info.ID, true), attach(t, s, info.ID, false)
		next(t, v)
		next(t, w)
		f.print(strings.Repeat("secret\r\n", 100) + "$ ")
		<-time.After(time.Second)
		next(t, v)
		next(t, w)
		if err := s.Clear(t.Context(), info.ID); err != nil {
			t.Fatal(err)
		}
		for _, v := range []core.TerminalViewer{v, w, attach(t, s, info.ID, false)} {
			fr := next(t, v)
			if fr.Kind != core.FrameSnapshot || bytes.Contains(fr.Data, []byte("secret")) || !bytes.Contains(fr.Data, []byte("$")) {
				t.Errorf("%v %q", fr.Kind, fr.Data)
			}
		}
		f.print("more")
		if fr := next(t, w); string(fr.Data) != "more" {
			t.Errorf("%q", fr.Data)
		}
		if err := s.Clear(t.Context(), "guess"); code(err) != core.CodeNotFound {
			t.Errorf("a guessed id: %v", err)
		}
	})
}
