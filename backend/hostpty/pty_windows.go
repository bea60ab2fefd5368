package hostpty

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"

	"loop/backend/core"
)

// PTY is a program on a pseudo console. Reads come from one goroutine and writes
// from one; the other methods from any. Whoever started it calls Close.
type PTY struct {
	in, out *os.File
	job     windows.Handle

	mu   sync.Mutex // guards con
	con  windows.Handle
	shut chan struct{} // the console is closed; all output is in the pipe
	wg   sync.WaitGroup
	ending
	hangup sync.Once
}

// Start runs a program on a new pseudo console, in a job of its own from its
// first instruction on. Errors are core.Failure with CodeInvalid, CodeNotFound
// (no such program) or CodeDir.
func Start(o Options) (*PTY, error) {
	o, _, err := prepare(o)
	if err != nil {
		return nil, err
	}
	program, err := exec.LookPath(o.Argv[0])
	if err != nil {
		return nil, noProgram(o.Argv[0], fmt.Errorf("%w: %w", fs.ErrNotExist, err))
	}
	if err := checkCommand(program, o.Argv); err != nil {
		return nil, err
	}
	p := &PTY{ending: ending{exited: make(chan struct{})}, shut: make(chan struct{})}
	proc, err := p.start(o, program)
	if err != nil {
		p.release()
		if errors.Is(err, windows.ERROR_PROC_NOT_FOUND) {
			return nil, core.Fail(core.CodeInternal, err, "This Windows has no pseudo consoles.",
				"Terminals of this computer need Windows 10 1809 or newer.")
		}
		return nil, core.Fail(core.CodeInternal, err, o.Argv[0]+" could not be started.", "The detail says why.")
	}
	p.wg.Go(func() { p.await(proc) })
	return p, nil
}

func (p *PTY) start(o Options, program string) (windows.Handle, error) {
	var inRead, inWrite, outRead, outWrite windows.Handle
	if err := windows.CreatePipe(&inRead, &inWrite, nil, 0); err != nil {
		return 0, fmt.Errorf("make the input pipe: %w", err)
	}
	// The console has duplicates of its ends; ours would keep the output from ending.
	defer func() { _ = windows.CloseHandle(inRead) }()
	p.in = os.NewFile(uintptr(inWrite), "terminal input")
	if err := windows.CreatePipe(&outRead, &outWrite, nil, 0); err != nil {
		return 0, fmt.Errorf("make the output pipe: %w", err)
	}
	defer func() { _ = windows.CloseHandle(outWrite) }()
	p.out = os.NewFile(uintptr(outRead), "terminal output")
	if err := windows.CreatePseudoConsole(size(o.Cols, o.Rows), inRead, outWrite, 0, &p.con); err != nil {
		return 0, fmt.Errorf("make the pseudo console: %w", err)
	}
	var err error
	if p.job, err = newJob(); err != nil {
		return 0, err
	}

	attrs, err := windows.NewProcThreadAttributeList(1)
	if err != nil {
		return 0, fmt.Errorf("prepare the process: %w", err)
	}
	defer attrs.Delete()
	// The attribute is the handle itself, not a pointer to it.
	con := *(*unsafe.Pointer)(unsafe.Pointer(&p.con))
	if err := attrs.Update(windows.PROC_THREAD_ATTRIBUTE_PSEUDOCONSOLE, con, unsafe.Sizeof(p.con)); err != nil {
		return 0, fmt.Errorf("prepare the process: %w", err)
	}
	si := windows.StartupInfoEx{ProcThreadAttributeList: attrs.List()}
	si.Cb = uint32(unsafe.Sizeof(si))
	si.Flags = windows.STARTF_USESTDHANDLES // none: else those of Loop would be inherited

	var text [3]*uint16
	for i, v := range [...]string{program, windows.ComposeCommandLine(o.Argv), o.Dir} {
		if text[i], err = windows.UTF16PtrFromString(v); err != nil {
			return 0, fmt.Errorf("prepare the process: %w", err)
		}
	}
	env16 := envBlock(o.Env)
	var pi windows.ProcessInformation
	flags := uint32(windows.EXTENDED_STARTUPINFO_PRESENT | windows.CREATE_UNICODE_ENVIRONMENT | windows.CREATE_SUSPENDED)
	if err := windows.CreateProcess(text[0], text[1], nil, nil, false, flags, &env16[0], text[2], &si.StartupInfo, &pi); err != nil {
		return 0, fmt.Errorf("create the process: %w", err)
	}
	defer func() { _ = windows.CloseHandle(pi.Thread) }()
	err = windows.AssignProcessToJobObject(p.job, pi.Process)
	if err == nil {
		_, err = windows.ResumeThread(pi.Thread)
	}
	if err != nil {
		_ = windows.TerminateProcess(pi.Process, 1)
		_ = windows.CloseHandle(pi.Process)
		return 0, fmt.Errorf("put the process into its job: %w", err)
	}
	return pi.Process, nil
}

