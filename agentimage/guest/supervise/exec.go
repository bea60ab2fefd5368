//go:build linux

package supervise

import (
	"crypto/sha256"
	"fmt"
	"io"
	"strconv"

	"golang.org/x/sys/unix"

	"loop/backend/policy"
	"loop/backend/wire"
)

// executing is a call that replaces the caller's program. It is the one call that the
// kernel goes on with by itself: no other process can do it. What the kernel then runs
// it reads from the caller's memory once more, so that it is compared with what was
// judged before it runs (execution).
type executing struct {
	at    location
	flags int
	list  uint64 // address of the arguments
}

func decodeExecve(c *call) (func(*call) outcome, error) { return decodeExecuting(c, only(0), 1, 0) }

func decodeExecveat(c *call) (func(*call) outcome, error) {
	return decodeExecuting(c, 0, 2, int(int32(c.args[4])))
}

func decodeExecuting(c *call, at, argv, flags int) (func(*call) outcome, error) {
	const known = unix.AT_EMPTY_PATH | unix.AT_SYMLINK_NOFOLLOW | atExecveCheck
	if flags&^known != 0 {
		return nil, unix.EINVAL
	}
	l, err := c.at(at)
	return executing{l, flags, c.args[argv]}.perform, err
}

// atExecveCheck only asks whether a file could be executed (Linux 6.14).
const atExecveCheck = 0x10000

// anonymous is the rule for programs that no path names: what they are cannot be told
// from a name, and no rule about paths could cover them.
var anonymous = policy.Verdict{
	Decision: policy.Deny, Rule: "anonymous-program", Category: policy.Escape,
	Message: "this program is only in memory, or its file was deleted; write it to a file and run that",
}

func (x executing) perform(c *call) outcome {
	o, err := c.target(x.at, x.flags&unix.AT_SYMLINK_NOFOLLOW == 0, x.flags&unix.AT_EMPTY_PATH != 0)
	if err != nil {
		return failed(err)
	}
	defer o.close()
	if o.kind() == unix.S_IFLNK {
		return failed(unix.ELOOP)
	}
	if o.nameless || o.gone {
		return *c.decide(anonymous, func() *question { // which denies
			return &question{kind: wire.KindExec, target: o.path, as: x.at.path, act: act{does: "exec"}}
		})
	}
	j, ok := c.view.Judge.(ExecJudge)
	free := ok && !j.ExecMatters()
	if free && len(c.view.files) == 0 || x.flags&atExecveCheck != 0 {
		return outcome{how: continues}
	}
	argv, err := x.arguments(c)
	if err != nil {
		return failed(err)
	}
	programs := c.programs(x, o, argv)
	defer programs.close()
	v := policy.Verdict{Decision: policy.Allow}
	for _, p := range programs {
		switch {
		case p.file == nil:
		case p.file.nameless || p.file.gone:
			v = stricter(v, anonymous)
		default:
			v = stricter(v, c.view.Exec(p.file.path, p.argv))
		}
	}
	var folder *object // in which it runs: the same command does another thing elsewhere
	if rank(v.Decision) == 1 {
		if folder, err = c.target(location{dirfd: unix.AT_FDCWD}, true, true); err != nil {
			return failed(err)
		}
		defer folder.close()
	}
	if end := c.decide(v, func() *question {
		return &question{kind: wire.KindExec, target: commandLineOf(argv, commandText), as: x.at.path, from: o.path, identity: o.identity(),
			act: runs(x.name(), argumentsOf(argv), folder, c.versions(programs)), pins: keep(o, folder)}
	}); end != nil {
		return *end
	}
	// Before the call goes on, so that nothing of the agent is early. One that fails leaves
	// the caller under the stricter policy.
	if len(c.view.files) > 0 && c.startsAgent(programs) {
		c.s.descent.begin(c.process())
	}
	if free || c.s.options.Tracer == nil {
		return outcome{how: continues}
	}
	last := programs[len(programs)-1]
	e := &execution{argv: argumentsOf(last.argv)}
	if folder != nil {
		e.folder = &folder.st
	}
	if last.file != nil {
		if e.file, err = last.file.copy(); err != nil {
			return failed(err)
		}
	}
	return outcome{how: executes, exec: e}
}

// arguments reads what the program is called with. The kernel makes one that is empty of
// none.
func (x executing) arguments(c *call) ([]string, error) {
	c.th.with(capPtrace)
	argv, err := c.mem.strings(x.list)
	c.th.with(0)
	if err == nil && !c.s.listener.valid(c.id) {
		err = errGone
	}
	if err == nil && len(argv) == 0 {
		argv = []string{""}
	}
	return argv, err
}

// arguments stand for a list of arguments, which may be megabytes, while a call waits.
type arguments struct {
	sha256 [sha256.Size]byte // of all, with a NUL after each
	size   int64             // with the NULs
}

func argumentsOf(argv []string) arguments {
	a, h := arguments{}, sha256.New()
	for _, arg := range argv {
		_, _ = io.WriteString(h, arg)
		_, _ = h.Write([]byte{0})
		a.size += int64(len(arg)) + 1
	}
	h.Sum(a.sha256[:0])
	return a
}

// versions tell apart what programs are and what they are after a change. The digest sees
// also what is written through memory, which changes no time; of a program that is too
// large for one, or that the agent may not read, the time of change must do.
func (c *call) versions(all programs) []string {
	var out []string
	for _, p := range all {
		if p.file == nil {
			continue
		}
		st := &p.file.st
		version := fmt.Sprint(p.file.identity(), st.Size, st.Ctim.Sec, st.Ctim.Nsec)
		if t := c.content(p.file); t != nil {
			version += t.SHA256
		}
		out = append(out, version)
	}
	return out
}

// runs is what an execve does: the script that a runtime is given has a name as well. A
// program that was written to meanwhile is another one.
func runs(name string, a arguments, folder *object, versions []string) act {
	does := act{does: "exec", with: append([]string{name, string(a.sha256[:]), strconv.FormatInt(a.size, 10)}, versions...)}
	if folder == nil {
		return does
	}
	does.with = append(does.with, folder.path, folder.identity())
	return does.show("folder", folder.path)
}
