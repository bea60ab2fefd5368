//go:build linux

package spawn

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"loop/backend/wire"
)

// listen accepts the connections whose holders the tests look for.
func listen(tb testing.TB) (port int) {
	tb.Helper()
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		var conns []net.Conn
		for {
			c, err := ln.Accept()
			if err != nil {
				break
			}
			conns = append(conns, c)
		}
		for _, c := range conns {
			_ = c.Close()
		}
	}()
	tb.Cleanup(func() { _ = ln.Close(); <-done })
	return ln.Addr().(*net.TCPAddr).Port
}

// begins waits for the first line of a spawn.
func begins(tb testing.TB, m *Table, id string) string {
	tb.Helper()
	l, err := m.Output(id, "out")
	if err != nil {
		tb.Fatal(err)
	}
	var out []byte
	for buf := make([]byte, 4096); ; {
		n, err := l.Next(tb.Context(), buf, int64(len(out)))
		out = append(out, buf[:n]...)
		if line, _, ok := strings.Cut(string(out), "\n"); ok {
			return line
		}
		if err != nil {
			tb.Fatalf("%s: %q %v", id, out, err)
		}
	}
}

// inode reads the number of the socket that a program printed.
func inode(tb testing.TB, line string) uint64 {
	tb.Helper()
	n, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimPrefix(line, "socket:["), "]"), 10, 64)
	if err != nil {
		tb.Fatalf("%q: %v", line, err)
	}
	return n
}

// TestHolderIsTheSpawn: a socket belongs to its spawn wherever in the spawn's tree it
// is held, and however the process changed its looks.
func TestHolderIsTheSpawn(t *testing.T) {
	m := newTable(t)
	port := listen(t)
	connect := fmt.Sprintf(`exec 3<>/dev/tcp/127.0.0.1/%d; readlink /proc/self/fd/3; `, port)
	for name, script := range map[string]string{
		"itself":        connect + "sleep 1000",
		"a-child":       "(" + connect + "sleep 1000); true",
		"inherited":     connect + "sleep 1000 & sleep 1000",
		"an-orphan":     "( ( " + connect + "sleep 1000 ) & ) ; sleep 1000",
		"own-session":   "setsid bash -c '" + connect + "sleep 1000'",
		"twice-orphan":  "setsid bash -c '( setsid bash -c \"" + connect + "sleep 1000\" & ) & '; sleep 1000",
		"left-behind":   "setsid bash -c '" + connect + "sleep 1000' & exit 0",
		"another-name":  "LOOP_SPAWN=itself exec -a 'loop syscallwrap' bash -c '" + connect + "sleep 1000'",
		"many-files":    "ulimit -n 1024; for i in {10..900}; do eval \"exec $i</dev/null\"; done; " + connect + "sleep 1000",
		"after-an-exec": connect + "exec sleep 1000",
	} {
		if _, err := m.Spawn(t.Context(), name, wire.Spawn{Argv: []string{"bash", "-c", script}, Stdio: wire.StdioPipes}, Body{}); err != nil {
			t.Fatal(err)
		}
		n := inode(t, begins(t, m, name))
		if name == "left-behind" {
			if _, err := m.Wait(t.Context(), name); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := m.Holder(n); err != nil || got != name {
			t.Errorf("%s: %q %v", name, got, err)
		}
		if err := m.Kill(t.Context(), name); err != nil {
			t.Fatal(err)
		}
		if got, err := m.Holder(n); !errors.Is(err, errNoHolder) {
			t.Errorf("%s has ended: %q %v", name, got, err)
		}
	}
}

func TestHolderOutsideIsNobody(t *testing.T) {
	m := newTable(t)
	port := listen(t)
	c, err := net.Dial("tcp4", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	raw, _ := c.(*net.TCPConn).SyscallConn()
	var line string
	_ = raw.Control(func(fd uintptr) { line, _ = os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd)) })
	if got, err := m.Holder(inode(t, line)); !errors.Is(err, errNoHolder) {
		t.Errorf("this process: %q %v", got, err)
	}
	// This process belongs to no keeper.
	f, err := c.(*net.TCPConn).File()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	p, err := os.StartProcess("/bin/sleep", []string{"sleep", "1000"}, &os.ProcAttr{Files: []*os.File{nil, nil, nil, f}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.Kill() }()
	if got, err := m.Holder(inode(t, line)); !errors.Is(err, errNoHolder) {
		t.Errorf("a process of no spawn: %q %v", got, err)
	}
}

// TestKeeperHoldsForItsSpawn: a supervisor has a copy of a program's socket while it
// connects it.
func TestKeeperHoldsForItsSpawn(t *testing.T) {
	m := newTable(t)
	c, err := net.Dial("tcp4", fmt.Sprintf("127.0.0.1:%d", listen(t)))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	f, err := c.(*net.TCPConn).File()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	link, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	pid, ended, err := m.cfg.Reaper.Start("a", "/bin/sleep", []string{"sleep", "1000"}, &syscall.ProcAttr{Files: layout(map[int]int{3: int(f.Fd())})})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Kill(pid, syscall.SIGKILL); <-ended }()
	if got, err := m.Holder(inode(t, link)); err != nil || got != "a" {
		t.Errorf("%q %v", got, err)
	}
}

