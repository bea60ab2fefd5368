//go:build linux

package supervise

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"loop/backend/policy"
	"loop/backend/wire"
)

func init() {
	acts["tracing"] = actTracing
	acts["attach"] = func(args []string) { reach(args[0]) }
	acts["waiting"] = func([]string) { _ = unix.Pause() }
	acts["traceme"] = func([]string) { fmt.Println(name(ptrace(unix.PTRACE_TRACEME, 0, 0, 0))) }
	acts["reaching"] = func([]string) { // as itself, then as an agent
		program := must(os.ReadFile("/proc/self/exe"))
		_ = os.WriteFile("cli", append(program, 'x'), 0o755) // a copy would make this one an agent's, too
		other := exec.Command("/bin/sleep", "1000")
		_ = other.Start()
		for _, program := range []string{"/proc/self/exe", "./cli"} {
			cmd := exec.Command(program, "attach", strconv.Itoa(other.Process.Pid))
			cmd.Stdout = os.Stdout
			_ = cmd.Run()
		}
		_ = other.Process.Kill()
		_ = other.Wait()
	}
	acts["taken"] = actTaken
}

func ptrace(request, pid int, addr, data uintptr) error {
	if _, _, e := unix.Syscall6(unix.SYS_PTRACE, uintptr(request), uintptr(pid), addr, data, 0, 0); e != 0 {
		return e
	}
	return nil
}

// reach tries what a debugger does with a process.
func reach(pid string) {
	runtime.LockOSThread()
	n, _ := strconv.Atoi(pid)
	fmt.Println("seize", name(ptrace(unix.PTRACE_SEIZE, n, 0, 0)))
	fmt.Println("attach", name(ptrace(unix.PTRACE_ATTACH, n, 0, 0)))
	buf := make([]byte, 1)
	_, err := unix.ProcessVMReadv(n, []unix.Iovec{{Base: &buf[0], Len: 1}}, []unix.RemoteIovec{{Base: 1 << 12, Len: 1}}, 0)
	fmt.Println("read", name(err))
	_, err = unix.ProcessVMWritev(n, []unix.Iovec{{Base: &buf[0], Len: 1}}, []unix.RemoteIovec{{Base: 1 << 12, Len: 1}}, 0)
	fmt.Println("write", name(err))
}

// actTracing starts programs as debuggers do.
func actTracing(args []string) {
	runtime.LockOSThread()
	for _, program := range args {
		cmd := exec.Command(program)
		cmd.Stderr = os.Stdout
		cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
		if err := cmd.Start(); err != nil {
			fmt.Println(filepath.Base(program), name(err))
			continue
		}
		var ws unix.WaitStatus
		for err := error(nil); err == nil && !ws.Exited() && !ws.Signaled(); {
			if _, err = unix.Wait4(cmd.Process.Pid, &ws, 0, nil); err == nil && ws.Stopped() {
				err = ptrace(unix.PTRACE_CONT, cmd.Process.Pid, 0, 0)
			}
		}
		fmt.Println(filepath.Base(program), "ran", ws.ExitStatus())
	}
}

// TestTracedPrograms: what a debugger starts is judged by its name, and runs unless a
// person would have to be asked, whose answer could not be held to what then runs.
// Without the setting nothing is traced.
func TestTracedPrograms(t *testing.T) {
	if !keeper(t) {
		return
	}
	list := []rule{{"exec", "*/false", policy.Deny}, {"exec", "*/ls", policy.Approve}}
	allow := func(context.Context, wire.Approval) wire.Answer { return wire.Answer{Allow: true} }
	for want, judge := range map[string]Judge{
		"true EPERM\nfalse EPERM\nls EPERM\n":  &rules{list: list},
		"true ran 0\nfalse EACCES\nls EPERM\n": &debugRules{rules{list: list}},
	} {
		p := traceAsking(t, judge, allow, "tracing", "/bin/true", "/bin/false", "/bin/ls")
		if got := p.wait(t); withoutNotes(got) != want || strings.Contains(want, "ran") && !strings.Contains(got, "about which a rule asks") {
			t.Errorf("got %q", got)
		}
	}
}

