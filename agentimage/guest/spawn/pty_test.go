//go:build linux

package spawn

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"loop/backend/wire"
)

func terminal(argv ...string) wire.Spawn {
	return wire.Spawn{Argv: argv, Stdio: wire.StdioPTY, Cols: 80, Rows: 24}
}

// printed waits for text in a terminal's output.
func printed(t *testing.T, m *Table, id, text string) string {
	t.Helper()
	l, err := m.Output(id, "out")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var out []byte
	buf := make([]byte, 4096)
	for !bytes.Contains(out, []byte(text)) {
		n, err := l.Next(ctx, buf, int64(len(out)))
		if out = append(out, buf[:n]...); err != nil {
			t.Fatalf("no %q in %q: %v", text, out, err)
		}
	}
	return string(out)
}

func typed(t *testing.T, m *Table, id, text string) {
	t.Helper()
	w, err := m.Input(id, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(t.Context(), []byte(text)); err != nil {
		t.Fatal(err)
	}
}

// TestEndOfTerminal ends a shell that left programs behind, each of which tries to
// outlive it. The shell gets the time to save its history, and none of the programs is
// left.
func TestEndOfTerminal(t *testing.T) {
	m := newTable(t, func(c *Config) { c.Grace = 10 * time.Minute })
	dir := t.TempDir()
	req := terminal("bash", "--norc", "-i")
	req.Env = []string{"HISTFILE=" + filepath.Join(dir, "history"), "PS1=$ "}
	if _, err := m.Spawn(t.Context(), "a", req, Body{}); err != nil {
		t.Fatal(err)
	}
	const lost = `echo $$ >` + "%s/%s" + `; while :; do sleep 1; done`
	for name, how := range map[string]string{
		"nohup":  `nohup sh -c '%s' >/dev/null 2>&1 &`,
		"setsid": `setsid sh -c '%s' >/dev/null 2>&1 &`,
		"double": `(setsid sh -c 'trap "" HUP TERM INT; %s' >/dev/null 2>&1 &)`,
	} {
		typed(t, m, "a", fmt.Sprintf(how, fmt.Sprintf(lost, dir, name))+"\r")
	}
	typed(t, m, "a", "stty -echo; echo 'all' 'up'\r")
	printed(t, m, "a", "all up")
	strays := map[string]process{}
	for _, name := range []string{"nohup", "setsid", "double"} {
		until(t, name, func() bool {
			data, _ := os.ReadFile(filepath.Join(dir, name))
			var pid int
			_, err := fmt.Sscan(string(data), &pid)
			p, ok := readProcess(pid)
			strays[name] = p
			return err == nil && ok
		})
	}
	ctx, hurry := context.WithCancel(t.Context())
	killed := make(chan error, 1)
	go func() { killed <- m.Kill(ctx, "a") }()
	until(t, "the history", func() bool {
		history, err := os.ReadFile(filepath.Join(dir, "history"))
		return err == nil && strings.Contains(string(history), "echo 'all' 'up'")
	})
	if p := strays["double"]; !alive(p) {
		t.Errorf("what takes no hint was not given its time: %+v", p)
	}
	hurry() // as when the grace is over
	if err := <-killed; err != nil {
		t.Fatal(err)
	}
	for name, p := range strays {
		if alive(p) {
			t.Errorf("%s is left: %+v", name, p)
		}
	}
}

// TestInputWaits fills the input queue of a terminal whose program does not read.
// Everything else about the terminal goes on, an interrupt reaches the program, and no
// byte of the input is lost.
func TestInputWaits(t *testing.T) {
	m := newTable(t)
	input := bytes.Repeat([]byte("0123456789abcdef\x03\x04\r\n\x1a\xff"), 20_000)
	script := fmt.Sprintf(`trap "hit=1" INT; stty raw -echo -isig; echo up; while [ -z "$hit" ]; do sleep 0.01; done; head -c %d | sha256sum; read x`, len(input))
	if _, err := m.Spawn(t.Context(), "a", terminal("bash", "-c", script), Body{}); err != nil {
		t.Fatal(err)
	}
	printed(t, m, "a", "up")
	w, err := m.Input("a", "")
	if err != nil {
		t.Fatal(err)
	}
	wrote := make(chan error, 1)
	go func() { _, err := w.Write(t.Context(), input); wrote <- err }()
	until(t, "the write", func() bool { return len(w.f.writing) == 1 })
	// Input of another caller waits for its turn, and the caller may give up.
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if n, err := w.Write(ctx, []byte("x")); n != 0 || !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("%d %v", n, err)
	}
	if err := m.Resize("a", 100, 40); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-wrote:
		t.Fatalf("the queue took everything: %v", err)
	default:
	}
	if err := m.Signal("a", "SIGINT"); err != nil {
		t.Fatal(err)
	}
	printed(t, m, "a", fmt.Sprintf("%x", sha256.Sum256(input)))
	if err := <-wrote; err != nil {
		t.Fatal(err)
	}
}

