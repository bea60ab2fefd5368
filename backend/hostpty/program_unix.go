//go:build linux || darwin

package hostpty

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"loop/backend/core"
)

// Program is a program without a terminal, the leader of a session. It goes on when Loop
// ends, whatever the way. Methods may be called from any goroutine; whoever started or
// adopted it calls End or Leave.
type Program struct {
	session
	identity string
	cmd      *exec.Cmd // nil: of an earlier launch of Loop
	watched
}

// StartProgram starts a program that writes to files. Errors are those of Start.
func StartProgram(o ProgramOptions) (*Program, error) {
	opts, marker, err := prepare(o.Options)
	if err != nil {
		return nil, err
	}
	if err := unix.Access(opts.Dir, unix.X_OK); err != nil {
		return nil, dirFailure(opts.Dir, err)
	}
	path := opts.Argv[0]
	if strings.Contains(path, "/") && !filepath.IsAbs(path) {
		path = filepath.Join(opts.Dir, path)
	}
	if path, err = exec.LookPath(path); err != nil {
		return nil, noProgram(opts.Argv[0], err)
	}
	hearSignals()
	cmd := &exec.Cmd{
		Path: path, Args: opts.Argv, Dir: opts.Dir, Env: append(opts.Env, "PWD="+opts.Dir),
		Stdin: o.Stdin, Stdout: o.Stdout, Stderr: o.Stderr, SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	if err := cmd.Start(); err != nil {
		return nil, startFailure(opts.Argv[0], err)
	}
	p := newProgram(cmd.Process.Pid, marker)
	p.cmd = cmd
	p.identity, _ = identityOf(cmd.Process.Pid) // empty: it has ended already
	p.watch(p.ownEnded)
	return p, nil
}

func newProgram(leader int, marker string) *Program {
	return &Program{
		session: session{leader: leader, marker: marker, kill: process.kill},
		watched: watched{ending: ending{exited: make(chan struct{})}, quit: make(chan struct{})},
	}
}

// Adopt takes up a program of an earlier launch of Loop, or what is left of it.
func Adopt(r Ref) *Program {
	if r.PID == 0 { // Loop died between starting it and writing its number down
		r.PID, r.Identity = firstMarked(r.Marker)
	}
	p := newProgram(r.PID, r.Marker)
	p.identity = r.Identity
	if p.adoptedEnded() {
		close(p.exited)
	} else {
		p.watch(p.adoptedEnded)
	}
	return p
}

// firstMarked is the process with the marker from which the others came.
func firstMarked(marker string) (pid int, identity string) {
	all := (&session{marker: marker}).left()
	in := map[int]bool{}
	for _, q := range all {
		in[q.pid] = true
	}
	for _, q := range all {
		if identity, ok := identityOf(q.pid); ok && !in[q.ppid] {
			return q.pid, identity
		}
	}
	return 0, ""
}

// Ref is what a later launch finds the program by.
func (p *Program) Ref() Ref { return Ref{PID: p.leader, Identity: p.identity, Marker: p.marker} }

// ownEnded looks at a child. Where others of its session run on, its number stays taken
// until they are ended too, as they are found by it.
func (p *Program) ownEnded() bool {
	how, ended := peekEnd(p.leader)
	if !ended {
		return false
	}
	if p.known = true; how.Code >= 0 && len(p.left()) > 0 {
		p.exit = how
		return true
	}
	p.released.Store(true)
	_ = p.cmd.Wait()
	p.exit = exitOf(p.cmd.ProcessState)
	return true
}

func (p *Program) adoptedEnded() bool {
	now, ok := identityOf(p.leader)
	if p.leader > 0 && ok && now == p.identity {
		return false
	}
	p.released.Store(true)
	p.exit = Exit{Code: -1, Reason: "Loop was not running when the program ended."}
	return true
}

// close asks the program first, alone: one whose commands end before it goes on with what
// comes of that.
func (p *Program) close() error {
	for _, q := range p.left() {
		if q.pid == p.leader {
			q.signal(unix.SIGTERM)
			q.signal(unix.SIGCONT)
			late := time.NewTimer(hangupGrace)
			select {
			case <-p.exited:
			case <-p.quit:
			case <-late.C:
			}
			late.Stop()
		}
	}
	if err := p.end(unix.SIGTERM); err != nil {
		return err
	}
	select {
	case <-p.exited:
	case <-p.quit:
		return nil // nobody asks how it ended
	}
	if p.cmd != nil && p.released.CompareAndSwap(false, true) {
		_ = p.cmd.Wait()
	}
	return nil
}

// Detached names processes of the tree that are not the program's any more: it has let
// them go, or has ended.
func (p *Program) Detached() []string {
	left := p.left()
	own := map[int]bool{}
	if goesOn(p.exited) {
		for _, q := range withDescendants(slices.Clone(left), map[int]bool{p.leader: true}) {
			own[q.pid] = true
		}
	}
	var names []string
	for _, q := range left {
		if !own[q.pid] && !helper(q.name) {
			names = append(names, q.name)
		}
	}
	return names
}

// goesOn reports whether a program has not closed the channel of its end yet.
func goesOn(c <-chan struct{}) bool {
	select {
	case <-c:
		return false
	default:
		return true
	}
}

// Signal sends a signal to the program itself. Its name is that of the system, as SIGINT.
func (p *Program) Signal(name string) error {
	sig := unix.SignalNum(name)
	if sig == 0 {
		return core.Fail(core.CodeInvalid, nil, "There is no signal "+name+".", "")
	}
	for _, q := range p.left() {
		if q.pid == p.leader {
			q.signal(sig)
			return nil
		}
	}
	return core.ErrNotFound
}

// Pause holds up every process of the tree, until End.
func (p *Program) Pause() {
	for _, q := range p.left() {
		q.signal(unix.SIGSTOP)
	}
}
