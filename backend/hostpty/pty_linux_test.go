package hostpty

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"loop/backend/core"
	"loop/backend/terminal/programtest"
)

func TestConformance(t *testing.T) {
	programtest.Run(t, programtest.Backend{
		Start: func(t testing.TB, argv []string, cols, rows uint16) programtest.Program {
			p, err := Start(Options{Argv: argv, Dir: t.TempDir(), Cols: cols, Rows: rows})
			if err != nil {
				t.Fatal(err)
			}
			return p
		},
		Running: running,
	})
}

// running lists the command lines that hold text.
func running(t testing.TB, text string) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range files {
		line, err := os.ReadFile(f)
		if err == nil && bytes.Contains(line, []byte(text)) {
			out = append(out, string(bytes.ReplaceAll(line, []byte{0}, []byte{' '})))
		}
	}
	return out
}

// over ends a script whose output a test reads. The program stays until it is closed,
// because a read at the moment when a program prints and ends may return the end alone.
const over = "\necho 'that is' all\nread x\n"

// output is everything that a program prints before over.
func output(t *testing.T, o Options) string {
	t.Helper()
	p, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	out := until(t, p, "that is all")
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	return out
}

// until reads until text has come, and returns a little more.
func until(t *testing.T, p *PTY, text string) string {
	t.Helper()
	var out []byte
	buf := make([]byte, 32<<10)
	for !bytes.Contains(out[max(0, len(out)-len(buf)-len(text)):], []byte(text)) {
		n, err := p.Read(buf)
		if out = append(out, buf[:n]...); err != nil {
			t.Fatalf("no %q in %q: %v", text, out, err)
		}
	}
	return string(out)
}

func TestEnvironmentOfAShell(t *testing.T) {
	t.Setenv("LOOP_API_TOKEN", "secret")
	t.Setenv("LOOP_HOME", "/somewhere")
	t.Setenv("TMUX", "/tmp/tmux-0/default,1,0")
	t.Setenv("TERM", "dumb")
	dir := t.TempDir()
	p, err := Start(Options{Argv: []string{"sh", "-c", `tr '\0' '\n' </proc/$$/environ` + over}, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.Close() }()
	lines := strings.Split(until(t, p, "that is all"), "\r\n")
	for _, want := range []string{"LOOP_HOME=/somewhere", "TERM=xterm-256color", "COLORTERM=truecolor", "TERM_PROGRAM=Loop", "PWD=" + dir, Marker + "=" + p.marker} {
		if !slices.Contains(lines, want) {
			t.Errorf("%s is missing", want)
		}
	}
	for _, name := range []string{"LOOP_API_TOKEN=", "TMUX="} {
		if slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, name) }) {
			t.Errorf("%s is there", name)
		}
	}
}

func TestTheLineEditorKnowsCharacters(t *testing.T) {
	if out := output(t, Options{Argv: []string{"sh", "-c", "stty -a" + over}}); !strings.Contains(out, " iutf8") {
		t.Fatal(out)
	}
}

func TestWhatCannotBeStarted(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	t.Setenv("PATH", os.Getenv("PATH")+"::.")
	t.Chdir(dir)
	for name, c := range map[string]struct {
		o    Options
		code core.Code
		says string
	}{
		"no such program":     {Options{Argv: []string{"no-such-shell"}}, core.CodeNotFound, "no-such-shell"},
		"no such path":        {Options{Argv: []string{"/no/such/shell"}}, core.CodeNotFound, "/no/such/shell"},
		"a directory":         {Options{Argv: []string{"/etc"}}, core.CodeInvalid, "/etc"},
		"not executable":      {Options{Argv: []string{file("plain", "x", 0o644)}}, core.CodeInvalid, "executed"},
		"not a program":       {Options{Argv: []string{file("noise", "\x00\x01", 0o755)}}, core.CodeInvalid, "not a program"},
		"no such interpreter": {Options{Argv: []string{file("script", "#!/no/such\n", 0o755)}}, core.CodeNotFound, "script"},
		"no such directory":   {Options{Argv: []string{"sh"}, Dir: filepath.Join(dir, "gone")}, core.CodeDir, "not there"},
		"a file as directory": {Options{Argv: []string{"sh"}, Dir: file("file", "", 0o644)}, core.CodeDir, "not a directory"},
		"a program beside":    {Options{Argv: []string{filepath.Base(file("beside", "#!/bin/sh\n", 0o755))}, Dir: dir}, core.CodeNotFound, "beside"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := Start(c.o)
			if err == nil {
				_ = p.Close()
				t.Fatal("it started")
			}
			f := core.AsFailure(err)
			if f.Code != c.code || !strings.Contains(f.Cause, c.says) || f.Remedy == "" {
				t.Fatalf("%s: %s %s", f.Code, f.Cause, f.Remedy)
			}
		})
	}
}

