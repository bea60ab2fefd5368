package supervise

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"loop/backend/policy"
	"loop/backend/wire"
)

// Requests of ptrace that package unix does not name.
const (
	ptraceSysemu         = 31
	ptraceSetSyscallInfo = 0x4212 // Linux 6.16
	ptraceGetFilter      = 0x420c // PTRACE_SECCOMP_GET_FILTER
	optionSuspend        = 1 << 21
	syscallStop          = unix.SIGTRAP | 0x80 // with PTRACE_O_TRACESYSGOOD
)

func init() {
	acts["victim"] = actVictim
	acts["tricks"] = actTricks
	acts["pokes"] = actPokes
	acts["storm"] = actStorm
}

// actVictim makes one harmless call with arguments that would open a file to write, and
// says how it ended. “trace” has it stop in a filter of its own there.
func actVictim(args []string) {
	runtime.LockOSThread()
	path := make([]byte, 4096)
	copy(path, args[1])
	if args[0] == "trace" {
		prog := []unix.SockFilter{
			{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0},
			{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: unix.SYS_GETPPID},
			{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_TRACE},
			{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
		}
		fprog := unix.SockFprog{Len: uint16(len(prog)), Filter: &prog[0]}
		if _, _, e := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&fprog))); e != 0 {
			panic(e)
		}
	}
	number := uintptr(unix.SYS_GETPPID)
	if args[0] == "open" {
		number = unix.SYS_OPEN
	}
	fmt.Println(unix.Gettid(), uintptr(unsafe.Pointer(&path[0])))
	_, _ = os.Stdin.Read(make([]byte, 1))
	_, _, e := unix.Syscall(number, uintptr(unsafe.Pointer(&path[0])), unix.O_CREAT|unix.O_WRONLY, 0o644)
	fmt.Println("result", unix.ErrnoName(e))
}

// victim is a program that is about to make a call, and its thread.
type victim struct {
	cmd  *exec.Cmd
	tid  int
	path uintptr
	in   interface{ Write([]byte) (int, error) }
	out  *bufio.Scanner
}

func newVictim(kind, path string) *victim {
	v := &victim{cmd: exec.Command("/proc/self/exe", "victim", kind, path)}
	v.cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	v.in = must(v.cmd.StdinPipe())
	v.out = bufio.NewScanner(must(v.cmd.StdoutPipe()))
	if err := v.cmd.Start(); err != nil {
		panic(err)
	}
	v.out.Scan()
	if _, err := fmt.Sscan(v.out.Text(), &v.tid, &v.path); err != nil {
		panic(err)
	}
	return v
}

// result lets everything take its course.
func (v *victim) result() string {
	v.out.Scan()
	text := strings.TrimPrefix(v.out.Text(), "result ")
	_ = v.cmd.Wait()
	return text
}

// halt seizes the thread and has it stop.
func (v *victim) halt(options uintptr) {
	if err := ptrace(unix.PTRACE_SEIZE, v.tid, 0, options); err != nil {
		panic(err)
	}
	if err := ptrace(unix.PTRACE_INTERRUPT, v.tid, 0, 0); err != nil {
		panic(err)
	}
	v.stop()
}

func (v *victim) stop() unix.WaitStatus {
	var ws unix.WaitStatus
	for {
		if _, err := unix.Wait4(v.tid, &ws, unix.WALL, nil); err != unix.EINTR {
			return ws
		}
	}
}

// reach goes on with a request until the harmless call is about to be made, before the
// filter or in it.
func (v *victim) reach(request int) {
	_, _ = v.in.Write([]byte{0})
	sig := uintptr(0)
	for {
		if err := ptrace(request, v.tid, 0, sig); err != nil {
			panic(err)
		}
		ws := v.stop()
		sig = 0
		var regs unix.PtraceRegs
		_ = unix.PtraceGetRegs(v.tid, &regs)
		switch {
		case !ws.Stopped():
			panic(fmt.Sprintf("ended with %x", int(ws)))
		case (ws.StopSignal() == syscallStop || int(ws)>>16 == unix.PTRACE_EVENT_SECCOMP) && regs.Orig_rax == unix.SYS_GETPPID:
			return
		case int(ws)>>16 == 0 && ws.StopSignal() != syscallStop:
			sig = uintptr(ws.StopSignal())
		}
	}
}

// again lets the call end, and goes on with a request until it is made once more.
func (v *victim) again(request int) {
	_ = ptrace(unix.PTRACE_SYSCALL, v.tid, 0, 0)
	v.stop()
	var regs unix.PtraceRegs
	_ = unix.PtraceGetRegs(v.tid, &regs)
	regs.Rip -= 2 // the instruction “syscall”
	regs.Rax = unix.SYS_GETPPID
	_ = unix.PtraceSetRegs(v.tid, &regs)
	if err := ptrace(request, v.tid, 0, 0); err != nil {
		panic(err)
	}
	v.stop()
}

