package programtest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"loop/backend/core"
)

// Program is a program on a terminal, as the suite needs it.
type Program interface {
	io.Reader // gives io.EOF after the last byte, at every further read
	io.Writer
	Resize(ctx context.Context, cols, rows uint16) error
	Wait(ctx context.Context) (core.TerminalExit, error) // returns when the program has ended
	Close() error                                        // ends the program's whole tree; nil only when nothing is left
}

// Backend starts programs. The place where they run must have /bin/sh, stty and the
// usual small tools.
type Backend struct {
	// Start fails the test when it cannot. The suite closes what it gets.
	Start func(t testing.TB, argv []string, cols, rows uint16) Program
	// Running lists the command lines, where programs run, that hold text.
	Running func(t testing.TB, text string) []string
}

// patience bounds every wait. It is far more than a loaded machine takes.
const patience = 3 * time.Minute

// Run checks all promises of b.
func Run(t *testing.T, b Backend) {
	for _, c := range []struct {
		name string
		test func(*testing.T, Backend)
	}{
		{"input is echoed and read", echo},
		{"a program sees its size and the change of it", sizes},
		{"the exit code arrives", exitCode},
		{"a signal arrives", exitSignal},
		{"the end comes once, behind the last byte", end},
		{"five megabytes are byte-exact", volume},
		{"binary input is byte-exact", rubbish},
		{"control-P is one byte and comes at once", controlP},
		{"control-C interrupts", controlC},
		{"closing ends the whole tree", tree},
		{"closing ends a tree whose program is gone", orphans},
		{"closing ends waiting reads and writes", unblocks},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, b) })
	}
}

// screen collects the output of a program.
type screen struct {
	Program
	mu   sync.Mutex
	buf  bytes.Buffer
	err  error
	more chan struct{} // closed and replaced at every read
}

func start(t *testing.T, b Backend, script string) *screen {
	t.Helper()
	p := b.Start(t, []string{"/bin/sh", "-c", script}, 80, 24)
	s := &screen{Program: p, more: make(chan struct{})}
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 32<<10)
		for {
			n, err := p.Read(buf)
			s.mu.Lock()
			s.buf.Write(buf[:n])
			s.err = err
			close(s.more)
			s.more = make(chan struct{})
			s.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		select {
		case <-done:
		case <-time.After(patience):
			t.Error("a read goes on after Close")
		}
	})
	return s
}

// until waits until ok accepts the output so far. The function must not keep the slice:
// it is not a copy, since copying megabytes at every read took longer than the program.
func (s *screen) until(t *testing.T, what string, ok func(out []byte, err error) bool) []byte {
	t.Helper()
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		s.mu.Lock()
		out, err, more := s.buf.Bytes(), s.err, s.more
		well := ok(out, err)
		if well || err != nil {
			out = bytes.Clone(out)
		}
		s.mu.Unlock()
		if well {
			return out
		}
		if err != nil {
			t.Fatalf("ended (%v) without %s; it printed %q", err, what, tail(out))
		}
		select {
		case <-more:
		case <-late.C:
			t.Fatalf("no %s; it printed %q", what, tail(s.printed()))
		}
	}
}

func (s *screen) printed() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return bytes.Clone(s.buf.Bytes())
}

func (s *screen) text(t *testing.T, want string) {
	t.Helper()
	s.until(t, fmt.Sprintf("%q", want), func(out []byte, _ error) bool { return bytes.Contains(out, []byte(want)) })
}

// eof waits for the end and returns the whole output.
func (s *screen) eof(t *testing.T) []byte {
	t.Helper()
	out := s.until(t, "the end", func(_ []byte, err error) bool { return err != nil })
	if !errors.Is(s.err, io.EOF) {
		t.Fatalf("the output ended with %v, want io.EOF", s.err)
	}
	return out
}

func (s *screen) write(t *testing.T, text string) {
	t.Helper()
	if _, err := s.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
}

// exit waits for the program's end.
func (s *screen) exit(t *testing.T) core.TerminalExit {
	t.Helper()
	exit, err := s.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return exit
}

func tail(b []byte) []byte { return b[max(0, len(b)-500):] }

func echo(t *testing.T, b Backend) {
	s := start(t, b, "echo ready; cat")
	s.text(t, "ready\r\n")
	s.write(t, "grüße\r")
	s.text(t, "grüße\r\ngrüße\r\n")
	s.write(t, "\x04") // the line editor's end of file
	s.eof(t)
	if e := s.exit(t); e.Code != 0 {
		t.Fatalf("exit %+v", e)
	}
}

func sizes(t *testing.T, b Backend) {
	// The program asks for the size after a line, because some backends set the first
	// size just after the start.
	s := start(t, b, `trap 'echo changed' WINCH; echo ready; while true; do if read l; then stty size; fi; done`)
	s.text(t, "ready")
	s.write(t, "\r")
	s.text(t, "24 80\r\n")
	for _, c := range [][2]uint16{{61, 17}, {1000, 500}, {2, 1}} {
		if err := s.Resize(t.Context(), c[0], c[1]); err != nil {
			t.Fatal(err)
		}
		s.write(t, "\r")
		s.text(t, fmt.Sprintf("%d %d\r\n", c[1], c[0]))
	}
	s.text(t, "changed")
}

func exitCode(t *testing.T, b Backend) {
	for _, code := range []int{0, 1, 7, 255} {
		s := start(t, b, fmt.Sprintf("exit %d", code))
		if e := s.exit(t); e.Code != code || e.Signal != "" {
			t.Errorf("exit %d came as %+v", code, e)
		}
	}
}

