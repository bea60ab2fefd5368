//go:build linux

package filter

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

func control[T any](fd int, request uintptr, arg *T) unix.Errno {
	_, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), request, uintptr(unsafe.Pointer(arg)))
	return e
}

// children are what this binary does where childVariable says so.
var children = map[string]func() error{
	"status": func() error {
		text, err := os.ReadFile("/proc/self/status")
		fmt.Print(string(text))
		return err
	},
	"execute-static": func() error { return execute(Static, false) },
	"execute-agent":  func() error { return execute(Agent, false) },
	"unlocked":       func() error { return execute(Static, true) },
	"probe": func() error {
		if err := confined(Agent); err != nil {
			return err
		}
		return Probe()
	},
	"probe-static": func() error {
		if err := confined(Static); err != nil {
			return err
		}
		if err := Probe(); !errors.Is(err, ErrProbe) {
			return fmt.Errorf("a probe without a supervisor gave %v", err)
		}
		return nil
	},
	"again":             again,
	"privileged":        privileged,
	"opens-agent":       func() error { return opens(Agent) },
	"opens-agent-reads": func() error { return opens(AgentReads) },
	"calls-none":        func() error { return calls(-1) },
	"calls-agent":       func() error { return calls(Agent) },
	"calls-static":      func() error { return calls(Static) },
	"int80-none":        func() error { return foreign(-1, int80) },
	"int80-agent":       func() error { return foreign(Agent, int80) },
	"int80-static":      func() error { return foreign(Static, int80) },
	"x32-none":          func() error { return foreign(-1, x32) },
	"x32-agent":         func() error { return foreign(Agent, x32) },
	"x32-static":        func() error { return foreign(Static, x32) },
	"fence":             func() error { return fenced(true) },
	"fence-none":        func() error { return fenced(false) },
	"paths":             pathCalls,
}

// execute installs and then prints its status from another program. With elsewhere the
// filter goes on another thread than the one that executes.
func execute(v Variant, elsewhere bool) error {
	if !elsewhere {
		if err := confined(v); err != nil {
			return err
		}
	} else {
		done := make(chan error)
		go func() {
			runtime.LockOSThread() // and never given back, so the thread lives until the exec
			done <- confined(v)
			select {}
		}()
		if err := <-done; err != nil {
			return err
		}
	}
	return syscall.Exec("/proc/self/exe", []string{"status"}, []string{childVariable + "=status"})
}

// again tries a second listener, and a filter without one.
func again() error {
	if err := confined(Agent); err != nil {
		return err
	}
	if _, err := Install(Agent); !errors.Is(err, unix.EPERM) {
		return fmt.Errorf("a second listener: %w", err)
	}
	if _, err := Install(Static); err != nil {
		return fmt.Errorf("a filter without a listener: %w", err)
	}
	return nil
}

func privileged() error {
	if _, err := Install(Agent); !errors.Is(err, ErrPrivileges) {
		return fmt.Errorf("without no_new_privs: %w", err)
	}
	if _, err := installed(Variant(7)); err == nil {
		return errors.New("there is no variant 7")
	}
	return ready(nil)
}

// opens makes one open of each kind; the supervisor in the parent lists those it saw.
func opens(v Variant) error {
	if err := confined(v); err != nil {
		return err
	}
	for _, flags := range []int{unix.O_PATH, unix.O_RDONLY, unix.O_WRONLY, unix.O_ACCMODE} {
		fd, err := unix.Openat(unix.AT_FDCWD, "/dev/null", flags|unix.O_CLOEXEC, 0)
		if err != nil {
			return fmt.Errorf("open with %#o: %w", flags, err)
		}
		_ = unix.Close(fd)
		fmt.Printf("%#o\n", flags)
	}
	return nil
}

var errAbsent = errors.New("this kernel has no such way to call it")

// foreign makes a call in another way than a program of this architecture does.
func foreign(v Variant, way func() error) error {
	if v >= 0 {
		if err := confined(v); err != nil {
			return err
		}
	} else if err := ready(nil); err != nil {
		return err
	}
	return way()
}

func TestFilterSurvivesExecve(t *testing.T) {
	base, err := Filters(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"execute-static", "execute-agent"} {
		f := start(t, name)
		if err := Attest(f.tid, base+1); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := Attest(f.tid, base+2); !errors.Is(err, ErrAttest) {
			t.Errorf("%s: attested one filter more than there is: %v", name, err)
		}
		out, seen, _ := f.finish(t)
		for _, want := range []string{"Seccomp:\t2\n", "NoNewPrivs:\t1\n", fmt.Sprintf("Seccomp_filters:\t%d\n", base+1)} {
			if !strings.Contains(out, want) {
				t.Errorf("%s: the program's status lacks %q:\n%s", name, want, out)
			}
		}
		if held := slices.Contains(seen, "execve"); held != (name == "execute-agent") {
			t.Errorf("%s: held in %v", name, seen)
		}
	}
}

// TestUnlockedGoroutineIsBare keeps an experiment: a filter on another thread than the
// one that executes is lost without an error, and Attest is what notices.
func TestUnlockedGoroutineIsBare(t *testing.T) {
	base, err := Filters(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	f := start(t, "unlocked")
	if err := Attest(f.cmd.Process.Pid, base+1); !errors.Is(err, ErrAttest) {
		t.Errorf("attested a thread without the filter: %v", err)
	}
	if err := Attest(f.tid, base+1); err != nil {
		t.Errorf("the other thread has it: %v", err)
	}
	out, _, _ := f.finish(t)
	if !strings.Contains(out, fmt.Sprintf("Seccomp_filters:\t%d\n", base)) {
		t.Errorf("the program was expected to have only the filters of this test:\n%s", out)
	}
}

func TestProbe(t *testing.T) {
	for name, want := range map[string][]string{"probe": {"unlinkat"}, "probe-static": nil} {
		out, seen, end := start(t, name).finish(t)
		if end.ExitStatus() != 0 || !slices.Equal(seen, want) {
			t.Errorf("%s: %s; held in %v", name, out, seen)
		}
	}
}

func TestInstallRefuses(t *testing.T) {
	for _, name := range []string{"again", "privileged"} {
		if out, _, end := start(t, name).finish(t); end.ExitStatus() != 0 {
			t.Errorf("%s: %s", name, out)
		}
	}
}

func TestOpens(t *testing.T) {
	for name, want := range map[string]int{"opens-agent": 2, "opens-agent-reads": 3} {
		out, seen, end := start(t, name).finish(t)
		if end.ExitStatus() != 0 {
			t.Errorf("%s: %s", name, out)
		}
		if seen = slices.DeleteFunc(seen, func(n string) bool { return n != "openat" }); len(seen) != want {
			t.Errorf("%s: held in %d opens, want %d", name, len(seen), want)
		}
	}
}

func TestForeignCallsKill(t *testing.T) {
	for _, way := range foreignWays {
		// Without a filter it succeeds, or the test would show nothing.
		out, _, end := start(t, way+"-none").finish(t)
		if strings.Contains(out, errAbsent.Error()) {
			t.Logf("%s: %v", way, errAbsent)
			continue
		}
		if end.ExitStatus() != 0 {
			t.Errorf("%s without a filter ended with %#x:\n%s", way, end, out)
		}
		for _, v := range []string{"agent", "static"} {
			out, _, end := start(t, way+"-"+v).finish(t)
			if !end.Signaled() || end.Signal() != unix.SIGSYS {
				t.Errorf("%s under %s ended with %#x:\n%s", way, v, end, out)
			}
		}
	}
}
