//go:build linux

package supervise

import (
	"strings"

	"golang.org/x/sys/unix"

	"loop/backend/policy"
	"loop/backend/wire"
)

// executing is a call that replaces the caller's program. It is the one call that the
// kernel goes on with by itself: no other process can do it. What the kernel then runs
// is read from the caller's memory once more.
type executing struct {
	at    location
	flags int
	argv  []string
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
	if err != nil {
		return nil, err
	}
	args, err := c.mem.strings(c.args[argv])
	return executing{l, flags, args}.perform, err
}

// atExecveCheck only asks whether a file could be executed (Linux 6.14).
const atExecveCheck = 0x10000

// anonymous is the rule for programs that no path names: what they are cannot be told
// from a name, and no rule about paths could cover them.
var anonymous = policy.Verdict{
	Decision: policy.Approve, Rule: "anonymous-program", Category: policy.Escape,
	Message: "this program is only in memory, or its file was deleted",
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
	v := c.view.Exec(o.path, x.argv)
	if o.nameless || o.gone {
		v = stricter(v, anonymous)
	}
	if end := c.decide(v, func() *question {
		return &question{kind: wire.KindExec, target: x.line(), as: x.at.path, from: o.path, identity: o.identity(),
			whole: strings.Join(x.argv, "\x00"), pins: keep(o)}
	}); end != nil {
		return *end
	}
	return outcome{how: continues}
}

// line is the command line for a person, bounded.
func (x executing) line() string {
	line := strings.Join(x.argv, " ")
	if line == "" {
		line = x.at.path
	}
	if limit := 8 << 10; len(line) > limit {
		line = line[:limit]
	}
	return line
}