// TestSharedSocketIsNobodys passes a connection from one spawn to another. While both
// hold it, nobody can know which one asks. When the first has closed its copy, the
// connection is the second one's.
func TestSharedSocketIsNobodys(t *testing.T) {
	m := newTable(t)
	port := listen(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, keeps := range []string{"keep", "close"} {
		path := filepath.Join(t.TempDir(), "s")
		giver, taker := "giver-"+keeps, "taker-"+keeps
		run := func(id string, argv ...string) string {
			if _, err := m.Spawn(t.Context(), id, wire.Spawn{Argv: append([]string{exe}, argv...), Stdio: wire.StdioPipes, OpenStdin: true}, Body{}); err != nil {
				t.Fatal(err)
			}
			return begins(t, m, id)
		}
		link := run(giver, "give", path, strconv.Itoa(port), keeps)
		run(taker, "take", path)
		got, err := m.Holder(inode(t, link))
		if keeps == "keep" && !errors.Is(err, errShared) {
			t.Errorf("shared: %q %v", got, err)
		}
		if keeps == "close" && got != taker {
			t.Errorf("given away: %q %v", got, err)
		}
	}
}

// handOver is a program of the test that passes a connection on or takes one. It stays
// until it is killed.
func handOver(what, path string, more ...string) error {
	defer func() { _, _ = io.Copy(io.Discard, os.Stdin) }()
	if what == "give" {
		return give(path, more[0], more[1] == "close")
	}
	u, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return err
	}
	if _, _, _, _, err := u.ReadMsgUnix(make([]byte, 1), make([]byte, 64)); err != nil {
		return err
	}
	if _, err := u.Write([]byte("x")); err != nil { // the connection has arrived
		return err
	}
	if _, err := u.Read(make([]byte, 1)); err != nil {
		return err
	}
	fmt.Println("taken")
	return nil
}

func give(path, port string, closes bool) error {
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return err
	}
	c, err := net.Dial("tcp4", "127.0.0.1:"+port)
	if err != nil {
		return err
	}
	f, err := c.(*net.TCPConn).File()
	if err != nil {
		return err
	}
	_ = c.Close()
	link, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
	if err != nil {
		return err
	}
	fmt.Println(link)
	u, err := ln.AcceptUnix()
	if err != nil {
		return err
	}
	if _, _, err := u.WriteMsgUnix([]byte("x"), unix.UnixRights(int(f.Fd())), nil); err != nil {
		return err
	}
	if _, err := u.Read(make([]byte, 1)); err != nil {
		return err
	}
	if closes {
		_ = f.Close()
	}
	_, err = u.Write([]byte("x"))
	return err
}

// BenchmarkHolder finds one holder among the processes of this machine and ten more of
// a spawn, each with some thirty files.
func BenchmarkHolder(b *testing.B) {
	m := newTable(b)
	port := listen(b)
	script := fmt.Sprintf(`exec 3<>/dev/tcp/127.0.0.1/%d; readlink /proc/self/fd/3; exec 4<&3-
for i in {10..40}; do eval "exec $i</dev/null"; done; for i in {1..9}; do sleep 1000 4<&- & done; sleep 1000`, port)
	if _, err := m.Spawn(b.Context(), "a", wire.Spawn{Argv: []string{"bash", "-c", script}, Stdio: wire.StdioPipes}, Body{}); err != nil {
		b.Fatal(err)
	}
	n := inode(b, begins(b, m, "a"))
	for b.Loop() {
		got, err := m.Holder(n)
		if err != nil || got != "a" {
			b.Fatal(got, err)
		}
	}
	dirs, _ := filepath.Glob("/proc/[0-9]*/fd/*")
	b.ReportMetric(float64(len(dirs)), "files")
}
