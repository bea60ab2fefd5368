//go:build linux

package spawn

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"loop/agentimage/guest/threads"
	"loop/backend/leaktest"
	"loop/backend/wire"
)

// TestMain also makes the test binary keeper and stage, as the guest binary is.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] { // unix.Exit, because os.Exit sleeps for a second under the race detector
		case "syscallwrap":
			unix.Exit(Keep(os.Args[2:]))
		case "spawn":
			unix.Exit(oddStage())
		case "send a descriptor":
			os.Exit(sendDescriptor())
		case "give", "take":
			if err := handOver(os.Args[1], os.Args[2], os.Args[3:]...); err != nil {
				fmt.Println(err)
			}
			os.Exit(0)
		case "listen":
			if err := listenOn(os.Args[2:]...); err != nil {
				fmt.Println(err)
			}
			os.Exit(0)
		}
	}
	goleak.VerifyTestMain(leaktest.Patient(m))
}

// newTable runs programs as the user who runs the test. Tests in containers
// (backend/guestlink, tag docker) cover what needs privileges.
func newTable(t testing.TB, change ...func(*Config)) *Table {
	t.Helper()
	groups, err := os.Getgroups()
	if err != nil {
		t.Fatal(err)
	}
	reaper := threads.NewReaper()
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { reaper.Run(ctx) })
	cfg := Config{
		Agent:   Agent{UID: os.Getuid(), GID: os.Getgid(), Groups: groups, Home: "/"},
		Env:     []string{"PATH=" + os.Getenv("PATH"), "BASE=1"},
		RunsDir: t.TempDir(), SpoolDir: t.TempDir(), GateDir: t.TempDir(), BootID: "boot",
		Grace: 200 * time.Millisecond, Reaper: reaper,
	}
	for _, f := range change {
		f(&cfg)
	}
	m := New(cfg)
	t.Cleanup(func() {
		ctx, stop := context.WithTimeout(context.Background(), 2*time.Minute)
		defer stop()
		if err := m.Close(ctx); err != nil {
			t.Errorf("close: %v", err)
		}
		cancel()
		wg.Wait()
	})
	return m
}

func sh(script string) wire.Spawn {
	return wire.Spawn{Argv: []string{"sh", "-c", script}, Stdio: wire.StdioPipes}
}

