//go:build linux

package supervise

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"loop/backend/policy"
)

func init() {
	acts["hello"] = func(args []string) { fmt.Println("hello", strings.Join(args, " "), os.Getpid() == unix.Gettid()) }
	acts["threads"] = func([]string) { // every thread but the first executes at once
		pid := os.Getpid()
		var ready, all sync.WaitGroup
		ready.Add(8)
		for range 8 {
			all.Go(func() {
				runtime.LockOSThread()
				ready.Done()
				ready.Wait()
				if unix.Gettid() == pid {
					return
				}
				argv := []*byte{mustBytes("hello"), mustBytes("hello"), mustBytes("thread"), nil}
				env := []*byte{mustBytes(roleVar + "=agent"), nil}
				_, _, _ = unix.RawSyscall(unix.SYS_EXECVE, uintptr(unsafe.Pointer(mustBytes("/proc/self/exe"))),
					uintptr(unsafe.Pointer(&argv[0])), uintptr(unsafe.Pointer(&env[0])))
			})
		}
		all.Wait()
		select {}
	}
	acts["fails"] = func(args []string) { // calls that fail, under a storm of signals
		_ = os.WriteFile("text", []byte("no program\n"), 0o755)
		_ = os.WriteFile("closed", []byte("#!/bin/sh\n"), 0o644)
		_ = os.WriteFile("lost", []byte("#!/nowhere/to/be/found\n"), 0o755)
		_ = os.WriteFile("round", []byte("#!"+must(filepath.Abs("round"))+"\n"), 0o755)
		var heard atomic.Int64
		sig := make(chan os.Signal, 100)
		signal.Notify(sig, unix.SIGALRM)
		go func() {
			for range sig {
				heard.Add(1)
			}
		}()
		_, _ = unix.Setitimer(unix.ITIMER_REAL, unix.Itimerval{Interval: unix.Timeval{Usec: 500}, Value: unix.Timeval{Usec: 500}})
		n, _ := strconv.Atoi(args[0])
		big := []string{"x", strings.Repeat("a", 200<<10)}
		many := slices.Repeat([]string{strings.Repeat("a", 100<<10)}, 40)
		for range n {
			for _, c := range []struct {
				path string
				argv []string
				want error
			}{
				{"nowhere", []string{"x"}, unix.ENOENT}, {"text", []string{"x"}, unix.ENOEXEC}, {"closed", []string{"x"}, unix.EACCES},
				{"lost", []string{"x"}, unix.ENOENT}, {"round", []string{"x"}, unix.ELOOP}, {".", []string{"x"}, unix.EACCES},
				{"/bin/true", big, unix.E2BIG}, {"/bin/true", many, unix.E2BIG}, {"", []string{"x"}, unix.ENOENT},
			} {
				if err := syscall.Exec(c.path, c.argv, nil); !errors.Is(err, c.want) {
					fmt.Println(c.path, len(c.argv), name(err), "and not", name(c.want))
				}
			}
		}
		fmt.Println("heard", heard.Load() > 0)
	}
	acts["failing"] = func(args []string) { // fails until it is killed
		_ = os.WriteFile("text", []byte("no program\n"), 0o755)
		for {
			_ = syscall.Exec("text", []string{"x"}, nil)
		}
	}
	acts["jobs"] = func(args []string) { // stops and continues a child that is in the middle of calls
		n, _ := strconv.Atoi(args[0])
		cmd := exec.Command("/proc/self/exe", "failing")
		// A group of its own has a parent outside. A group that has none, as when these tests
		// are started with setsid, is not stopped by SIGTSTP.
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		_ = cmd.Start()
		pid := cmd.Process.Pid
		for i := range n {
			sig := []syscall.Signal{unix.SIGSTOP, unix.SIGTSTP}[i%2]
			_ = unix.Kill(pid, sig)
			var ws unix.WaitStatus
			if _, err := unix.Wait4(pid, &ws, unix.WUNTRACED, nil); err != nil || !ws.Stopped() || ws.StopSignal() != sig {
				fmt.Println("stop", err, ws)
			}
			_ = unix.Kill(pid, unix.SIGCONT)
			if _, err := unix.Wait4(pid, &ws, unix.WCONTINUED, nil); err != nil || !ws.Continued() {
				fmt.Println("continue", err, ws)
			}
		}
		_ = unix.Kill(pid, unix.SIGKILL)
		var ws unix.WaitStatus
		_, err := unix.Wait4(pid, &ws, 0, nil)
		fmt.Println("end", name(err), ws.Signaled())
	}
	acts["deaths"] = func(args []string) { // children that are killed while they execute
		n, _ := strconv.Atoi(args[0])
		for i := range n {
			cmd := exec.Command("/proc/self/exe", "failing")
			_ = cmd.Start()
			for range i % 7 {
				runtime.Gosched()
			}
			_ = cmd.Process.Kill()
			if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != -1 {
				fmt.Println("ended with", err)
			}
		}
		fmt.Println("done")
	}
	acts["anonymous"] = func([]string) {
		data := must(os.ReadFile("/bin/true"))
		mem := must(unix.MemfdCreate("code", 0))
		_, _ = unix.Write(mem, data)
		copyFile("/bin/true", "there")
		named := must(unix.Open("there", unix.O_RDONLY, 0))
		copyFile("/bin/true", "away")
		gone := must(unix.Open("away", unix.O_RDONLY, 0))
		_ = os.Remove("away")
		try := func(what, path string) {
			fmt.Println(what, name(exec.Command(path).Run()))
		}
		for what, fd := range map[string]int{"memory": mem, "deleted": gone, "named": named} {
			_, _ = unix.FcntlInt(uintptr(fd), unix.F_SETFD, 0)
			try(what+" in proc", "/proc/self/fd/"+strconv.Itoa(fd))
			empty, argv := mustBytes(""), []*byte{mustBytes("true"), nil}
			if what != "named" { // it would replace this program
				_, _, e := unix.RawSyscall6(unix.SYS_EXECVEAT, uintptr(fd), uintptr(unsafe.Pointer(empty)), uintptr(unsafe.Pointer(&argv[0])), 0, unix.AT_EMPTY_PATH, 0)
				fmt.Println(what+" itself", name(e))
			}
		}
	}
	acts["shell"] = func(args []string) {
		cmd := exec.Command("/bin/bash", "-c", args[0])
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stdout
		fmt.Println("ended", name(cmd.Run()))
	}
	acts["terminal"] = func([]string) { // Ctrl-Z and fg in an interactive shell
		master := must(os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0))
		n := must(unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN))
		if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
			panic(err)
		}
		slave := must(os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0))
		cmd := exec.Command("/bin/bash", "--norc", "--noprofile", "-i")
		cmd.Env = []string{"PS1=ready>", "PATH=/usr/bin:/bin", "TERM=dumb"}
		cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
		if err := cmd.Start(); err != nil {
			panic(err)
		}
		_ = slave.Close()
		var seen []byte
		for _, step := range []struct{ until, write string }{
			{"ready>", "sh -c 'echo ru''ns; exec cat'\n"}, {"runs\r\n", "more\n"}, {"more\r\nmore", "\x1a"},
			{"Stopped", ""}, {"ready>", "fg\n"}, {"cat'", "again\n"}, {"again\r\nagain", "\x03"}, {"ready>", "exit\n"},
		} {
			for !strings.Contains(string(seen), step.until) {
				buf := make([]byte, 4096)
				n, err := master.Read(buf)
				if err != nil {
					fmt.Printf("%v before %q in %q\n", err, step.until, seen)
					return
				}
				seen = append(seen, buf[:n]...)
			}
			_, seen, _ = bytes.Cut(seen, []byte(step.until))
			_, _ = master.WriteString(step.write)
		}
		_ = cmd.Wait()
		fmt.Println("sees the job run, stop, go on and end")
	}
	acts["time"] = func(args []string) { // how often; prints the durations
		n, _ := strconv.Atoi(args[0])
		took := make([]time.Duration, n)
		for i := range took {
			from := time.Now()
			if err := exec.Command("/bin/true").Run(); err != nil {
				fmt.Println(err)
			}
			took[i] = time.Since(from)
		}
		printJSON(took)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestExecFlow: what a program sees of its calls is as if nobody had looked.
func TestExecFlow(t *testing.T) {
	if !keeper(t) {
		return
	}
	for _, c := range []struct {
		act  []string
		want string
	}{
		{[]string{"threads"}, "hello thread true\n"},
		{[]string{"fails", "20"}, "heard true\n"},
		{[]string{"jobs", "60"}, "end ok true\n"},
		{[]string{"deaths", "60"}, "done\n"},
		{[]string{"shell", "echo a | cat | tr a b; (exit 3); echo $?; f=$(printf x | wc -c); echo $f; for i in 1 2 3; do /bin/true & done; wait; echo all"}, "b\n3\n1\nall\nended ok\n"},
		{[]string{"shell", "exec 2>/dev/null; set -m; sh -c 'kill -TSTP $$; exec /bin/echo back' & wait %1; jobs | grep -c Stopped; kill -CONT %1; wait %1; echo over"}, "1\nback\nover\nended ok\n"},
		{[]string{"terminal"}, "sees the job run, stop, go on and end\n"},
	} {
		got := trace(t, &rules{}, c.act[0], c.act[1:]...).wait(t)
		if got != c.want {
			t.Errorf("%s: got %q", c.act[0], got)
		}
	}
}

// TestManyThreadsExec: a process whose threads execute at the same time does not make
// the tracer wait for itself.
func TestManyThreadsExec(t *testing.T) {
	if !keeper(t) {
		return
	}
	for range 20 {
		if got := trace(t, &rules{}, "threads").wait(t); got != "hello thread true\n" {
			t.Errorf("got %q", got)
		}
	}
}

// TestAnonymousPrograms (A8, A9): what no path names is refused.
func TestAnonymousPrograms(t *testing.T) {
	if !keeper(t) {
		return
	}
	p := trace(t, &rules{}, "anonymous")
	got := strings.Split(strings.TrimSpace(p.wait(t)), "\n")
	slices.Sort(got)
	want := []string{"deleted in proc EACCES", "deleted itself EACCES", "memory in proc EACCES", "memory itself EACCES", "named in proc ok"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if !strings.Contains(p.errs.String(), "only in memory") {
		t.Errorf("the program was told %q", p.errs.String())
	}
}

// TestInterpretersAreJudged (A10, A13): of a script, what runs it as well, and what that
// is told.
func TestInterpretersAreJudged(t *testing.T) {
	if !keeper(t) {
		return
	}
	dir := os.Getenv(dirVar)
	for _, denied := range []string{"none", "/in", "/middle", "/outer"} {
		script := "mkdir -p d; cp /bin/cat in; printf '#!%s/in -n\\nmiddle\\n' " + dir + " >middle; printf '#!%s/middle x y \\nouter\\n' " + dir + " >outer; chmod +x middle outer; ./outer 2>&1"
		got := trace(t, &rules{list: []rule{{"exec", "*" + dir + denied, policy.Deny}}}, "shell", script).wait(t)
		ran := strings.Contains(got, "\touter") || strings.Contains(got, "     ")
		if ran != (denied == "none") {
			t.Errorf("%s denied: %q", denied, got)
		}
	}
}

// BenchmarkExec is the whole of starting /bin/true and waiting for it.
func BenchmarkExec(b *testing.B) {
	if !keeper(b) {
		return
	}
	const n = 500
	runs := map[string]func() string{
		"none": func() string {
			p := launch(b, "none", "time", strconv.Itoa(n))
			p.let(b)
			return p.wait(b)
		},
		"continue": func() string { return start(b, Options{Judge: &freeExec{}}, "time", strconv.Itoa(n)).wait(b) },
		"judged":   func() string { return start(b, Options{}, "time", strconv.Itoa(n)).wait(b) },
		"stop":     func() string { return trace(b, &rules{}, "time", strconv.Itoa(n)).wait(b) },
	}
	for _, name := range []string{"none", "continue", "judged", "stop"} {
		var took []time.Duration
		if err := json.Unmarshal([]byte(runs[name]()), &took); err != nil {
			b.Fatal(err)
		}
		slices.Sort(took)
		b.Logf("%-8s p50 %v p99 %v", name, took[n/2], took[n*99/100])
	}
}
