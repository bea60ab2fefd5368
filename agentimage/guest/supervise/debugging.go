//go:build linux

package supervise

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// DebugJudge is a Judge that knows policies under which the programs of a spawn may debug
// each other: trace, read and change one another. Without it nobody may.
//
// What they can reach is not the supervisor's to say. The kernel keeps them within the
// fence of their spawn (package filter), in the one place where it also looks up the
// process, so that no number of a process can come to mean another one meanwhile. And it
// hands a call over only after a debugger could have changed it: what is judged is done,
// except for an execve, which the kernel does by itself (Supervisor.untraced).
type DebugJudge interface {
	Debuggers() bool
}

func debuggers(j Judge) bool {
	d, ok := j.(DebugJudge)
	return ok && d.Debuggers()
}

func decodePtrace(c *call) (func(*call) outcome, error) {
	if c.args[0] == unix.PTRACE_DETACH { // lets go, also after the setting was taken back
		return func(*call) outcome { return outcome{how: continues} }, nil
	}
	if c.args[0] == unix.PTRACE_TRACEME && c.status("PPid") == strconv.Itoa(os.Getpid()) {
		return nil, unix.EPERM // its parent, the supervisor, is nobody's debugger; it would stop for ever
	}
	return debug, nil
}

func decodeOtherMemory(*call) (func(*call) outcome, error) { return debug, nil }

// debug lets the kernel go on with a call of a debugger. Only who calls decides, and that
// cannot change while the caller stands still: an agent in a person's spawn shares the
// fence with programs that may do more, so that it debugs nothing.
func debug(c *call) outcome {
	if !c.view.debuggers {
		return failed(unix.EPERM)
	}
	return outcome{how: continues}
}