func output(t *testing.T, m *Table, id, stream string) string {
	t.Helper()
	l, err := m.Output(id, stream)
	if err != nil {
		t.Fatal(err)
	}
	var out []byte
	buf := make([]byte, 4096)
	for {
		n, err := l.Next(t.Context(), buf, int64(len(out)))
		out = append(out, buf[:n]...)
		if errors.Is(err, io.EOF) {
			return string(out)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func code(err error) wire.ErrCode {
	if e, ok := errors.AsType[*wire.Error](err); ok {
		return e.Code
	}
	return ""
}

func TestSpawnWaitForget(t *testing.T) {
	m := newTable(t)
	req := sh(`cat; echo "$BASE$OWN" >&2; cat "$1/f"; stat -c %a "$1" "$1/f"; umask; exit 9`)
	req.Argv = append(req.Argv, "sh", filepath.Join(m.cfg.RunsDir, "a"))
	req.Env = []string{"OWN=x", "OWN=2"}
	req.HasStdin, req.Spool, req.Files = true, true, []wire.File{{Name: "f", Size: 4}}
	info, err := m.Spawn(t.Context(), "a", req, Body{Stdin: []byte("in\n"), Files: [][]byte{[]byte("file")}})
	if err != nil || info.Pid == 0 || info.Started == 0 {
		t.Fatalf("%+v %v", info, err)
	}
	if got := output(t, m, "a", "out"); got != "in\nfile700\n600\n0022\n" {
		t.Errorf("stdout %q", got)
	}
	if got := output(t, m, "a", "err"); got != "12\n" {
		t.Errorf("stderr %q", got)
	}
	exit, err := m.Wait(t.Context(), "a")
	if err != nil || exit.Code != 9 || exit.Signal != "" {
		t.Fatalf("%+v %v", exit, err)
	}
	p, err := m.find("a")
	if err != nil {
		t.Fatal(err)
	}
	<-p.done
	data, err := os.ReadFile(m.spoolPath("a", wire.ExitSuffix))
	if err != nil {
		t.Fatal(err)
	}
	if rec, err := wire.ParseExitRecord("a", data); err != nil || rec.OutEnd != 20 || rec.ErrEnd != 3 || rec.Exit.Code != 9 || rec.BootID != "boot" {
		t.Fatalf("%+v %v", rec, err)
	}
	if err := m.Forget(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{m.cfg.RunsDir, m.cfg.SpoolDir} {
		if left, _ := os.ReadDir(dir); len(left) != 0 {
			t.Errorf("left in %s: %v", dir, left)
		}
	}
	if _, err := m.Wait(t.Context(), "a"); code(err) != wire.CodeNotFound {
		t.Errorf("wait for the forgotten: %v", err)
	}
}

// TestSameIDManyTimes has many callers start the same spawn at once.
func TestSameIDManyTimes(t *testing.T) {
	m := newTable(t)
	pids := make(chan int, 8)
	var wg sync.WaitGroup
	for range cap(pids) {
		wg.Go(func() {
			info, err := m.Spawn(t.Context(), "a", sh("sleep 100"), Body{})
			if err != nil {
				t.Error(err)
			}
			pids <- info.Pid
		})
	}
	wg.Wait()
	close(pids)
	first := <-pids
	for p := range pids {
		if p != first {
			t.Fatalf("pids %d and %d", first, p)
		}
	}
	if _, err := m.Spawn(t.Context(), "a", sh("sleep 101"), Body{}); code(err) != wire.CodeConflict {
		t.Fatalf("another request under the id: %v", err)
	}
	if err := m.Forget(t.Context(), "a"); code(err) != wire.CodeConflict {
		t.Fatalf("forget while it runs: %v", err)
	}
}

func TestStartErrorsLeaveNothing(t *testing.T) {
	// The test sets its own PATH. A folder in PATH that this user may not enter makes a
	// missing program look like a forbidden one, as in any shell.
	t.Setenv("PATH", "/usr/bin:/bin")
	m := newTable(t)
	noInterpreter := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(noInterpreter, []byte("#!/no/such\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	notExec := filepath.Join(t.TempDir(), "garbage")
	if err := os.WriteFile(notExec, []byte("\x7fELFgarbage"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		argv string
		dir  string
		want wire.ErrCode
	}{
		"not in PATH":    {"no-such-program", "/", wire.CodeNoProgram},
		"no file":        {"/no/such", "/", wire.CodeNoProgram},
		"no interpreter": {noInterpreter, "/", wire.CodeNoProgram},
		"garbage":        {notExec, "/", wire.CodeNotExec},
		"a directory":    {"/etc", "/", wire.CodeNotExec},
		"not executable": {"/etc/passwd", "/", wire.CodeNotExec},
		"no directory":   {"true", "/no/such", wire.CodeBadDir},
		"dir is a file":  {"true", "/etc/passwd", wire.CodeBadDir},
	} {
		req := wire.Spawn{Argv: []string{c.argv}, Dir: c.dir, Stdio: wire.StdioPipes, Spool: true, Files: []wire.File{{Name: "f", Size: 1}}}
		_, err := m.Spawn(t.Context(), "a", req, Body{Files: [][]byte{{1}}})
		if code(err) != c.want {
			t.Errorf("%s: %v", name, err)
		}
		p, ferr := m.find("a")
		if ferr == nil {
			<-p.done // the spawn is being dropped
		}
		for _, dir := range []string{m.cfg.RunsDir, m.cfg.SpoolDir} {
			if left, _ := os.ReadDir(dir); len(left) != 0 {
				t.Errorf("%s left in %s: %v", name, dir, left)
			}
		}
		until(t, "the id to be free", func() bool { return len(m.all()) == 0 })
	}
}

func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.After(time.Minute)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("waited for %s", what)
		}
	}
}

// alive reports whether a process is still there. On a busy machine its number may be
// another's by now, or a thread's.
func alive(p process) bool {
	now, ok := readProcess(p.pid)
	return ok && now.start == p.start
}

func TestKillWholeTree(t *testing.T) {
	m := newTable(t)
	pidFile := filepath.Join(t.TempDir(), "pid")
	req := sh(`trap '' TERM; (setsid sh -c 'trap "" TERM; echo $$ >` + pidFile + `; while :; do sleep 1; done' &) ; echo up; while :; do sleep 1; done`)
	if _, err := m.Spawn(t.Context(), "a", req, Body{}); err != nil {
		t.Fatal(err)
	}
	var pid int
	until(t, "the daemon", func() bool {
		data, _ := os.ReadFile(pidFile)
		_, err := fmt.Sscan(string(data), &pid)
		return err == nil
	})
	daemon, ok := readProcess(pid)
	if !ok {
		t.Fatal("the daemon does not run")
	}
	if err := m.Kill(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if alive(daemon) {
		t.Fatalf("left after Kill: %+v", daemon)
	}
	if e, err := m.Wait(t.Context(), "a"); err != nil || e.Signal != "SIGKILL" || e.Code != 137 {
		t.Fatalf("%+v %v", e, err)
	}
	if err := m.Kill(t.Context(), "a"); err != nil {
		t.Fatalf("kill of the ended: %v", err)
	}
}

// TestBackgroundDoesNotHoldOutput starts a daemon that keeps the pipe open. The output
// ends all the same, and Forget ends the daemon.
func TestBackgroundDoesNotHoldOutput(t *testing.T) {
	m := newTable(t)
	if _, err := m.Spawn(t.Context(), "a", sh(`sleep 1000 & echo $!`), Body{}); err != nil {
		t.Fatal(err)
	}
	out := output(t, m, "a", "out")
	var pid int
	if _, err := fmt.Sscan(out, &pid); err != nil {
		t.Fatalf("%q %v", out, err)
	}
	daemon, ok := readProcess(pid)
	if !ok {
		t.Fatal("the daemon does not run")
	}
	if err := m.Forget(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if alive(daemon) {
		t.Fatalf("left after Forget: %+v", daemon)
	}
}

// TestDetached: a process that a program let go, in a session of its own, is listed
// with its command until it ends, even when it outlives the program. Children of the
// program are not listed.
func TestDetached(t *testing.T) {
	m := newTable(t)
	dir := t.TempDir()
	fifo := filepath.Join(dir, "go on")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	req := sh("(setsid sleep 7000 &); (sleep 7001 &); setsid sleep 7002 & read x <'" + fifo + "'; kill $!")
	req.Spool = true
	if _, err := m.Spawn(t.Context(), "a", req, Body{}); err != nil {
		t.Fatal(err)
	}
	detached := func() string { return strings.Join(m.List()[0].Detached, "|") }
	until(t, "what was let go", func() bool { return detached() == "sleep 7000" })
	if err := os.WriteFile(fifo, []byte("x\n"), 0); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Wait(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	until(t, "what was let go", func() bool { return detached() == "sleep 7000" })
	if err := m.Kill(t.Context(), "a"); err != nil || detached() != "" {
		t.Errorf("after the end of all of it: %q, %v", detached(), err)
	}
}

func TestPauseAndForgetFullSpool(t *testing.T) {
	m := newTable(t, func(c *Config) { c.SpoolMax = 100_000 })
	req := sh(`while :; do echo 0123456789; done`)
	req.Spool = true
	if _, err := m.Spawn(t.Context(), "a", req, Body{}); err != nil {
		t.Fatal(err)
	}
	until(t, "the pause", func() bool { return m.List()[0].Paused == wire.PausedSpool })
	if err := m.Kill(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	got := output(t, m, "a", "out")
	if len(got) < 100_000 || len(got) > 100_000+3*wire.MaxChunk || strings.Trim(got, "0123456789\n") != "" {
		t.Fatalf("%d bytes", len(got))
	}
	if err := m.Forget(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
}

func TestOpenStdin(t *testing.T) {
	m := newTable(t)
	req := wire.Spawn{Argv: []string{"cat"}, Stdio: wire.StdioPipes, HasStdin: true, OpenStdin: true}
	if _, err := m.Spawn(t.Context(), "a", req, Body{Stdin: []byte("one ")}); err != nil {
		t.Fatal(err)
	}
	w, err := m.Input("a", "")
	if err != nil {
		t.Fatal(err)
	}
	until(t, "the first part", func() bool { return m.List()[0].OutEnd == 4 })
	if _, err := w.Write(t.Context(), []byte("two")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got := output(t, m, "a", "out"); got != "one two" {
		t.Fatalf("%q", got)
	}
	if _, err := m.Input("a", ""); code(err) != wire.CodeConflict {
		t.Fatalf("stdin twice: %v", err)
	}
}

// TestInputInTime: a program that gets nothing of its stdin in time is ended and forgotten,
// with its spool. One byte, or the end of its input, is in time.
func TestInputInTime(t *testing.T) {
	m := newTable(t)
	req := wire.Spawn{Argv: []string{"cat"}, Stdio: wire.StdioPipes, OpenStdin: true, StdinWithin: 3_600_000, Spool: true}
	info, err := m.Spawn(t.Context(), "fed", req, Body{})
	if err != nil || !info.InOpen || info.InEnd != 0 {
		t.Fatalf("%+v %v", info, err)
	}
	fed, err := m.Input("fed", "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fed.Write(t.Context(), []byte("one")); err != nil {
		t.Fatal(err)
	}
	req.StdinWithin = 1
	if _, err := m.Spawn(t.Context(), "late", req, Body{}); err != nil {
		t.Fatal(err)
	}
	until(t, "its end", func() bool { return len(m.List()) == 1 })
	if _, err := os.Stat(m.spoolPath("late", wire.OutSuffix)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its spool: %v", err)
	}
	if i := m.List()[0]; i.ID != "fed" || i.InEnd != 3 || !i.InOpen {
		t.Errorf("%+v", i)
	}
	if err := fed.Close(); err != nil {
		t.Fatal(err)
	}
	if got := output(t, m, "fed", "out"); got != "one" {
		t.Errorf("%q", got)
	}
	if i := m.List()[0]; i.InOpen || i.InEnd != 3 {
		t.Errorf("closed: %+v", i)
	}
}

// TestInputComesLate: bytes and the deadline cannot both count.
func TestInputComesLate(t *testing.T) {
	f := newFeed(nil)
	f.first.Store(late)
	if _, err := f.write([]byte("x")); !errors.Is(err, os.ErrClosed) {
		t.Error(err)
	}
}

func TestTerminal(t *testing.T) {
	m := newTable(t)
	req := wire.Spawn{Argv: []string{"sh", "-c", `stty size; read x; stty size; echo $TERM; test -t 2 && echo tty; read x`}, Stdio: wire.StdioPTY, Cols: 90, Rows: 20}
	if _, err := m.Spawn(t.Context(), "a", req, Body{}); err != nil {
		t.Fatal(err)
	}
	until(t, "the first size", func() bool { return m.List()[0].OutEnd > 0 })
	if err := m.Resize("a", 33, 11); err != nil {
		t.Fatal(err)
	}
	w, err := m.Input("a", "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(t.Context(), []byte("\n")); err != nil {
		t.Fatal(err)
	}
	// The program stays, because the last words of a terminal may be lost with its end.
	out := printed(t, m, "a", "tty\r\n")
	for _, want := range []string{"20 90", "11 33", "xterm-256color"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in %q", want, out)
		}
	}
	if _, err := m.Output("a", "err"); code(err) != wire.CodeInvalid {
		t.Errorf("stderr of a terminal: %v", err)
	}
}

func TestSignal(t *testing.T) {
	m := newTable(t)
	if _, err := m.Spawn(t.Context(), "a", sh(`trap 'exit 3' INT; echo up; while :; do sleep 0.01; done`), Body{}); err != nil {
		t.Fatal(err)
	}
	until(t, "the trap", func() bool { return m.List()[0].OutEnd > 0 })
	if err := m.Signal("a", "SIGNONE"); code(err) != wire.CodeInvalid {
		t.Fatalf("odd signal: %v", err)
	}
	if err := m.Signal("a", "SIGINT"); err != nil {
		t.Fatal(err)
	}
	if e, err := m.Wait(t.Context(), "a"); err != nil || e.Code != 3 {
		t.Fatalf("%+v %v", e, err)
	}
	if err := m.Signal("a", "SIGINT"); code(err) != wire.CodeEnded {
		t.Fatalf("signal to the ended: %v", err)
	}
}

func TestNoPrivilegeAndNoDescriptorLeft(t *testing.T) {
	m := newTable(t)
	if _, err := m.Spawn(t.Context(), "a", sh(`grep -E '^(Cap(Inh|Prm|Eff|Amb)|NoNewPrivs)' /proc/self/status; echo descriptors; ls /proc/$$/fd; true`), Body{}); err != nil {
		t.Fatal(err)
	}
	out := output(t, m, "a", "out")
	if strings.Count(out, "0000000000000000") != 4 || !strings.Contains(out, "NoNewPrivs:\t1") {
		t.Errorf("privileges:\n%s", out)
	}
	if _, fds, _ := strings.Cut(out, "descriptors\n"); fds != "0\n1\n2\n" {
		t.Errorf("descriptors: %q", fds)
	}
}

func TestLimitOfSpawns(t *testing.T) {
	m := newTable(t)
	m.mu.Lock()
	for i := range wire.MaxSpawns {
		p := newProc(m, fmt.Sprint(i), [32]byte{}, wire.Spawn{})
		close(p.ready)
		close(p.exited)
		close(p.gone)
		close(p.done)
		p.startErr = errors.New("never started")
		m.spawns[p.id] = p
	}
	m.mu.Unlock()
	if _, err := m.Spawn(t.Context(), "a", sh("true"), Body{}); code(err) != wire.CodeLimit {
		t.Fatal(err)
	}
	// A spawn that ended and has no spool makes room, since a host that is gone does
	// not forget it.
	m.mu.Lock()
	for i, p := range []string{"7", "8", "9"} {
		m.spawns[p].startErr = nil
		m.spawns[p].exit.Store(&wire.Exit{At: int64(100 - i)})
	}
	m.spawns["9"].req.Spool = true
	m.mu.Unlock()
	if _, err := m.Spawn(t.Context(), "a", sh("true"), Body{}); err != nil {
		t.Fatal(err)
	}
	m.mu.Lock()
	if m.spawns["8"] != nil || m.spawns["7"] == nil || m.spawns["9"] == nil || len(m.spawns) != wire.MaxSpawns {
		t.Error("not the one that ended first")
	}
	ours := m.spawns["a"]
	clear(m.spawns)
	m.spawns["a"] = ours
	m.mu.Unlock()
}

func BenchmarkStart(b *testing.B) {
	groups, _ := os.Getgroups()
	reaper := threads.NewReaper()
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { reaper.Run(ctx) })
	m := New(Config{Agent: Agent{UID: os.Getuid(), GID: os.Getgid(), Groups: groups, Home: "/"},
		Env: []string{"PATH=/usr/bin:/bin"}, RunsDir: b.TempDir(), SpoolDir: b.TempDir(), Reaper: reaper})
	for b.Loop() {
		if _, err := m.Spawn(b.Context(), "a", wire.Spawn{Argv: []string{"true"}, Stdio: wire.StdioPipes}, Body{}); err != nil {
			b.Fatal(err)
		}
		if _, err := m.Wait(b.Context(), "a"); err != nil {
			b.Fatal(err)
		}
		if err := m.Forget(b.Context(), "a"); err != nil {
			b.Fatal(err)
		}
	}
	_ = m.Close(context.Background())
	cancel()
	wg.Wait()
}
