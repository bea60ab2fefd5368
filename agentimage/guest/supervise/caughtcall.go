//go:build linux

package supervise

import (
	"bytes"
	"errors"
	"strconv"

	"golang.org/x/sys/unix"

	"loop/backend/policy"
)

// errGone ends a call whose caller does not wait any more.
var errGone = errors.New("the call was withdrawn")

// errAgain starts a call over, because something changed between judging and
// performing.
var errAgain = errors.New("what was judged has changed")

// maxStarts bounds how often a call starts over.
const maxStarts = 64

// call is one notification on its way. It belongs to one goroutine at a time.
type call struct {
	s    *Supervisor
	th   *thread // the one that is at it now
	id   uint64
	tid  int
	nr   int
	args [6]uint64
	mem  memory

	perform func(*call) outcome // decoded from the arguments, once; may run again
	locked  lock                // how perform is kept apart from others
	name    string              // of the system call
	view    *view               // the policy that decides this attempt
	tgid    int                 // of the caller, once it was needed
	granted string              // key of the question that a person has allowed
	asked   int                 // how many questions this call has asked
	pins    []*object           // what must keep its identity while the call waits
	refused subject             // what a rule about files denies in this attempt; its path may be empty
	ruling  *ruling             // what the policy alone has decided of this attempt
	brief   bool                // its question is only made to name it, without contents
}

// subject is what was judged.
type subject struct {
	op   policy.Operation
	path string
	rule string
}

// outcome is what an attempt has led to.
type outcome struct {
	val   int64
	err   error
	fd    int            // to give, for gives; closed afterwards
	alone bool           // for gives: the copy here must be closed before the caller goes on
	how   ending         // what to do with it
	ask   *question      // for asks
	then  func() outcome // for blocks: on a thread that may wait
	side  side           // for blocks
	wait  func(done func(outcome))
	exec  *execution // for executes
}

type ending int

const (
	returns   ending = iota // val or err is the result
	gives                   // fd becomes the caller's
	continues               // the kernel goes on with the call
	executes                // as well, and what it leads to is looked at
	asks                    // a person decides
	blocks                  // on a thread that may wait
	waits                   // without a thread
)

func result(val int64, err error) outcome { return outcome{val: val, err: err} }

func failed(err error) outcome { return outcome{err: err} }

// status is a field of the caller's status file, one of the first: its name has at most 64
// bytes, and the mask and the process id follow. Every call that makes something needs it.
func (c *call) status(field string) string {
	fd, err := unix.Open("/proc/"+strconv.Itoa(c.tid)+"/status", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return ""
	}
	defer func() { _ = unix.Close(fd) }()
	var buf [512]byte
	n, err := unix.Read(fd, buf[:])
	if err != nil {
		return ""
	}
	_, after, ok := bytes.Cut(buf[:n], []byte("\n"+field+":\t"))
	if !ok {
		return ""
	}
	line, _, _ := bytes.Cut(after, []byte("\n"))
	return string(line)
}

// process is the caller's process id; -1 where it is gone.
func (c *call) process() int {
	if c.tgid == 0 {
		n, err := strconv.Atoi(c.status("Tgid"))
		if err != nil {
			n = -1
		}
		c.tgid = n
	}
	return c.tgid
}

// masked takes the caller's umask from the mode of what is made in a folder. A folder's
// default access list takes the place of the umask.
func (c *call) masked(dir *object, mode uint32) uint32 {
	mask := c.umask()
	if mask&mode == 0 {
		return mode
	}
	if n, err := unix.Getxattr(dir.itself(), "system.posix_acl_default", nil); err == nil && n > 0 {
		return mode
	}
	return mode &^ mask
}

// umask is the caller's; where it cannot be read, nobody gets any permission.
func (c *call) umask() uint32 {
	mask, err := strconv.ParseUint(c.status("Umask"), 8, 32)
	if err != nil {
		return 0o777
	}
	return uint32(mask) & 0o777
}

// folder judges the making of a folder.
func (c *call) folder(_ policy.Operation, path string) policy.Verdict { return c.view.Folder(path) }

// file judges an operation on a path.
func (c *call) file(op policy.Operation, path string) policy.Verdict {
	v := c.view.File(op, path)
	if rank(v.Decision) == 2 && c.refused.path == "" {
		c.refused = subject{op, path, v.Rule}
	}
	return v
}

// below judges what gets or loses names when an object has a name: what is in the folder
// that it is, or that it points to.
func (c *call) below(o *object, op policy.Operation, path string) policy.Verdict {
	switch o.kind() {
	case unix.S_IFDIR:
		return c.view.Under(op, path)
	case unix.S_IFLNK:
		return c.view.Leads(op, path)
	}
	return policy.Verdict{Decision: policy.Allow}
}

// otherName denies what only has names that nobody knows here: a rule may be about them.
var otherName = policy.Verdict{
	Decision: policy.Deny, Rule: "other-name", Category: policy.Escape,
	Message: "this file has lost the name by which it was opened, and has another one",
}

// object judges an operation on what was found. What never had a name is nobody's but
// the agent's.
func (c *call) object(op policy.Operation, o *object) policy.Verdict {
	switch {
	case o.nameless:
		return policy.Verdict{Decision: policy.Allow}
	case o.gone && o.st.Nlink > 0 && o.kind() == unix.S_IFREG:
		return otherName
	}
	return c.file(op, o.path)
}

// decide turns a verdict into the end of an attempt, or returns nil when the call is
// performed. about describes the question, should there be one.
func (c *call) decide(v policy.Verdict, about func() *question) *outcome {
	switch rank(v.Decision) {
	case 0:
		c.ruled(v, about)
		return nil
	case 1:
		q := about()
		q.verdict = v
		if c.granted != "" && c.granted == q.key() {
			q.unpin()
			return nil
		}
		if q.passes() {
			return c.pass(q)
		}
		if q.excerpt != nil {
			q.excerpt()
			q.silent, q.excerpt = nil, nil // which hold both files, and the call waits
		}
		return &outcome{how: asks, ask: q}
	case 2:
		if !v.ByContent() {
			break
		}
		q := about()
		q.verdict = v
		q.unpin()
		if q.passes() {
			return c.pass(q)
		}
	}
	c.ruled(v, about)
	c.deny(v, about)
	return &outcome{err: unix.EACCES}
}

// pass lets a call be performed as it was found, because its contents change nothing that
// matters.
func (c *call) pass(q *question) *outcome {
	q.unpin()
	q.silent, q.excerpt = nil, nil
	c.ruling = &ruling{policy.Verdict{Decision: policy.Allow, Rule: q.verdict.Rule}, q}
	return nil
}
