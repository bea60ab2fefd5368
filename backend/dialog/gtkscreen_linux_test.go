//go:build linux && cgo && desktop

package dialog

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"loop/backend/dialog/dialogtest"
)

// screen is a virtual display without a window manager, with GTK's loop on it.
type screen struct {
	t   *testing.T
	out string // where pictures go
}

func newScreen(t *testing.T) *screen {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	x := exec.Command("Xvfb", "-noreset", "-displayfd", "3", "-screen", "0", "1024x768x24", "-nolisten", "tcp")
	x.ExtraFiles = []*os.File{w}
	if err := x.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	number, err := bufio.NewReader(r).ReadString('\n')
	r.Close()
	if err != nil {
		t.Fatalf("Xvfb: %v", err)
	}
	t.Setenv("DISPLAY", ":"+strings.TrimSpace(number))
	t.Setenv("GDK_BACKEND", "x11")
	t.Setenv("NO_AT_BRIDGE", "1")
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- dialogtest.Run(ready) }()
	select {
	case <-ready:
	case err := <-ended:
		t.Fatal(err)
	}
	t.Cleanup(func() {
		dialogtest.End()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		_ = x.Process.Kill()
		_ = x.Wait()
	})
	return &screen{t: t, out: t.ArtifactDir()}
}

// run runs a program of the X client kind and returns what it wrote.
func (s *screen) run(name string, args ...string) string {
	s.t.Helper()
	out, err := exec.CommandContext(s.t.Context(), name, args...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// window is the one dialog on the screen, when it is there.
func (s *screen) window() string {
	s.t.Helper()
	return strings.Fields(s.run("xdotool", "search", "--sync", "--onlyvisible", "--name", "^"+titleText+"$"))[0]
}

func (s *screen) gone() {
	s.t.Helper()
	s.until("no dialog is on the screen", func() bool {
		out, _ := exec.CommandContext(s.t.Context(), "xdotool", "search", "--onlyvisible", "--name", "^"+titleText+"$").Output()
		return len(out) == 0
	})
}

func (s *screen) until(what string, is func() bool) {
	s.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for begun := time.Now(); !is(); <-tick.C {
		if time.Since(begun) > time.Minute {
			s.t.Fatalf("waited a minute for this: %s", what)
		}
	}
}

func (s *screen) focus(window string) {
	s.t.Helper()
	s.run("xdotool", "windowfocus", "--sync", window)
}

func (s *screen) key(keys ...string) {
	s.t.Helper()
	s.run("xdotool", append([]string{"key", "--clearmodifiers"}, keys...)...)
}

// at is the middle of a button: three of one width at the bottom.
func (s *screen) at(window string, choice Choice) (x, y string) {
	s.t.Helper()
	size := map[string]int{}
	for line := range strings.Lines(s.run("xdotool", "getwindowgeometry", "--shell", window)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		size[name], _ = strconv.Atoi(value)
	}
	place := map[Choice]int{AllowOnce: 1, Deny: 3, Review: 5}[choice]
	return strconv.Itoa(size["WIDTH"] * place / 6), strconv.Itoa(size["HEIGHT"] - 20)
}

func (s *screen) click(window string, choice Choice) {
	s.t.Helper()
	x, y := s.at(window, choice)
	s.run("xdotool", "mousemove", "--window", window, x, y, "click", "1")
}

// close asks the dialog to close, as a window manager does for its cross.
func (s *screen) close(window string) {
	s.t.Helper()
	tool := filepath.Join(s.t.TempDir(), "closewindow")
	s.run("cc", "-o", tool, "../../build/closewindow.c", "-lX11")
	s.run(tool, window)
}

func (s *screen) picture(name string) {
	s.t.Helper()
	s.run("import", "-window", "root", filepath.Join(s.out, name+".png"))
}

// asked is a question on the screen.
type asked struct {
	s      *screen
	answer chan string
	close  context.CancelFunc
}

func (s *screen) ask(a Asker, r Request) *asked {
	s.t.Helper()
	s.run("xdotool", "mousemove", "1", "1") // without a window manager, the pointer gives the keyboard
	ctx, cancel := context.WithCancel(s.t.Context())
	q := &asked{s: s, answer: make(chan string, 1), close: cancel}
	go func() {
		c, err := a.Ask(ctx, r)
		q.answer <- said(c, err)
	}()
	return q
}

func said(c Choice, err error) string {
	if errors.Is(err, context.Canceled) {
		return fmt.Sprintf("%s, closed", []string{denyText, allowText, reviewText}[c])
	}
	if err != nil {
		return err.Error()
	}
	return []string{denyText, allowText, reviewText}[c]
}

func (q *asked) expect(want string) {
	q.s.t.Helper()
	select {
	case got := <-q.answer:
		if got != want {
			q.s.t.Errorf("answer %q, want %q", got, want)
		}
	case <-time.After(time.Minute):
		q.s.t.Fatalf("no answer, want %q", want)
	}
	q.close()
	q.s.gone()
}

// clicked clicks until there is an answer.
func (q *asked) clicked(window string, choice Choice) string {
	q.s.t.Helper()
	x, y := q.s.at(window, choice)
	for {
		// The window may have gone with the click before, so errors say nothing.
		_ = exec.CommandContext(q.s.t.Context(), "xdotool", "mousemove", "--window", window, x, y, "click", "1").Run()
		select {
		case got := <-q.answer:
			q.close()
			return got
		case <-time.After(30 * time.Millisecond):
		}
	}
}