// withoutNotes leaves out what a program is told of denials.
func withoutNotes(out string) string {
	var b strings.Builder
	for line := range strings.Lines(out) {
		if !strings.HasPrefix(line, "loop: ") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// TestDebuggersStayInTheirSpawn: not the supervisor, nor what it is a child of, nor a
// program of another spawn of the same user is reached.
func TestDebuggersStayInTheirSpawn(t *testing.T) {
	if !keeper(t) {
		return
	}
	// Both of the agent's user, without a capability, and open to a debugger of their own.
	outside := launch(t, "none", "waiting")
	outside.let(t)
	other := start(t, Options{Judge: &debugRules{}}, "waiting")
	for _, pid := range []int{outside.cmd.Process.Pid, other.cmd.Process.Pid} {
		until(t, func() bool {
			line, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
			return strings.Contains(string(line), roleVar+"=agent")
		})
	}
	for what, pid := range map[string]int{
		"the supervisor": os.Getpid(), "its parent": os.Getppid(), "another spawn": other.cmd.Process.Pid, "no spawn": outside.cmd.Process.Pid,
	} {
		got := start(t, Options{Judge: &debugRules{}}, "attach", strconv.Itoa(pid)).wait(t)
		if got != "seize EPERM\nattach EPERM\nread EPERM\nwrite EPERM\n" {
			t.Errorf("%s: %s", what, got)
		}
	}
}

// TestAgentDebugsNothingOfAPerson: an agent that a person starts is behind the same fence as
// programs that may do more.
func TestAgentDebugsNothingOfAPerson(t *testing.T) {
	if !keeper(t) {
		return
	}
	j := &debugStacked{stacked{files: []string{os.Getenv(dirVar) + "/cli"}, stricter: &debugRules{}}}
	want := "seize ok\nattach EPERM\nread EFAULT\nwrite EFAULT\n" + "seize EPERM\nattach EPERM\nread EPERM\nwrite EPERM\n"
	if got := trace(t, j, "reaching").wait(t); got != want {
		t.Errorf("got %s", got)
	}
}

type debugStacked struct{ stacked }

func (*debugStacked) Debuggers() bool { return true }

// TestSupervisorIsNoDebugger: a program whose parent is the supervisor does not make that
// its debugger, which the kernel would take from any fence's inside.
func TestSupervisorIsNoDebugger(t *testing.T) {
	if !keeper(t) {
		return
	}
	if got := start(t, Options{Judge: &debugRules{}}, "traceme").wait(t); got != "EPERM\n" {
		t.Errorf("got %s", got)
	}
}

// actTaken traces a program until it may not any more.
func actTaken([]string) {
	runtime.LockOSThread()
	cmd := exec.Command("/bin/sleep", "1000")
	_ = cmd.Start()
	pid := cmd.Process.Pid
	fmt.Println("seize", name(ptrace(unix.PTRACE_SEIZE, pid, 0, 0)))
	fmt.Println("interrupt", name(ptrace(unix.PTRACE_INTERRUPT, pid, 0, 0)))
	var ws unix.WaitStatus
	_, _ = unix.Wait4(pid, &ws, unix.WALL, nil)
	_ = os.Mkdir("off", 0o755) // the keeper takes it back
	fmt.Println("continue", name(ptrace(unix.PTRACE_CONT, pid, 0, 0)))
	fmt.Println("detach", name(ptrace(unix.PTRACE_DETACH, pid, 0, 0)))
	_ = cmd.Process.Kill()
	fmt.Println("seize", name(ptrace(unix.PTRACE_SEIZE, pid, 0, 0)))
	_ = cmd.Wait()
}

// debugRules is a Judge under which programs may debug each other.
type debugRules struct{ rules }

func (*debugRules) Debuggers() bool { return true }

// untilFolder allows debugging until a folder is made.
type untilFolder struct {
	debugRules
	made func()
}

func (j *untilFolder) Folder(path string) policy.Verdict {
	if filepath.Base(path) == "off" {
		j.made()
	}
	return j.rules.Folder(path)
}

// TestDebuggingIsTakenBack at once, and what is traced can be let go.
func TestDebuggingIsTakenBack(t *testing.T) {
	if !keeper(t) {
		return
	}
	var p *supervised
	ready := make(chan struct{})
	p = start(t, Options{Judge: &untilFolder{made: func() { <-ready; p.SetJudge(&rules{}, 2) }}}, "taken")
	close(ready)
	if got := p.wait(t); got != "seize ok\ninterrupt ok\ncontinue EPERM\ndetach ok\nseize EPERM\n" {
		t.Errorf("got %s", got)
	}
}
