//go:build linux || darwin

package hostpty

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"loop/backend/core"
)

// PTY is a program on a terminal. Reads come from one goroutine and writes from
// one; the other methods from any. Whoever started it calls Close.
type PTY struct {
	session
	cmd    *exec.Cmd
	master *os.File

	ending
	reap   chan struct{} // closed by Close, which needs the leader's number no more
	reaped chan struct{}

	rest int // read after the program's end
}

// Start runs a program as the leader of a new session with a new terminal.
// Errors are core.Failure with CodeInvalid, CodeNotFound (no such program) or
// CodeDir.
func Start(o Options) (*PTY, error) {
	o, marker, err := prepare(o)
	if err != nil {
		return nil, err
	}
	// Without this the kernel's refusal would read as one of the program.
	if err := unix.Access(o.Dir, unix.X_OK); err != nil {
		return nil, dirFailure(o.Dir, err)
	}
	path := o.Argv[0]
	if strings.Contains(path, "/") && !filepath.IsAbs(path) {
		path = filepath.Join(o.Dir, path)
	}
	if path, err = exec.LookPath(path); err != nil {
		return nil, noProgram(o.Argv[0], err)
	}
	hearSignals()
	master, tty, err := openTerminal(o.Cols, o.Rows)
	if err != nil {
		return nil, startFailure(o.Argv[0], err)
	}
	defer func() { _ = tty.Close() }()
	cmd := &exec.Cmd{
		Path: path, Args: o.Argv, Dir: o.Dir, Env: append(o.Env, "PWD="+o.Dir), Stdin: tty, Stdout: tty, Stderr: tty,
		SysProcAttr: &syscall.SysProcAttr{Setsid: true, Setctty: true},
	}
	if err := cmd.Start(); err != nil {
		_ = master.Close()
		return nil, startFailure(o.Argv[0], err)
	}
	p := &PTY{
		session: session{leader: cmd.Process.Pid, marker: marker, kill: process.kill}, cmd: cmd, master: master,
		ending: ending{exited: make(chan struct{})}, reap: make(chan struct{}), reaped: make(chan struct{}),
	}
	p.dev.Store(deviceOf(tty))
	go p.await()
	return p, nil
}

// openTerminal makes a pair whose line editor knows that characters may have
// several bytes, as every terminal emulator says of its own.
func openTerminal(cols, rows uint16) (master, tty *os.File, err error) {
	master, tty, err = pty.Open()
	if err != nil {
		return nil, nil, fmt.Errorf("open a terminal: %w", err)
	}
	err = control(tty, func(fd int) error {
		t, err := unix.IoctlGetTermios(fd, ioctlGetTermios)
		if err != nil {
			return err
		}
		t.Iflag |= unix.IUTF8
		if err := unix.IoctlSetTermios(fd, ioctlSetTermios, t); err != nil {
			return err
		}
		return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Col: cols, Row: rows})
	})
	if err == nil {
		master, err = pollable(master)
	}
	if err != nil {
		_ = master.Close()
		_ = tty.Close()
		return nil, nil, fmt.Errorf("set up the terminal: %w", err)
	}
	return master, tty, nil
}

func startFailure(name string, err error) error {
	err = fmt.Errorf("start the program: %w", err)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission): // also of a script's interpreter
		return noProgram(name, err)
	case errors.Is(err, unix.ENOEXEC):
		return core.Fail(core.CodeInvalid, err, name+" is not a program of this system.", "Name another program, or the interpreter it needs.")
	case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EMFILE), errors.Is(err, unix.ENFILE):
		return core.Fail(core.CodeTooMany, err, "The system has no terminal or process left to give.", "Close some terminals or programs.")
	}
	return core.Fail(core.CodeInternal, err, name+" could not be started.", "The detail says why.")
}

// await waits for the program's end without giving its number free: the number finds
// the rest of the session. When nothing is left, the number is given free at once.
func (p *PTY) await() {
	defer close(p.reaped)
	if how := waitNoReap(p.cmd.Process.Pid); how.Code >= 0 && len(p.left()) > 0 {
		p.exit = how
		p.ended()
		<-p.reap
		p.released.Store(true)
		_ = p.cmd.Wait()
		return
	}
	p.released.Store(true)
	_ = p.cmd.Wait()
	p.exit = exitOf(p.cmd.ProcessState)
	p.ended()
}

