package terminal

import (
	"testing"
	"testing/synctest"

	"loop/backend/core"
)

// TestProgramsAreToldTheColours: the colours are dark until a viewer sends its own. The
// latest of these count, and a program that asked for changes gets a report.
func TestProgramsAreToldTheColours(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f, _ := rig(t, Options{})
		heard := func(want string) {
			t.Helper()
			synctest.Wait()
			f.mu.Lock()
			defer f.mu.Unlock()
			if got := f.input.String(); got != want {
				t.Fatalf("%q, want %q", got, want)
			}
			f.input.Reset()
		}
		white, black := core.Color{255, 255, 255}, core.Color{}
		info := create(t, s, core.TerminalSpec{})
		f.print("\x1b[?2031h\x1b]11;?\a")
		heard("\x1b]11;rgb:1414/1717/1b1b\x1b\\")
		if _, err := s.Attach(t.Context(), info.ID, core.TerminalAttach{}); err != nil {
			t.Fatal(err)
		}
		heard("")
		v, err := s.Attach(t.Context(), info.ID, core.TerminalAttach{Colors: &core.TerminalColors{Background: white}})
		if err != nil {
			t.Fatal(err)
		}
		defer v.Close()
		heard("\x1b[?997;2n")
		if err := s.Colors(t.Context(), info.ID, core.TerminalColors{Foreground: white, Background: black}); err != nil {
			t.Fatal(err)
		}
		heard("\x1b[?997;1n")
		if err := s.Colors(t.Context(), "guess", core.TerminalColors{}); code(err) != core.CodeNotFound {
			t.Fatal(err)
		}
	})
	synctest.Test(t, func(t *testing.T) { // the program asks before anybody views it
		s, f, _ := rig(t, Options{})
		f.print("\x1b]10;?\a")
		create(t, s, core.TerminalSpec{Colors: &core.TerminalColors{Foreground: core.Color{1, 2, 3}}})
		synctest.Wait()
		f.mu.Lock()
		defer f.mu.Unlock()
		if got := f.input.String(); got != "\x1b]10;rgb:0101/0202/0303\x1b\\" {
			t.Fatalf("%q", got)
		}
	})
}
