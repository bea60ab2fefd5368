package shell

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"loop/backend/hostpty"
)

// patience is far more time than a loaded machine takes.
const patience = 4 * time.Minute

// live is a real shell at work.
type live struct {
	t    testing.TB
	pty  *hostpty.PTY
	mu   sync.Mutex
	out  bytes.Buffer
	err  error
	more chan struct{}
	read int // position in out up to which wait has read
}

// home makes a home directory with these files.
func home(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// ended is printed after a shell's end, and its terminal stays. Otherwise the last
// output may be lost, when the last program on a terminal prints and ends while nobody
// reads.
const ended = "[the shell has ended]"

// begin starts a shell, with or without marks.
func begin(t testing.TB, home string, argv []string, marks bool, env ...string) *live {
	t.Helper()
	if marks {
		dir := t.TempDir()
		newArgv, _, files := Integrate(argv, dir)
		for _, f := range files {
			if err := os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		argv = newArgv
	}
	pty, err := hostpty.Start(hostpty.Options{
		Argv: append([]string{"/bin/sh", "-c", `"$@"; echo "` + ended + `"; exec sleep 100000`, "sh"}, argv...), Dir: home, Cols: 200, Rows: 50,
		Env: append([]string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "LANG=C.UTF-8", "USER=me"}, env...),
	})
	if err != nil {
		t.Fatal(err)
	}
	l := &live{t: t, pty: pty, more: make(chan struct{})}
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 4096)
		answered := 0
		for {
			n, err := pty.Read(buf)
			l.mu.Lock()
			l.out.Write(buf[:n])
			l.err = err
			close(l.more)
			l.more = make(chan struct{})
			l.mu.Unlock()
			if err != nil {
				return
			}
			// fish asks the terminal for its type and waits for the answer.
			for asked := bytes.Count(l.out.Bytes(), []byte("\x1b[c")); answered < asked; answered++ {
				_, _ = pty.Write([]byte("\x1b[?62c"))
			}
		}
	}()
	t.Cleanup(func() {
		if err := pty.Close(); err != nil {
			t.Error(err)
		}
		<-done
	})
	return l
}

// wait reads until text comes, after the text of the wait before.
func (l *live) wait(text string) {
	l.t.Helper()
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		l.mu.Lock()
		out, err, more := l.out.Bytes(), l.err, l.more
		if i := bytes.Index(out[l.read:], []byte(text)); i >= 0 {
			l.read += i + len(text)
			l.mu.Unlock()
			return
		}
		rest := string(out[l.read:])
		l.mu.Unlock()
		if err != nil {
			l.t.Fatalf("the shell ended; no %q in %q", text, rest)
		}
		select {
		case <-more:
		case <-late.C:
			l.t.Fatalf("no %q in %q", text, rest)
		}
	}
}

// run types each line when the prompt is there. It returns all output until the shell
// ended.
func (l *live) run(prompt string, lines ...string) string {
	l.t.Helper()
	for _, line := range append(lines, "exit") {
		l.wait(prompt)
		if _, err := l.pty.Write([]byte(line + "\r")); err != nil {
			l.t.Fatal(err)
		}
	}
	l.wait(ended)
	l.mu.Lock()
	defer l.mu.Unlock()
	out, _, _ := strings.Cut(l.out.String(), ended)
	return out
}

var ours = regexp.MustCompile("\x1b\\](133;[ABCD]|633;E|7;)[^\x07]*\x07")

// marks returns the marks in the output, without the text between them.
func marks(out string) []string {
	var list []string
	for _, m := range ours.FindAllString(out, -1) {
		list = append(list, strings.Trim(m, "\x1b]\x07"))
	}
	return list
}

// commands returns the marks without those of the shell's directory.
func commands(out string) string {
	var list []string
	for _, m := range marks(out) {
		if !strings.HasPrefix(m, "7;") {
			list = append(list, strings.TrimPrefix(strings.TrimPrefix(m, "133;"), "633;"))
		}
	}
	return strings.Join(list, " ")
}

// between returns the output of a command: the text between its marks C and D.
func between(out string, n int) string {
	parts := strings.Split(out, "\x1b]133;C\x07")
	if n >= len(parts) {
		return fmt.Sprintf("only %d commands", len(parts)-1)
	}
	text, _, _ := strings.Cut(parts[n], "\x1b]133;D;")
	return text
}

// differ shows where two outputs begin to differ.
func differ(plain, with string) string {
	i := 0
	for i < min(len(plain), len(with)) && plain[i] == with[i] {
		i++
	}
	cut := func(s string) string { return s[max(0, i-200):min(len(s), i+200)] }
	return fmt.Sprintf("without marks %q\nwith         %q", cut(plain), cut(with))
}