func TestARelativeProgramIsTakenFromItsDirectory(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "hi"), []byte("#!/bin/sh\necho hi $0\n"+over), 0o755); err != nil {
		t.Fatal(err)
	}
	if out := output(t, Options{Argv: []string{"./hi"}, Dir: dir}); !strings.HasPrefix(out, "hi ") {
		t.Fatal(out)
	}
}

// TestTheBackgroundStaysUntilClose: background programs outlive the program, as in any
// terminal. The program's exit is known while they run.
func TestTheBackgroundStaysUntilClose(t *testing.T) {
	n := "123" + fmt.Sprint(os.Getpid()) + "77"
	p, err := Start(Options{Argv: []string{"sh", "-c", "trap '' HUP; sleep " + n + " & exit 5"}})
	if err != nil {
		t.Fatal(err)
	}
	if e, err := p.Wait(t.Context()); err != nil || e.Code != 5 || e.Signal != "" {
		t.Fatalf("%+v %v", e, err)
	}
	// The kernel shows no arguments of a process that is just becoming a sleep.
	for late := time.Now().Add(time.Minute); len(running(t, n)) != 1; {
		if time.Now().After(late) {
			t.Fatalf("the background went with the program: %q", running(t, n))
		}
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if left := running(t, n); len(left) > 0 {
		t.Fatal(left)
	}
	if _, err := p.Wait(t.Context()); err != nil {
		t.Fatal("not done")
	}
}

// TestCloseTriesAgain: a close that could not end a program, another user's say, ends
// the reader all the same. Once the program is gone, the next one succeeds.
func TestCloseTriesAgain(t *testing.T) {
	t.Parallel()
	p, err := Start(Options{Argv: []string{"sh", "-c", "trap '' HUP; echo ready; sleep 123456; read x"}})
	if err != nil {
		t.Fatal(err)
	}
	until(t, p, "ready")
	p.kill = func(process) {}
	if f := core.AsFailure(p.Close()); f.Code != core.CodeConflict || !strings.Contains(f.Cause, "sh (") {
		t.Fatalf("%s: %s", f.Code, f.Cause)
	}
	if _, err := io.Copy(io.Discard, p); err != nil {
		t.Error(err)
	}
	for len(p.left()) > 0 {
		for _, q := range p.left() {
			q.kill()
		}
	}
	for range 2 {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
	<-p.reaped
}

func FuzzStat(f *testing.F) {
	f.Add([]byte("12 (a) b) S 1 12 12 34816 12 4194304 1 0 0 0 0 0 0 0 20 0 1 0 777 1 1"))
	f.Add([]byte("12 (x"))
	f.Add([]byte(") ("))
	f.Fuzz(func(t *testing.T, line []byte) {
		if p, ok := parseStat(12, line); ok && p.start == "" {
			t.Fatal("no start")
		}
	})
}

func TestStatOfAHostileName(t *testing.T) {
	p, ok := parseStat(12, []byte("12 (a) R 1 1) S 3 12 11 34816 12 4194304 1 0 0 0 0 0 0 0 20 0 1 0 777 1 1"))
	if !ok || p.ppid != 3 || p.sid != 11 || p.start != "777" || p.name != "a) R 1 1" {
		t.Fatalf("%+v %v", p, ok)
	}
	if _, ok := parseStat(12, []byte("12 (a) Z 3 12 11 34816 12 4194304 1 0 0 0 0 0 0 0 20 0 1 0 777 1 1")); ok {
		t.Fatal("a dead process counts")
	}
}

// BenchmarkRead is the upper limit for every view of a host terminal: 32 MiB of lines
// through the line discipline, and without it.
func BenchmarkRead(b *testing.B) {
	const size = 32 << 20
	for _, c := range []struct{ name, mode string }{{"cooked", ":"}, {"raw", "stty raw"}} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(size)
			buf := make([]byte, 64<<10)
			reads := 0
			for b.Loop() {
				p, err := Start(Options{Argv: []string{"sh", "-c", fmt.Sprintf("%s; yes %s | head -c %d", c.mode, strings.Repeat("x", 79), size)}})
				if err != nil {
					b.Fatal(err)
				}
				for {
					_, err := p.Read(buf)
					if errors.Is(err, io.EOF) {
						break
					}
					reads++
				}
				if err := p.Close(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(size)*float64(b.N)/float64(reads), "bytes/read")
		})
	}
}

