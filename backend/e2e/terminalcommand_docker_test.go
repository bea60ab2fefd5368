//go:build docker

package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"loop/backend/core"
)

// pane is a terminal emulator that shows one command. It keeps the output and answers
// no queries.
type pane struct {
	t     testing.TB
	file  *os.File // the emulator's end
	tty   *os.File
	cmd   *exec.Cmd
	ended chan error
	runs  int

	mu      sync.Mutex
	out     bytes.Buffer
	changed chan struct{}
}

func newPane(t testing.TB, cols, rows uint16) *pane {
	t.Helper()
	p := newQuietPane(t, cols, rows)
	go p.read()
	return p
}

// newQuietPane is a pane whose output the caller reads.
func newQuietPane(t testing.TB, cols, rows uint16) *pane {
	t.Helper()
	file, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := file.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var n int
	var ioctl error
	if err := raw.Control(func(fd uintptr) {
		if ioctl = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0); ioctl == nil {
			n, ioctl = unix.IoctlGetInt(int(fd), unix.TIOCGPTN)
		}
	}); err != nil || ioctl != nil {
		t.Fatal(err, ioctl)
	}
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	p := &pane{t: t, file: file, tty: tty, ended: make(chan error, 1), changed: make(chan struct{})}
	p.resize(cols, rows)
	t.Cleanup(func() {
		if p.cmd != nil {
			_ = p.cmd.Process.Kill()
		}
		tty.Close()
		file.Close()
	})
	return p
}

func (p *pane) read() {
	buf := make([]byte, 64<<10)
	for {
		n, err := p.file.Read(buf)
		p.mu.Lock()
		p.out.Write(buf[:n])
		close(p.changed)
		p.changed = make(chan struct{})
		p.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (p *pane) resize(cols, rows uint16) {
	p.t.Helper()
	if err := unix.IoctlSetWinsize(int(p.tty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: cols, Row: rows}); err != nil {
		p.t.Fatal(err)
	}
}

func (p *pane) modes() unix.Termios {
	p.t.Helper()
	m, err := unix.IoctlGetTermios(int(p.tty.Fd()), unix.TCGETS)
	if err != nil {
		p.t.Fatal(err)
	}
	return *m
}

// start runs the binary in the pane and forgets earlier output.
func (p *pane) start(h *home, dir string, args ...string) {
	p.t.Helper()
	p.runs++
	mark := fmt.Sprintf("[before run %d]", p.runs)
	if _, err := p.tty.WriteString(mark); err != nil {
		p.t.Fatal(err)
	}
	p.shown(mark)
	p.mu.Lock()
	p.out.Reset()
	p.mu.Unlock()
	p.cmd = exec.CommandContext(p.t.Context(), h.bin, args...)
	p.cmd.Env, p.cmd.Dir = append(h.env, "TERM=xterm-256color"), dir
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = p.tty, p.tty, p.tty
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	go func() { p.ended <- p.cmd.Wait() }()
}

// code waits for the command's end.
func (p *pane) code() int {
	p.t.Helper()
	select {
	case err := <-p.ended:
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			return exit.ExitCode()
		}
		return 0
	case <-time.After(patience):
		p.t.Fatalf("the command does not end; it shows %q", p.text())
	}
	return -1
}

func (p *pane) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.String()
}

func (p *pane) shown(want string) {
	p.t.Helper()
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		p.mu.Lock()
		there, changed := strings.Contains(p.out.String(), want), p.changed
		p.mu.Unlock()
		if there {
			return
		}
		select {
		case <-changed:
		case <-late.C:
			p.t.Fatalf("waited for %q in vain; it shows %q", want, p.text())
		}
	}
}

func (p *pane) typeIn(text string) {
	p.t.Helper()
	if _, err := p.file.WriteString(text); err != nil {
		p.t.Fatal(err)
	}
}

// TestTerminalCommand runs “loop terminal” in a terminal. A session is opened, left,
// taken up in another size and ended. The terminal is then as it was.
func TestTerminalCommand(t *testing.T) {
	h, s, ch, dir := terminalServer(t)
	p := newPane(t, 90, 30)
	was := p.modes()

	p.start(h, dir, "terminal", "--", "/bin/bash")
	p.shown("Leave with")
	p.shown("\x1b[2J")
	p.typeIn("echo rea''dy; stty size\r")
	p.shown("ready")
	p.shown("30 90")
	if p.modes() == was {
		t.Error("keys do not go to the program as they are")
	}
	// Loop answers the query, and this terminal never sees it. Echo is off, because the
	// kernel would print an answer that comes before the shell reads.
	p.typeIn("stty -echo; printf '[\\033[6n]'; IFS= read -rsd R at; stty echo; echo asked${at#?}\r")
	p.shown("[]asked[")
	p.resize(70, 20)
	if err := p.cmd.Process.Signal(syscall.SIGWINCH); err != nil {
		t.Fatal(err)
	}
	p.typeIn("\rwhile [ \"$(stty size)\" != '20 70' ]; do :; done; echo nar''row\r")
	p.shown("narrow")
	p.typeIn("\r~.")
	if code := p.code(); code != 0 {
		t.Errorf("exit %d", code)
	}
	p.shown("The session goes on.")
	if p.modes() != was {
		t.Error("the terminal is not as it was")
	}

	var list []core.TerminalInfo
	poll(t, "Loop to have let it go", func() bool { // the command itself waits only briefly for that
		list = nil
		s.must("Terminals.List", &list, ch)
		return len(list) == 1 && list[0].Viewers == 0
	})
	if list[0].State != core.TerminalRunning {
		t.Fatalf("%+v", list)
	}
	p.resize(100, 25)
	p.start(h, dir, "terminal", "--attach", string(list[0].ID[:10]))
	p.shown("narrow")
	p.typeIn("\rwhile [ \"$(stty size)\" != '25 100' ]; do :; done; exit 7\r")
	if code := p.code(); code != 7 {
		t.Errorf("exit %d", code)
	}
	if p.modes() != was {
		t.Error("the terminal is not as it was")
	}

	// Loop goes away while the command runs.
	p.start(h, dir, "terminal", "--host", "--", "/bin/sh")
	p.shown("\x1b[2J")
	p.typeIn("echo o''n\r")
	p.shown("on\r\n")
	s.kill()
	if code := p.code(); code != 1 {
		t.Errorf("exit %d", code)
	}
	p.shown("went away")
	if p.modes() != was {
		t.Error("the terminal is not as it was")
	}
	if r := h.run("terminal", "--host"); r.code != 2 || !strings.Contains(r.err, "No Loop is running") {
		t.Errorf("%+v", r)
	}
}
