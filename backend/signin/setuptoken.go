package signin

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"time"
	"unicode"

	"loop/backend/core"
	"loop/backend/hostpty"
	"loop/backend/hostrun"
	"loop/backend/terminal/vt"
)

// Options say what to run.
type Options struct {
	Program string   // of Claude Code: a name, or a path
	Env     []string // further variables, "NAME=value"
	Folder  string   // for the program's settings; it is made, and removed at the end
	// Changed hears what the screen shows, each time that differs, from one goroutine.
	Changed func(Screen)
	// Ended hears the end, once, after everything else; err is nil where the program ended
	// by itself, and its last lines are in words then.
	Ended func(words string, err error)
}

// Session is one sign-in. Its methods may be called from any goroutine.
type Session struct {
	pty  *hostpty.PTY
	done chan struct{}

	keys chan struct{} // a code was typed, and Enter is to follow
}

// enterAfter is how long the program has for showing a pasted code before Enter follows: in
// one piece with it, Enter would count as part of what was pasted.
const enterAfter = 400 * time.Millisecond

// maxCode bounds the code that a page gives.
const maxCode = 2000

// Start starts the program. An error is a *core.Failure.
func Start(o Options) (*Session, error) {
	program, err := hostrun.Find(o.Program)
	if err != nil {
		return nil, core.Fail(core.CodeNotFound, err, "Claude Code is not on this computer, so there is nothing that could sign in.",
			"Install it, or run “claude setup-token” on a computer that has it and paste the token here.")
	}
	if err := os.MkdirAll(o.Folder, 0o700); err != nil {
		return nil, core.Fail(core.CodeDir, err, "No folder could be made for the sign-in.",
			"Check that Loop's folder is yours and the disk not full.")
	}
	env := append(hostrun.Environment(os.Environ(), nil), "TERM=xterm-256color", "CLAUDE_CONFIG_DIR="+o.Folder)
	pty, err := hostpty.Start(hostpty.Options{Argv: []string{program, "setup-token"}, Env: append(env, o.Env...), Cols: cols, Rows: rows})
	if err != nil {
		_ = os.RemoveAll(o.Folder)
		return nil, err
	}
	s := &Session{pty: pty, done: make(chan struct{}), keys: make(chan struct{}, 1)}
	go s.follow(o)
	return s, nil
}

// follow reads the program to its end.
func (s *Session) follow(o Options) {
	defer close(s.done)
	var typing sync.WaitGroup
	over := make(chan struct{})
	typing.Go(func() { s.enter(over) })
	screen := vt.New(cols, rows, vt.Options{Scrollback: rows, Answer: func(b []byte) { _, _ = s.pty.Write(b) }})
	var last Screen
	text, end := "", ""
	show := func(now Screen) {
		if now != last {
			last = now
			o.Changed(now)
		}
	}
	buf := make([]byte, 16<<10)
	for {
		n, err := s.pty.Read(buf)
		if n > 0 {
			_, _ = screen.Write(buf[:n])
			text = plain(screen.Snapshot())
			now := read(text)
			if end = run(end, buf[:n]); strings.HasPrefix(end, tokenStart) {
				now.Token = "" // the rest of it is still to come
			}
			show(now)
		}
		if err != nil {
			break
		}
	}
	show(read(text)) // nothing more comes
	close(over)
	typing.Wait()
	err := s.pty.Close()
	if rerr := os.RemoveAll(o.Folder); err == nil {
		err = rerr
	}
	o.Ended(lastLines(text), err)
}

// enter presses Enter some time after a code was typed.
func (s *Session) enter(over <-chan struct{}) {
	for {
		select {
		case <-over:
			return
		case <-s.keys:
		}
		wait := time.NewTimer(enterAfter)
		select {
		case <-over:
			wait.Stop()
			return
		case <-wait.C:
		}
		_, _ = s.pty.Write([]byte("\r")) // a program that has ended needs none
	}
}

// Code types the code that the page gave.
func (s *Session) Code(code string) error {
	code = strings.TrimSpace(code)
	bad := strings.ContainsFunc(code, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) })
	if code == "" || bad || len(code) > maxCode {
		return core.Fail(core.CodeInvalid, nil, "That is not a code of the sign-in page.", "Copy the code that the page shows, and nothing else.")
	}
	if _, err := s.pty.Write([]byte(code)); err != nil {
		return core.Fail(core.CodeConflict, err, "The sign-in is over.", "Begin again.")
	}
	select {
	case s.keys <- struct{}{}:
	default: // Enter is already on its way
	}
	return nil
}

// End ends the program and waits until nothing of it is left.
func (s *Session) End(ctx context.Context) error {
	err := s.pty.Close()
	select {
	case <-s.done:
	case <-ctx.Done():
		err = errors.Join(err, ctx.Err())
	}
	return err
}

// lastLines is the end of what the program showed, without tokens.
func lastLines(text string) string {
	var lines []string
	for _, l := range strings.Split(without(text), "\n") {
		if l = strings.TrimSpace(l); strings.ContainsFunc(l, unicode.IsLetter) {
			lines = append(lines, core.Shortened(l, maxError))
		}
	}
	return strings.Join(lines[max(0, len(lines)-5):], "\n")
}