// ended lets Wait return and a waiting Read look at what is left. Where the
// master cannot have a deadline, the system takes the terminal from all programs
// when its session's leader ends.
func (p *PTY) ended() {
	close(p.exited)
	_ = p.master.SetReadDeadline(time.Unix(1, 0))
}

func exitOf(s *os.ProcessState) Exit {
	if s == nil {
		return Exit{Code: -1, Reason: "It is not known how the program ended."}
	}
	if ws, ok := s.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return Exit{Code: 128 + int(ws.Signal()), Signal: unix.SignalName(ws.Signal())}
	}
	return Exit{Code: s.ExitCode()}
}

// maxAfterEnd bounds what is still read once the program ended while something
// in the background goes on printing: more than the kernel keeps of a terminal
// (640 KiB), so that all of the program's own output is in it.
const maxAfterEnd = 1 << 20

// fullRead is what one read of a terminal in a flood returns at least: the Linux kernel gives
// up to 4095 bytes at a time, that of macOS 1024.
const fullRead = 1000

// Read returns what the program prints. After the program's end, once all of it
// was read, and after Close it returns io.EOF. A program in the background that
// still has the terminal does not hold the end up.
func (p *PTY) Read(b []byte) (int, error) {
	n, err := p.master.Read(b)
	if n >= fullRead {
		return n + p.readOn(b[n:]), nil
	}
	if n > 0 {
		return n, nil
	}
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded): // the program ended
		return p.readRest(b)
	case errors.Is(err, unix.EIO), errors.Is(err, fs.ErrClosed):
		// EIO is what the kernel says when nobody has the terminal open any more.
		return 0, io.EOF
	}
	return n, err
}

// readOn reads what more is there in a flood, without waiting: each piece costs its readers
// wake-ups. An error is met again by the next Read.
func (p *PTY) readOn(b []byte) (n int) {
	_ = control(p.master, func(fd int) error {
		for len(b)-n >= fullRead {
			m, err := unix.Read(fd, b[n:])
			if m <= 0 || err != nil {
				return err
			}
			n += m
		}
		return nil
	})
	return n
}

// readRest reads the output that is there, without waiting.
func (p *PTY) readRest(b []byte) (n int, err error) {
	if p.rest >= maxAfterEnd {
		return 0, io.EOF
	}
	err = control(p.master, func(fd int) (err error) {
		for {
			if n, err = unix.Read(fd, b); !errors.Is(err, unix.EINTR) {
				return err
			}
		}
	})
	if err != nil || n <= 0 {
		return 0, io.EOF // EAGAIN, EIO, closed
	}
	p.rest += n
	return n, nil
}

// Write gives the program input. It waits while the program reads none.
func (p *PTY) Write(b []byte) (int, error) {
	n, err := p.master.Write(b)
	if err != nil {
		err = fmt.Errorf("write to the terminal: %w", err)
	}
	return n, err
}

// Resize changes the terminal's size; the program gets a SIGWINCH.
func (p *PTY) Resize(_ context.Context, cols, rows uint16) error {
	err := control(p.master, func(fd int) error {
		return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Col: cols, Row: rows})
	})
	if err != nil {
		return fmt.Errorf("resize the terminal: %w", err)
	}
	return nil
}

// close sends SIGHUP, and after 3 s SIGKILL. The terminal goes also when programs are
// left: Loop could not quit while a reader waits for one that nobody can end. The
// leader's number stays taken then, as the next try finds them by it.
func (p *PTY) close() error {
	err := p.end(unix.SIGHUP)
	p.dev.Store(0)
	_ = p.master.Close()
	if err == nil {
		close(p.reap)
		<-p.reaped
	}
	return err
}

// deviceOf is the device number of a terminal.
func deviceOf(tty *os.File) uint64 {
	info, err := tty.Stat()
	if err != nil {
		return 0
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Rdev) //nolint:unconvert // int32 on darwin
	}
	return 0
}

func control(f *os.File, do func(fd int) error) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	if err := conn.Control(func(fd uintptr) { inner = do(int(fd)) }); err != nil {
		return err
	}
	return inner
}