// opens makes the call one that opens the file.
func (v *victim) opens() {
	var regs unix.PtraceRegs
	if err := unix.PtraceGetRegs(v.tid, &regs); err != nil {
		panic(err)
	}
	regs.Orig_rax = unix.SYS_OPEN
	if err := unix.PtraceSetRegs(v.tid, &regs); err != nil {
		panic(err)
	}
}

// opensByInfo is opens by the newer request, which older kernels do not know.
func (v *victim) opensByInfo() error {
	info := make([]byte, 88) // struct ptrace_syscall_info
	size := uintptr(len(info))
	if _, _, e := unix.Syscall6(unix.SYS_PTRACE, 0x420e, uintptr(v.tid), size, uintptr(unsafe.Pointer(&info[0])), 0, 0); e != 0 {
		return e
	}
	*(*uint64)(unsafe.Pointer(&info[24])) = unix.SYS_OPEN
	return ptrace(ptraceSetSyscallInfo, v.tid, size, uintptr(unsafe.Pointer(&info[0])))
}

// actTricks has victims open files by calls that a debugger makes of harmless ones.
func actTricks(args []string) {
	runtime.LockOSThread()
	for _, file := range args {
		say := func(trick, end string) {
			_, err := os.Lstat(file)
			fmt.Println(trick, filepath.Base(file), end, name(err))
			_ = os.Remove(file)
		}
		v := newVictim("plain", file)
		v.halt(unix.PTRACE_O_TRACESYSGOOD)
		v.reach(unix.PTRACE_SYSCALL)
		v.opens()
		_ = ptrace(unix.PTRACE_DETACH, v.tid, 0, 0)
		say("registers", v.result())

		v = newVictim("plain", file)
		v.halt(unix.PTRACE_O_TRACESYSGOOD)
		v.reach(unix.PTRACE_SYSCALL)
		if err := v.opensByInfo(); err == unix.EIO { // before Linux 6.16
			v.opens()
		}
		_ = ptrace(unix.PTRACE_DETACH, v.tid, 0, 0)
		say("information", v.result())

		v = newVictim("plain", file)
		v.halt(unix.PTRACE_O_TRACESYSGOOD)
		v.reach(unix.PTRACE_SYSCALL)
		v.again(ptraceSysemu)
		v.opens()
		_ = ptrace(unix.PTRACE_DETACH, v.tid, 0, 0)
		say("emulated", v.result())

		v = newVictim("trace", file)
		v.halt(unix.PTRACE_O_TRACESECCOMP)
		v.reach(unix.PTRACE_CONT)
		v.opens()
		_ = ptrace(unix.PTRACE_DETACH, v.tid, 0, 0)
		say("own filter", v.result())
	}
	v := newVictim("plain", "x")
	v.halt(0)
	fmt.Println("suspend", name(ptrace(unix.PTRACE_SETOPTIONS, v.tid, 0, optionSuspend)) != "ok")
	fmt.Println("filter", name(ptrace(ptraceGetFilter, v.tid, 0, 0)) != "ok")
	_ = ptrace(unix.PTRACE_DETACH, v.tid, 0, 0)
	_, _ = v.in.Write([]byte{0})
	v.result()
}

// TestDebuggersMakeNoUnseenCall: what a debugger makes of another program's call is judged
// as that program's, by each way in which it can change one.
func TestDebuggersMakeNoUnseenCall(t *testing.T) {
	if !keeper(t) {
		return
	}
	dir := os.Getenv(dirVar)
	j := &debugRules{rules{list: []rule{{"", dir + "/denied", policy.Deny}}}}
	got := start(t, Options{Judge: j}, "tricks", dir+"/denied", dir+"/free").wait(t)
	want := `registers denied EACCES ENOENT
information denied EACCES ENOENT
emulated denied ENOSYS ENOENT
own filter denied EACCES ENOENT
registers free  ok
information free  ok
emulated free ENOSYS ENOENT
own filter free  ok
suspend true
filter true
`
	if got != want {
		t.Errorf("got:\n%s", got)
	}
}