// BenchmarkEcho sends one key through cat and back.
func BenchmarkEcho(b *testing.B) {
	p, err := Start(Options{Argv: []string{"sh", "-c", "stty raw -echo; echo; exec cat"}})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = p.Close() }()
	buf := make([]byte, 1)
	if _, err := io.ReadFull(p, buf); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := p.Write([]byte("x")); err != nil {
			b.Fatal(err)
		}
		if _, err := io.ReadFull(p, buf); err != nil {
			b.Fatal(err)
		}
	}
}

// TestTheEndDoesNotWaitForTheBackground: a background program that goes on printing
// does not delay the end. The program's own output is complete.
func TestTheEndDoesNotWaitForTheBackground(t *testing.T) {
	p, err := Start(Options{Argv: []string{"sh", "-c", "trap '' HUP; stty raw -echo; yes y & head -c 100000 /dev/zero; echo done; read x"}})
	if err != nil {
		t.Fatal(err)
	}
	out := until(t, p, "done\n")
	if n := strings.Count(out, "\x00"); n != 100000 {
		t.Fatalf("%d of the program's bytes arrived", n)
	}
	if _, err := p.Write([]byte("\n")); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, p); err != nil {
		t.Fatal(err)
	}
	if e, err := p.Wait(t.Context()); err != nil || e.Code != 0 || e.Signal != "" {
		t.Fatalf("%+v %v", e, err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestOthers names the processes whose end a person would miss: background and stopped
// jobs, and programs that left the session. The shell itself and helpers are not named.
func TestOthers(t *testing.T) {
	dir := t.TempDir()
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"job", "away", "gpg-agent"} {
		if err := os.Symlink(sleep, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	p, err := Start(Options{Argv: []string{"sh", "-i"}, Dir: dir, Env: append(Environ(os.Environ()), "PS1=", "ENV=")})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.Close() }()
	tell := func(line, answer string) {
		t.Helper()
		if _, err := p.Write([]byte(line + "; echo re''ady\n")); err != nil {
			t.Fatal(err)
		}
		until(t, p, answer)
	}
	tell("true", "\r\nready")
	if names := p.Others(); len(names) != 0 {
		t.Errorf("an idle shell has %q", names)
	}
	tell("./job 1000 & ./gpg-agent 1000 & setsid ./away 1000 & sh -c 'kill -STOP $$' & :", "\r\nready")
	var names []string
	for end := time.Now().Add(time.Minute); time.Now().Before(end); { // they are copies of the shell before they become programs
		if names = slices.Sorted(slices.Values(p.Others())); slices.Equal(names, []string{"away", "job", "sh"}) {
			return
		}
	}
	t.Errorf("found %q", names)
}
