package hostpty

import (
	"fmt"
	"io/fs"
	"os/exec"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"

	"loop/backend/core"
)

// Program is a program without a console window, in a job of its own. It goes on when Loop
// ends, whatever the way. Methods may be called from any goroutine; whoever started or
// adopted it calls End or Leave.
type Program struct {
	cmd      *exec.Cmd // nil: of an earlier launch of Loop
	proc     windows.Handle
	job      windows.Handle
	pid      int
	identity string
	marker   string
	watched
}

var resumeProcess = windows.NewLazySystemDLL("ntdll.dll").NewProc("NtResumeProcess")

// StartProgram starts a program that writes to files, in its job from its first
// instruction on. Errors are those of Start.
func StartProgram(o ProgramOptions) (*Program, error) {
	opts, marker, err := prepare(o.Options)
	if err != nil {
		return nil, err
	}
	path, err := exec.LookPath(opts.Argv[0])
	if err != nil {
		return nil, noProgram(opts.Argv[0], fmt.Errorf("%w: %w", fs.ErrNotExist, err))
	}
	if err := checkCommand(path, opts.Argv); err != nil {
		return nil, err
	}
	job, err := windows.CreateJobObject(nil, nil) // without a limit that ends it with Loop
	if err != nil {
		return nil, fmt.Errorf("make a job: %w", err)
	}
	cmd := &exec.Cmd{
		Path: path, Args: opts.Argv, Dir: opts.Dir, Env: opts.Env, Stdin: o.Stdin, Stdout: o.Stdout, Stderr: o.Stderr,
		SysProcAttr: &syscall.SysProcAttr{
			HideWindow:    true,
			CreationFlags: windows.CREATE_SUSPENDED | windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_NO_WINDOW,
		},
	}
	if err := cmd.Start(); err != nil {
		_ = windows.CloseHandle(job)
		return nil, core.Fail(core.CodeInternal, err, opts.Argv[0]+" could not be started.", "The detail says why.")
	}
	p := newProgram(cmd.Process.Pid, marker)
	p.cmd, p.job = cmd, job
	if err = p.take(); err == nil {
		err = resume(p.proc)
	}
	if err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		p.release()
		return nil, fmt.Errorf("put the program into its job: %w", err)
	}
	p.known = true
	p.watch(p.ended)
	return p, nil
}

func resume(proc windows.Handle) error {
	if status, _, _ := resumeProcess.Call(uintptr(proc)); status != 0 {
		return fmt.Errorf("let it run: status %#x", status)
	}
	return nil
}

func newProgram(pid int, marker string) *Program {
	return &Program{pid: pid, marker: marker, watched: watched{ending: ending{exited: make(chan struct{})}, quit: make(chan struct{})}}
}

const rights = windows.PROCESS_QUERY_LIMITED_INFORMATION | windows.PROCESS_TERMINATE | windows.PROCESS_SET_QUOTA |
	windows.PROCESS_SUSPEND_RESUME | windows.SYNCHRONIZE

// take opens the process and puts it into the job.
func (p *Program) take() (err error) {
	if p.proc, err = windows.OpenProcess(rights, false, uint32(p.pid)); err != nil {
		return err
	}
	if p.identity, err = created(p.proc); err != nil {
		return err
	}
	return windows.AssignProcessToJobObject(p.job, p.proc)
}

// created is when a process was, which names it for good together with its number.
func created(proc windows.Handle) (string, error) {
	var c, e, k, u windows.Filetime
	err := windows.GetProcessTimes(proc, &c, &e, &k, &u)
	return fmt.Sprint(c.Nanoseconds()), err
}

// Adopt takes up a program of an earlier launch of Loop, or what is left of it: its job is
// gone with that launch, so it gets another, and so do those that came out of it.
func Adopt(r Ref) *Program {
	p := newProgram(r.PID, r.Marker)
	p.identity = r.Identity
	p.exit = Exit{Code: -1, Reason: "Loop was not running when the program ended."}
	job, err := windows.CreateJobObject(nil, nil)
	if err == nil {
		p.job = job
		p.adopt()
	}
	if p.proc == 0 {
		close(p.exited)
	} else {
		p.watch(p.ended)
	}
	return p
}

// adopt finds the tree by who started whom. What Windows does not show is a process whose
// parent has ended.
func (p *Program) adopt() {
	snapshot, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPPROCESS, 0)
	if err != nil {
		return
	}
	defer func() { _ = windows.CloseHandle(snapshot) }()
	parents := map[uint32]uint32{}
	entry := windows.ProcessEntry32{}
	entry.Size = uint32(unsafe.Sizeof(entry))
	for err = windows.Process32First(snapshot, &entry); err == nil; err = windows.Process32Next(snapshot, &entry) {
		parents[entry.ProcessID] = entry.ParentProcessID
	}
	proc, err := windows.OpenProcess(rights, false, uint32(p.pid))
	if err != nil {
		return
	}
	if born, err := created(proc); err != nil || born != p.identity {
		_ = windows.CloseHandle(proc)
		return
	}
	p.proc = proc
	in := map[uint32]bool{uint32(p.pid): true}
	for grew := true; grew; {
		grew = false
		for id, parent := range parents {
			if !in[id] && in[parent] {
				in[id], grew = true, true
			}
		}
	}
	for id := range in {
		h, err := windows.OpenProcess(rights, false, id)
		if err != nil {
			continue
		}
		if born, err := created(h); err == nil && born >= p.identity { // a number may be of an older process
			_ = windows.AssignProcessToJobObject(p.job, h)
		}
		_ = windows.CloseHandle(h)
	}
}

// Ref is what a later launch finds the program by.
func (p *Program) Ref() Ref { return Ref{PID: p.pid, Identity: p.identity, Marker: p.marker} }

func (p *Program) ended() bool {
	if s, err := windows.WaitForSingleObject(p.proc, 0); err == nil && s == uint32(windows.WAIT_TIMEOUT) {
		return false
	}
	var code uint32
	if p.known && windows.GetExitCodeProcess(p.proc, &code) == nil {
		p.exit = Exit{Code: int(int32(code))}
	}
	if p.cmd != nil {
		_ = p.cmd.Wait()
	}
	return true
}

func (p *Program) release() {
	for _, h := range []windows.Handle{p.proc, p.job} {
		if h != 0 {
			_ = windows.CloseHandle(h)
		}
	}
}

// close ends the job: there is no polite way to a program without a console.
func (p *Program) close() error {
	_ = windows.TerminateJobObject(p.job, 1)
	for begun := time.Now(); jobActive(p.job) > 0; time.Sleep(lookEvery) {
		if time.Since(begun) > killGrace {
			return core.Fail(core.CodeConflict, nil, "Some programs of the run could not be ended.", "End them in the task manager.")
		}
	}
	select {
	case <-p.exited:
		p.release()
	case <-p.quit:
	}
	return nil
}

// Others stands for what End would end besides the program; the system gives no names.
func (p *Program) Others() []string {
	n := jobActive(p.job)
	select {
	case <-p.exited:
	default:
		n--
	}
	return make([]string, max(n, 0))
}

// Detached is nothing: Windows does not say what a program has let go.
func (p *Program) Detached() []string { return nil }

// Signal ends the program itself, whatever the name: Windows has no other signal for one
// without a console.
func (p *Program) Signal(string) error {
	if err := windows.TerminateProcess(p.proc, 1); err != nil {
		return fmt.Errorf("end the program: %w", err)
	}
	return nil
}

// Pause does nothing: Windows cannot hold up a job.
func (p *Program) Pause() {}