func exitSignal(t *testing.T, b Backend) {
	s := start(t, b, "kill -KILL $$")
	if e := s.exit(t); e.Code != 137 || e.Signal != "" && e.Signal != "SIGKILL" {
		t.Fatalf("SIGKILL came as %+v", e)
	}
}

// stay keeps a program until it gets a line, by which time its output has been read.
// Otherwise a read at the moment when a program prints and ends may return the end
// alone.
const stay = "; read x"

func end(t *testing.T, b Backend) {
	s := start(t, b, "stty -echo; printf first; printf last"+stay)
	s.text(t, "firstlast")
	s.write(t, "\r")
	if out := s.eof(t); string(out) != "firstlast" {
		t.Fatalf("printed %q", out)
	}
	for range 3 {
		if n, err := s.Read(make([]byte, 10)); n != 0 || !errors.Is(err, io.EOF) {
			t.Fatalf("after the end: %d bytes, %v", n, err)
		}
	}
	if e := s.exit(t); e.Code != 0 {
		t.Fatalf("exit %+v", e)
	}
}

func volume(t *testing.T, b Backend) {
	const size = 5 << 20
	script := `f=$(mktemp) && head -c %d /dev/urandom >"$f" && stty raw -echo && sha256sum <"$f" | cut -c1-64 && cat "$f"; rm -f "$f"`
	s := start(t, b, fmt.Sprintf(script, size)+stay)
	whole := sha256.Size*2 + 1 + size
	s.until(t, "all of it", func(out []byte, _ error) bool { return len(out) >= whole })
	s.write(t, "\n")
	out := s.eof(t)
	sum, data, ok := bytes.Cut(out, []byte("\n"))
	if !ok || len(data) != size {
		t.Fatalf("%d bytes arrived, want %d", len(data), size)
	}
	if got := sha256.Sum256(data); hex.EncodeToString(got[:]) != string(sum) {
		t.Fatal("the bytes differ")
	}
}

func rubbish(t *testing.T, b Backend) {
	in := make([]byte, 4096)
	for i := range in {
		in[i] = byte(i)
	}
	s := start(t, b, fmt.Sprintf(`stty raw -echo; echo ready; head -c %d | sha256sum`, len(in))+stay)
	s.text(t, "ready")
	s.write(t, string(in))
	sum := sha256.Sum256(in)
	s.text(t, hex.EncodeToString(sum[:]))
}

func controlP(t *testing.T, b Backend) {
	s := start(t, b, `stty raw -echo; echo ready; dd bs=1 count=1 2>/dev/null | od -An -tx1; dd bs=1 count=1 2>/dev/null | od -An -tx1`+stay)
	s.text(t, "ready")
	s.write(t, "\x10")
	s.text(t, " 10")
	s.write(t, "\x11") // together with the byte before, Docker's keys to detach
	s.text(t, " 11")
	s.write(t, "\n")
	s.eof(t)
}

func controlC(t *testing.T, b Backend) {
	s := start(t, b, `trap 'echo interrupted; read x; exit 3' INT; echo ready; while true; do sleep 1; done`)
	s.text(t, "ready")
	s.write(t, "\x03")
	s.text(t, "interrupted")
	s.write(t, "\r")
	if e := s.exit(t); e.Code != 3 {
		t.Fatalf("exit %+v", e)
	}
}

// secret is a number of seconds that no other sleep on the machine uses.
func secret() string { return fmt.Sprint(100_000_000 + rand.IntN(900_000_000)) }

func tree(t *testing.T, b Backend) {
	n := secret()
	s := start(t, b, strings.ReplaceAll(`
		sleep N &
		setsid sleep N &
		nohup sleep N >/dev/null 2>&1 &
		sh -c 'trap "" HUP TERM INT; sleep N; sleep N' &
		(setsid sh -c 'sleep N & sleep N & exit' &)
		(sh -c 'kill -STOP $$; sleep N' N &)
		echo ready; wait`, "N", n))
	s.text(t, "ready")
	running(t, b, n, func(ps []string) bool { return len(ps) >= 7 })
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if left := b.Running(t, n); len(left) > 0 {
		t.Fatalf("left: %q", left)
	}
	s.exit(t)
}

func orphans(t *testing.T, b Backend) {
	n := secret()
	s := start(t, b, strings.ReplaceAll(`trap "" HUP; sleep N & setsid sleep N & echo started`, "N", n))
	if e := s.exit(t); e.Code != 0 {
		t.Fatalf("exit %+v", e)
	}
	s.eof(t)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if left := b.Running(t, n); len(left) > 0 {
		t.Fatalf("left: %q", left)
	}
}

// running waits until ok accepts the processes whose command line holds text.
func running(t *testing.T, b Backend, text string, ok func([]string) bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		ps := b.Running(t, text)
		if ok(ps) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("running are %q", ps)
		}
		<-tick.C
	}
}

func unblocks(t *testing.T, b Backend) {
	s := start(t, b, "stty raw -echo; echo ready; sleep 100000")
	s.text(t, "ready")
	wrote := make(chan struct{})
	go func() {
		defer close(wrote)
		_, _ = s.Write(make([]byte, 16<<20)) // the program does not read it
	}()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatalf("the second time: %v", err)
	}
	select {
	case <-wrote:
	case <-time.After(patience):
		t.Fatal("a write goes on after Close")
	}
	s.eof(t)
}
