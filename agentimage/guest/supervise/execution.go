//go:build linux

package supervise

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"loop/agentimage/guest/denial"
	"loop/agentimage/guest/threads"
	"loop/backend/policy"
	"loop/backend/wire"
)

// execution is what a call that was judged may lead to: this file, with these arguments.
type execution struct {
	file *object // pinned until it runs; nil where none was found to run
	argv arguments
	// folder is where it runs, where somebody was asked about that.
	folder *unix.Stat_t
}

// execute lets the kernel go on with the call and compares what comes of it before that
// runs. What is not what was judged is killed.
func (s *Supervisor) execute(c *call, x *execution) {
	c.th = nil
	e := &threads.Exec{
		Thread: c.tid, Process: c.process(),
		Waits: func() bool { return s.listener.valid(c.id) },
		Continue: func() {
			s.reply(c, response{ID: c.id, Flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE})
		},
		Check: func(pid int) error {
			err := x.check(pid)
			if err != nil {
				s.exchanged(c, x, pid, err)
			}
			return err
		},
		Refused: func(err error) { s.untraced(c, x, err) },
		Done:    func() { x.file.close() },
	}
	if !s.options.Tracer.Exec(e) { // nothing is left that could be executed
		x.file.close()
		s.send(c, failed(unix.EPERM))
	}
}

// exchanged notes that what was about to run is not what was judged, which is killed. That
// the call was allowed has been counted already.
func (s *Supervisor) exchanged(c *call, x *execution, pid int, err error) {
	s.log.Warn("killed a program before it ran", "call", c.name, "pid", pid, "judged", x.path(), "why", err)
	const rule = "exchanged"
	v := policy.Verdict{Decision: policy.Deny, Rule: rule, Category: policy.Escape, Message: "It is not what was judged: " + err.Error() + "."}
	target := x.path()
	s.crews[resuming].do(job{c: c, run: func() outcome {
		c.ruling = &ruling{v, &question{kind: wire.KindExec, target: target}}
		s.tally.count(c)
		s.deny(c, denial.Denial{Operation: denial.Run, Target: target, By: rule, Why: v.Message}, rule)
		return failed(errGone) // nobody waits for an answer
	}})
}

// untraced denies what nobody could look at. Where programs may debug each other, what one
// follows already goes on without a look, unless a person was asked: a debugger can have
// any program run under the name of one that was judged.
func (s *Supervisor) untraced(c *call, x *execution, err error) {
	followed := errors.Is(err, unix.EPERM)
	if followed && c.view.debuggers && x.folder == nil {
		s.reply(c, response{ID: c.id, Flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE})
		return
	}
	why := "the process cannot be looked at while it executes a program: " + err.Error()
	switch {
	case followed && c.view.debuggers:
		why = "a process that a debugger or strace follows may not execute a program about which a rule asks"
	case followed:
		why = "a process that a debugger or strace follows may not execute programs here"
	}
	target := x.path()
	s.crews[resuming].do(job{c: c, run: func() outcome {
		c.ruling = &ruling{policy.Verdict{Decision: policy.Deny, Rule: "traced", Message: why}, &question{kind: wire.KindExec, target: target}}
		s.deny(c, denial.Denial{Operation: denial.Run, Target: target, By: "traced", Why: why}, "traced")
		return failed(unix.EPERM)
	}})
}

// copy pins the object for longer than the call's attempt.
func (o *object) copy() (*object, error) {
	fd, err := unix.FcntlInt(uintptr(o.fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	pinned := *o
	pinned.fd = fd
	return &pinned, nil
}

func (x *execution) path() string {
	if x.file == nil {
		return ""
	}
	return x.file.path
}

// check compares a process that has not run its new program yet.
func (x *execution) check(pid int) error {
	if x.file == nil {
		return errors.New("there was no program to run")
	}
	at := "/proc/" + strconv.Itoa(pid)
	var st unix.Stat_t
	if err := unix.Stat(at+"/exe", &st); err != nil {
		return fmt.Errorf("look at the program: %w", err)
	}
	// What a person was asked about is exactly that. An agent that changes its contents can
	// set the time of writing back, and make a name so that a new time of change seems due.
	if !sameFile(&x.file.st, &st) || x.folder != nil && x.file.st.Ctim != st.Ctim {
		name, _ := os.Readlink(at + "/exe")
		return fmt.Errorf("the program is another one: %q", name)
	}
	if x.folder != nil {
		if err := unix.Stat(at+"/cwd", &st); err != nil || st.Dev != x.folder.Dev || st.Ino != x.folder.Ino {
			return errors.New("it would run in another folder")
		}
	}
	return x.checkArguments(at)
}

// sameFile compares a file with what it was. Its time of change may be another one where
// it got or lost a name, as by a build that links its results.
func sameFile(was, is *unix.Stat_t) bool {
	return was.Dev == is.Dev && was.Ino == is.Ino && was.Size == is.Size && was.Mtim == is.Mtim &&
		(was.Ctim == is.Ctim || was.Nlink != is.Nlink)
}

func (x *execution) checkArguments(at string) error {
	f, err := os.Open(at + "/cmdline")
	if err != nil {
		return fmt.Errorf("look at the arguments: %w", err)
	}
	defer func() { _ = f.Close() }()
	have, h := arguments{}, sha256.New()
	if have.size, err = io.Copy(h, io.LimitReader(f, x.argv.size+1)); err != nil {
		return fmt.Errorf("read the arguments: %w", err)
	}
	h.Sum(have.sha256[:0])
	if have != x.argv {
		return errors.New("the arguments are others")
	}
	return nil
}