// newJob makes a job that ends with Loop and that nothing in it can leave.
func newJob() (windows.Handle, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, fmt.Errorf("make a job: %w", err)
	}
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	if _, err := windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits))); err != nil {
		_ = windows.CloseHandle(job)
		return 0, fmt.Errorf("set up the job: %w", err)
	}
	return job, nil
}

func size(cols, rows uint16) windows.Coord {
	return windows.Coord{X: int16(min(cols, 1<<15-1)), Y: int16(min(rows, 1<<15-1))}
}

func (p *PTY) await(proc windows.Handle) {
	_, _ = windows.WaitForSingleObject(proc, windows.INFINITE)
	var code uint32
	if err := windows.GetExitCodeProcess(proc, &code); err != nil {
		p.exit = Exit{Code: -1, Reason: "It is not known how the program ended."}
	} else {
		p.exit = Exit{Code: int(int32(code))}
	}
	_ = windows.CloseHandle(proc)
	close(p.exited)
	// Only the console's end lets a reader see the end of the output. Until the
	// output was read this may wait.
	p.closeConsole()
	close(p.shut)
}

// closeConsole tells what is attached to the console that it closes.
func (p *PTY) closeConsole() {
	p.mu.Lock()
	con := p.con
	p.con = 0
	p.mu.Unlock()
	if con != 0 {
		windows.ClosePseudoConsole(con)
	}
}

// release lets go of what a failed start has made.
func (p *PTY) release() {
	p.closeConsole()
	for _, f := range []*os.File{p.in, p.out} {
		if f != nil {
			_ = f.Close()
		}
	}
	if p.job != 0 {
		_ = windows.CloseHandle(p.job)
	}
}

// Read returns what the console draws. After the program's end, once all of it
// was read, and after Close it returns io.EOF.
func (p *PTY) Read(b []byte) (int, error) {
	n, err := p.out.Read(b)
	if errors.Is(err, fs.ErrClosed) {
		err = io.EOF
	}
	return n, err
}

// Write gives the program input. It waits while the console takes none.
func (p *PTY) Write(b []byte) (int, error) {
	n, err := p.in.Write(b)
	if err != nil {
		err = fmt.Errorf("write to the terminal: %w", err)
	}
	return n, err
}

// Resize changes the console's size.
func (p *PTY) Resize(_ context.Context, cols, rows uint16) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.con == 0 {
		return fmt.Errorf("resize the terminal: %w", fs.ErrClosed)
	}
	if err := windows.ResizePseudoConsole(p.con, size(cols, rows)); err != nil {
		return fmt.Errorf("resize the terminal: %w", err)
	}
	return nil
}

// close closes the console, and after 3 s ends the job.
func (p *PTY) close() error {
	p.hangup.Do(func() {
		// Closing the console can wait for its output to be taken.
		p.wg.Go(func() { _, _ = io.Copy(io.Discard, p.out) })
		p.wg.Go(p.closeConsole)
	})
	left := !p.emptied(hangupGrace)
	if left {
		_ = windows.TerminateJobObject(p.job, 1)
		left = !p.emptied(killGrace)
	}
	_ = p.in.Close()
	if left {
		// What goes on keeps the console open: whoever waited for it would wait as long.
		return core.Fail(core.CodeConflict, nil, "Some programs of the terminal could not be ended.", "End them in the task manager.")
	}
	_ = windows.CloseHandle(p.job)
	<-p.shut
	_ = p.out.Close()
	p.wg.Wait()
	return nil
}

// accounting is JOBOBJECT_BASIC_ACCOUNTING_INFORMATION.
type accounting struct {
	TotalUserTime, TotalKernelTime, ThisPeriodUserTime, ThisPeriodKernelTime int64
	PageFaults, Total, Active, Terminated                                    uint32
}

func (p *PTY) active() int { return jobActive(p.job) }

// jobActive counts the processes in a job; -1 when the system does not say.
func jobActive(job windows.Handle) int {
	var a accounting
	if err := windows.QueryInformationJobObject(job, windows.JobObjectBasicAccountingInformation,
		uintptr(unsafe.Pointer(&a)), uint32(unsafe.Sizeof(a)), nil); err != nil {
		return -1
	}
	return int(a.Active)
}

// Others stands for what Close would end besides the program that was started;
// the system gives no names.
func (p *PTY) Others() []string {
	n := p.active()
	select {
	case <-p.exited:
	default:
		if n > 0 {
			n--
		}
	}
	if n < 0 {
		n = 1 // nobody knows
	}
	return make([]string, n)
}

// emptied waits until no process is left in the job, at most for limit.
func (p *PTY) emptied(limit time.Duration) bool {
	for begun := time.Now(); p.active() != 0; time.Sleep(lookEvery) {
		if time.Since(begun) > limit {
			return false
		}
	}
	return true
}