// TestInputCanBeGivenUp interrupts a write that waits for the program. The bytes that
// the queue took are counted, and the terminal takes input as before.
func TestInputCanBeGivenUp(t *testing.T) {
	m := newTable(t)
	if _, err := m.Spawn(t.Context(), "a", terminal("sh", "-c", "stty raw -echo; echo up; exec sleep 1000"), Body{}); err != nil {
		t.Fatal(err)
	}
	printed(t, m, "a", "up")
	w, err := m.Input("a", "")
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
		n, err := w.Write(ctx, make([]byte, 1<<20))
		cancel()
		if n == 1<<20 || !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("%d %v", n, err)
		}
	}
	if err := m.Kill(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if p, _ := m.find("a"); p != nil {
		<-p.done
	}
	if _, err := w.Write(t.Context(), []byte("x")); !errors.Is(err, os.ErrClosed) {
		t.Fatalf("write to the ended: %v", err)
	}
}

// TestKeysReachThePrograms: keys go to the program in front, not to the shell behind
// it.
func TestKeysReachThePrograms(t *testing.T) {
	m := newTable(t)
	req := terminal("bash", "--norc", "-i")
	req.Env = []string{"PS1=$ ", "HISTFILE="}
	if _, err := m.Spawn(t.Context(), "a", req, Body{}); err != nil {
		t.Fatal(err)
	}
	typed(t, m, "a", `sh -c 'trap "exit 9" INT; echo "in" front; while :; do sleep 0.01; done'`+"\r")
	printed(t, m, "a", "in front")
	if err := m.Signal("a", "SIGINT"); err != nil {
		t.Fatal(err)
	}
	typed(t, m, "a", "echo status $?\r")
	printed(t, m, "a", "status 9")
}

// TestResizeStorm sets a size a thousand times without waiting for the program, which stands
// still. The last one counts.
func TestResizeStorm(t *testing.T) {
	m := newTable(t)
	script := `trap 'stty size' WINCH; echo up; while :; do read x; echo "at $(stty size)"; done`
	info, err := m.Spawn(t.Context(), "a", terminal("bash", "-c", script), Body{})
	if err != nil {
		t.Fatal(err)
	}
	printed(t, m, "a", "up")
	if err := unix.Kill(info.Pid, unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for i := range 1000 {
		if err := m.Resize("a", uint16(10+i%300), uint16(5+i%100)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(m.Resize("a", 77, 33), unix.Kill(info.Pid, unix.SIGCONT)); err != nil {
		t.Fatal(err)
	}
	typed(t, m, "a", "\r")
	printed(t, m, "a", "at 33 77")
	if err := m.Resize("b", 1, 1); code(err) != wire.CodeNotFound {
		t.Errorf("another: %v", err)
	}
}

// TestHeldTerminal reads 6 MB of a terminal through a hold in small steps.
func TestHeldTerminal(t *testing.T) {
	m := newTable(t, func(c *Config) { c.Ring = 256 << 10 })
	const lines = 400_000
	if _, err := m.Spawn(t.Context(), "a", terminal("sh", "-c", fmt.Sprintf("read x; stty -onlcr; seq -f %%014.0f %d; read x", lines)), Body{}); err != nil {
		t.Fatal(err)
	}
	l, err := m.Output("a", "out")
	if err != nil {
		t.Fatal(err)
	}
	h, off := l.Hold(0, DefaultRing)
	defer h.Release()
	typed(t, m, "a", "\r")
	got, want := sha256.New(), sha256.New()
	fmt.Fprint(want, "\r\n")
	for i := 1; i <= lines; i++ {
		fmt.Fprintf(want, "%014d\n", i)
	}
	for buf := make([]byte, 5000); off < 2+15*lines; {
		n, err := l.Next(t.Context(), buf, off)
		got.Write(buf[:n])
		if off += int64(n); err != nil {
			t.Fatal(err)
		}
		h.Taken(off)
	}
	if !bytes.Equal(got.Sum(nil), want.Sum(nil)) {
		t.Fatalf("%d bytes, or others than %d", off, 2+15*lines)
	}
}
