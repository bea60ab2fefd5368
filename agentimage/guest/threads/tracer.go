//go:build linux

package threads

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Tracer is the one thread of a supervising keeper that waits: for what the keeper
// started, for orphans, and for the programs that it traces while they are executed.
// The thread that traces and the one that waits must be one, because another wait in
// the same process takes the stops of a traced program away.
type Tracer struct {
	asks  chan *Exec
	ended chan struct{}

	// The thread's own.
	traced map[int]*Exec   // by thread: the call goes on, and will stop or end
	queue  map[int][]*Exec // by process: the first is traced, the others wait for it
}

// Exec is an execve(2) whose thread stands still before it. All functions are called on
// the tracer's thread and must not wait.
type Exec struct {
	Thread, Process int
	// Waits reports whether the call still does, and with it that Thread is the caller.
	Waits func() bool
	// Continue lets the kernel go on with the call.
	Continue func()
	// Check looks at a process whose new program is in place and has not run. An error
	// kills the process.
	Check func(pid int) error
	// Refused is called in place of Continue when the thread cannot be traced.
	Refused func(error)
	// Done is called last, unless the tracer ended before.
	Done func()
}

// maxAsks is how many calls wait for the thread before their callers do.
const maxAsks = 64

// NewTracer returns one whose calls wait for Run.
func NewTracer() *Tracer {
	return &Tracer{asks: make(chan *Exec, maxAsks), ended: make(chan struct{}),
		traced: make(map[int]*Exec), queue: make(map[int][]*Exec)}
}

// Run is the thread. It must be the one that started the children; it says how each of
// them ended, and returns when nothing is left to wait for.
func (t *Tracer) Run(ended func(pid int, ws syscall.WaitStatus)) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(t.ended)
	sig := make(chan os.Signal, 1)
	signal.Notify(sig, syscall.SIGCHLD)
	defer signal.Stop(sig)
	for t.collect(ended) {
		select {
		case <-sig:
		case e := <-t.asks:
			t.take(e)
		}
	}
}

// Exec lets a call go on under the tracer's eyes, and reports whether there is one. Any
// goroutine may call it.
func (t *Tracer) Exec(e *Exec) bool {
	select {
	case <-t.ended:
		return false
	default:
	}
	select {
	case t.asks <- e:
		return true
	case <-t.ended:
		return false
	}
}

// collect takes every stop and end there is, and reports whether more may come.
func (t *Tracer) collect(ended func(pid int, ws syscall.WaitStatus)) bool {
	for {
		var ws syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &ws, unix.WNOHANG|unix.WALL, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil: // ECHILD
			return false
		case pid <= 0:
			return true
		case ws.Stopped():
			t.stopped(pid, ws)
		case ws.Exited() || ws.Signaled():
			t.gone(pid)
			ended(pid, ws)
		}
	}
}

// take begins with a call, or lets it wait for another one of the same process. The
// kernel ends all other threads of a process that executes a program, and waits until
// their tracer has seen that; to trace one of them it would wait for the execution. So
// two at a time would wait for each other for ever.
func (t *Tracer) take(e *Exec) {
	t.queue[e.Process] = append(t.queue[e.Process], e)
	if len(t.queue[e.Process]) == 1 {
		t.begin(e)
	}
}

// begin traces the thread, and has it stop in any case: at the beginning of the new
// program, or when the call has failed, before the caller runs again.
func (t *Tracer) begin(e *Exec) {
	if !e.Waits() {
		t.finish(e)
		return
	}
	if err := seize(e.Thread); err != nil {
		e.Refused(err)
		t.finish(e)
		return
	}
	t.traced[e.Thread] = e
	// The thread waits for the supervisor, which no stop can end. From here on nothing
	// but its death comes before the stop.
	if err := unix.PtraceInterrupt(e.Thread); err != nil {
		return // it is dying, which is waited for
	}
	e.Continue()
}

func seize(tid int) error {
	const options = unix.PTRACE_O_TRACEEXEC | unix.PTRACE_O_EXITKILL
	if _, _, e := unix.RawSyscall6(unix.SYS_PTRACE, unix.PTRACE_SEIZE, uintptr(tid), 0, options, 0, 0); e != 0 {
		return e
	}
	return nil
}

// stopped looks at a stop. Nothing stays traced after its first one, so that stops by
// job control and signals take their course as if nobody had traced.
func (t *Tracer) stopped(pid int, ws syscall.WaitStatus) {
	if event := int(ws) >> 16; event != unix.PTRACE_EVENT_EXEC {
		sig := syscall.Signal(0)
		if event == 0 { // a signal is about to be delivered, which the tracer does
			sig = ws.StopSignal()
		}
		detach(pid, sig)
		if e := t.traced[pid]; e != nil {
			t.finish(e)
		}
		return
	}
	// The thread that executed has taken the process's id.
	former, err := unix.PtraceGetEventMsg(pid)
	if err != nil {
		return // killed meanwhile
	}
	e := t.traced[int(former)]
	if e == nil {
		kill(pid)
		return
	}
	if err := e.Check(pid); err != nil {
		kill(pid)
	} else {
		detach(pid, 0)
	}
	t.finish(e)
}

// gone forgets what ended: a thread, or the whole process whose thread was about to take
// its id.
func (t *Tracer) gone(pid int) {
	if e := t.traced[pid]; e != nil {
		t.finish(e)
		return
	}
	if q := t.queue[pid]; len(q) > 0 {
		t.finish(q[0])
	}
}

// finish goes on with the next call of the process. Where the program has changed, or
// is no more, nobody waits for that one either, and it ends at its first step.
func (t *Tracer) finish(e *Exec) {
	delete(t.traced, e.Thread)
	e.Done()
	q := t.queue[e.Process]
	if len(q) == 0 || q[0] != e {
		return
	}
	if q = q[1:]; len(q) == 0 {
		delete(t.queue, e.Process)
		return
	}
	t.queue[e.Process] = q
	t.begin(q[0])
}

// detach lets a stopped thread go; one that was killed meanwhile needs nothing.
func detach(pid int, sig syscall.Signal) {
	_, _, _ = unix.RawSyscall6(unix.SYS_PTRACE, unix.PTRACE_DETACH, uintptr(pid), 0, uintptr(sig), 0, 0)
}

// kill ends a traced process. Its end is waited for as any other.
func kill(pid int) {
	_, _, _ = unix.RawSyscall6(unix.SYS_PTRACE, unix.PTRACE_KILL, uintptr(pid), 0, 0, 0, 0)
}

// CheckTracing says why this kernel lets nobody trace. read reads a whole file.
func CheckTracing(read func(name string) ([]byte, error)) error {
	const name = "/proc/sys/kernel/yama/ptrace_scope"
	scope, err := read(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil // a kernel without Yama
	case err != nil:
		return fmt.Errorf("ask who may trace: %w", err)
	case strings.TrimSpace(string(scope)) == "3":
		return fmt.Errorf("%s is 3: nobody may look at programs that are executed until the computer is restarted with another value", name)
	}
	return nil
}