// actPokes changes a call of another program that waits for its answer.
func actPokes(args []string) {
	runtime.LockOSThread()
	v := newVictim("open", args[0])
	_, _ = v.in.Write([]byte{0})
	_ = os.Mkdir("starts", 0o755) // which the keeper answers when the other call waits
	buf := append([]byte(args[1]), 0)
	local := []unix.Iovec{{Base: &buf[0], Len: uint64(len(buf))}}
	_, err := unix.ProcessVMWritev(v.tid, local, []unix.RemoteIovec{{Base: v.path, Len: len(buf)}}, 0)
	fmt.Println("writev", name(err))
	fmt.Println("seize", name(ptrace(unix.PTRACE_SEIZE, v.tid, 0, unix.PTRACE_O_TRACESYSGOOD)))
	fmt.Println("interrupt", name(ptrace(unix.PTRACE_INTERRUPT, v.tid, 0, 0)))
	var regs unix.PtraceRegs
	fmt.Println("registers", name(unix.PtraceGetRegs(v.tid, &regs)))
	_ = os.Mkdir("poked", 0o755) // the person answers
	ws := v.stop()
	fmt.Println("stopped", ws.Stopped(), int(ws)>>16 == unix.PTRACE_EVENT_STOP)
	_ = ptrace(unix.PTRACE_DETACH, v.tid, 0, 0)
	fmt.Println("open", v.result())
}

// pokedJudge tells what a test waits for by the folders that are made.
type pokedJudge struct {
	debugRules
	asked, poked chan struct{}
}

func (j *pokedJudge) Folder(path string) policy.Verdict {
	switch filepath.Base(path) {
	case "starts":
		<-j.asked
	case "poked":
		close(j.poked)
	}
	return j.rules.Folder(path)
}

// TestDebuggersChangeNoHeldCall: a call that waits for a person is done as it was shown,
// whatever a debugger writes and asks meanwhile, and is not taken back.
func TestDebuggersChangeNoHeldCall(t *testing.T) {
	if !keeper(t) {
		return
	}
	dir := os.Getenv(dirVar)
	j := &pokedJudge{debugRules{rules{list: []rule{{"", dir + "/asked", policy.Approve}, {"", dir + "/other", policy.Deny}}}},
		make(chan struct{}), make(chan struct{})}
	var once sync.Once
	ask := func(_ context.Context, a wire.Approval) wire.Answer {
		once.Do(func() { close(j.asked) })
		<-j.poked
		return wire.Answer{Allow: true}
	}
	got := start(t, Options{Judge: j, Ask: ask}, "pokes", dir+"/asked", dir+"/other").wait(t)
	if got != "writev ok\nseize ok\ninterrupt ok\nregisters ESRCH\nstopped true true\nopen \n" {
		t.Errorf("got:\n%s", got)
	}
	if _, err := os.Lstat(dir + "/asked"); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(dir + "/other"); err == nil {
		t.Error("what was poked was made")
	}
}

// actStorm interrupts and leaves a program that makes calls, over and over.
func actStorm(args []string) {
	runtime.LockOSThread()
	n, _ := strconv.Atoi(args[0])
	cmd := exec.Command("/bin/sh", "-c", `i=0; while [ $i -lt 60 ]; do mkdir d 2>&1 && rmdir d 2>&1 || echo broken; i=$((i+1)); echo x >f || echo broken; done; echo over`)
	cmd.Env = []string{"PATH=/usr/bin:/bin"}
	out := bufio.NewScanner(must(cmd.StdoutPipe()))
	_ = cmd.Start()
	pid, stops := cmd.Process.Pid, 0
	for stops < n {
		if ptrace(unix.PTRACE_SEIZE, pid, 0, 0) != nil { // it is between two programs, or has ended
			var end unix.Siginfo
			err := unix.Waitid(unix.P_PID, pid, &end, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
			if err != nil || end.Signo != 0 {
				break
			}
			continue
		}
		_ = ptrace(unix.PTRACE_INTERRUPT, pid, 0, 0)
		var ws unix.WaitStatus
		if _, err := unix.Wait4(pid, &ws, unix.WALL, nil); err != nil || !ws.Stopped() {
			fmt.Println("lost", err, ws)
			break
		}
		stops++
		sig := uintptr(0)
		if int(ws)>>16 == 0 {
			sig = uintptr(ws.StopSignal())
		}
		_ = ptrace(unix.PTRACE_DETACH, pid, 0, sig)
		if stops%10 == 0 { // a little of it goes on unseen
			_, _ = os.Lstat("f")
		}
	}
	var said []string
	for out.Scan() {
		said = append(said, out.Text())
	}
	fmt.Println(stops > 0, slices.Compact(said), name(cmd.Wait()))
}

// TestCallsUnderInterruptions: a call of which the supervisor knows is neither lost nor
// done twice when a debugger interrupts its caller.
func TestCallsUnderInterruptions(t *testing.T) {
	if !keeper(t) {
		return
	}
	if got := trace(t, &debugRules{}, "storm", "400").wait(t); got != "true [over] ok\n" {
		t.Errorf("got %s", got)
	}
}
