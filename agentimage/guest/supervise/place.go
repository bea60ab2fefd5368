//go:build linux

package supervise

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"loop/backend/wire"
)

// asideName is the folder, beside a file that is about to be replaced, in which the
// replacement is made. It is the supervisor's and closed to the agent; it is removed
// when no supervisor needs it, and one that was left behind is used again.
const asideName = ".loop-approved"

// replacement is what is put in the place of a file: what a person was shown of the file
// that the agent wanted to move, and nothing else of it.
type replacement struct {
	sha256 string // of the contents
	mode   uint32
	access string // its access list; empty: none
}

// place puts exactly the approved bytes where a person has allowed them: in a new file
// that the agent never had open, whatever the one it wanted to move has become. It runs
// on the thread that may make the folder aside.
func (r renaming) place(c *call, approved *replacement) outcome {
	defer c.s.lock(alone)()
	m, err := r.resolve(c)
	if err != nil {
		return failed(err)
	}
	defer m.close()
	// Everything is judged once more on this thread; what has changed is asked anew.
	q := r.question(c, m, true)
	q.unpin()
	c.view = c.s.viewFor(c)
	c.view.once.Do(c.view.follow)
	v := stricter(r.onto(c, m), r.away(c, m))
	allowed := rank(v.Decision) == 0 || c.granted != "" && rank(v.Decision) == 1 || c.granted == "" && q.passes()
	denied := rank(v.Decision) == 2 && !v.ByContent()
	if !allowed || denied || m.moved.kind() != unix.S_IFREG || q.placed == nil || *q.placed != *approved ||
		c.granted != "" && c.granted != q.key() {
		return outcome{how: blocks, side: resuming, then: c.attempt}
	}
	data, err := readObject(m.moved)
	if err != nil {
		return failed(err)
	}
	if contentOf(data).SHA256 != approved.sha256 {
		return outcome{how: blocks, side: resuming, then: c.attempt}
	}
	return failed(c.replace(m, data, approved, r.flags))
}

// replace makes the new file aside, moves it into its place, and removes the old name.
func (c *call) replace(m *renames, data []byte, approved *replacement, flags uint) error {
	// What the agent could not do itself is not done for it.
	for _, dir := range []*object{m.new.dir, m.old.dir} {
		if err := unix.Faccessat2(dir.fd, "", unix.W_OK|unix.X_OK, unix.AT_EACCESS|unix.AT_EMPTY_PATH); err != nil {
			return err
		}
	}
	if m.there != nil && m.there.kind() == unix.S_IFDIR {
		return unix.EISDIR
	}
	aside, err := c.aside(m.new.dir)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("%s-%d", c.s.options.SpawnID, c.id)
	err = func() error {
		c.th.with(capDACOverride)
		defer c.th.with(0)
		fd, err := unix.Openat(aside, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
		if err != nil {
			return err
		}
		defer func() { _ = unix.Close(fd) }()
		if err := fill(fd, data, m.moved.st.Gid, approved); err != nil {
			return err
		}
		return unix.Renameat2(aside, name, m.new.dir.fd, m.new.bare(), flags)
	}()
	err = errors.Join(err, c.leaveAside(m.new.dir, aside, name))
	if err != nil {
		return err
	}
	// The old name goes if it still is what was approved; otherwise it is somebody else's.
	if m.old.is(&m.moved.st) {
		return unix.Unlinkat(m.old.dir.fd, m.old.bare(), 0)
	}
	return nil
}

// aside opens the closed folder in dir and locks it, and makes it where it is missing.
// What is in it then was left by a supervisor that was killed, and is removed.
func (c *call) aside(dir *object) (int, error) {
	c.th.asSupervisor()
	defer c.th.asAgent()
	c.th.with(capDACOverride)
	defer c.th.with(0)
	for range maxStarts {
		if err := unix.Mkdirat(dir.fd, asideName, 0o700); err != nil && err != unix.EEXIST {
			return -1, err
		}
		fd, err := unix.Openat(dir.fd, asideName, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if err == unix.ENOENT {
			continue // another supervisor has just removed it
		}
		if err != nil {
			return -1, unix.EACCES
		}
		var st unix.Stat_t
		err = unix.Flock(fd, unix.LOCK_EX)
		if err == nil {
			err = unix.Fstat(fd, &st)
		}
		switch {
		case err == nil && st.Nlink == 0:
			_ = unix.Close(fd)
			continue
		case err != nil, st.Uid != wire.SupervisorID, st.Mode&0o777 != 0o700:
			_ = unix.Close(fd)
			return -1, unix.EACCES // not the supervisor's: what is put there could be opened
		}
		return fd, empty(fd)
	}
	return -1, unix.EAGAIN
}

// empty removes the files of a folder.
func empty(fd int) error {
	buf := make([]byte, 8<<10)
	for {
		n, err := unix.Getdents(fd, buf)
		if n <= 0 {
			return err
		}
		_, _, names := unix.ParseDirent(buf[:n], -1, nil)
		for _, name := range names {
			if err := unix.Unlinkat(fd, name, 0); err != nil && err != unix.ENOENT {
				return err
			}
		}
	}
}

// leaveAside removes what is left of a replacement, and the folder.
func (c *call) leaveAside(dir *object, aside int, name string) error {
	defer func() { _ = unix.Close(aside) }()
	c.th.asSupervisor()
	defer c.th.asAgent()
	c.th.with(capDACOverride)
	defer c.th.with(0)
	if err := unix.Unlinkat(aside, name, 0); err != nil && err != unix.ENOENT {
		return err
	}
	err := unix.Unlinkat(dir.fd, asideName, unix.AT_REMOVEDIR)
	if err != nil && err != unix.ENOTEMPTY && err != unix.EEXIST && err != unix.ENOENT {
		c.s.log.Warn("remove the folder aside", "dir", dir.path, "err", err)
	}
	return nil
}

// fill gives a new file its contents, and of the one that it stands for the group, the
// mode and the access list. Other attributes would be what nobody was shown.
func fill(fd int, data []byte, gid uint32, approved *replacement) error {
	for len(data) > 0 {
		n, err := unix.Write(fd, data)
		if err != nil && err != unix.EINTR {
			return err
		}
		data = data[max(n, 0):]
	}
	var now unix.Stat_t
	if err := unix.Fstat(fd, &now); err != nil {
		return err
	}
	if now.Gid != gid {
		_ = unix.Fchown(fd, -1, int(gid)) // refused where the agent is not of the group
	}
	// What the folder's default access list has given it goes, or the mode would be another.
	if err := unix.Fremovexattr(fd, accessAttribute); err != nil && err != unix.ENODATA && err != unix.EOPNOTSUPP {
		return err
	}
	if approved.access != "" {
		if err := unix.Fsetxattr(fd, accessAttribute, []byte(approved.access), 0); err != nil {
			return err
		}
	}
	if err := unix.Fchmod(fd, approved.mode&0o7777); err != nil {
		return err
	}
	return unix.Fsync(fd)
}

const accessAttribute = "system.posix_acl_access"

// accessList is the list of an object that says more than its mode who may do what.
func accessList(o *object) string {
	value := make([]byte, maxXattrSize)
	n, err := unix.Getxattr(o.itself(), accessAttribute, value)
	if err != nil || n <= 0 {
		return ""
	}
	return string(value[:n])
}

// asSupervisor makes the thread own what it makes as the supervisor. A change of the
// file system uid from or to 0 changes capabilities, so that with follows it.
func (t *thread) asSupervisor() { t.fsuid(wire.SupervisorID) }

func (t *thread) asAgent() { t.fsuid(t.agent.UID) }

func (t *thread) fsuid(uid int) {
	_, _, _ = unix.RawSyscall(unix.SYS_SETFSUID, uintptr(uid), 0, 0)
	if now, _, _ := unix.RawSyscall(unix.SYS_SETFSUID, ^uintptr(0), 0, 0); int(now) != uid {
		panic("supervise: the file system uid is not what it was set to")
	}
	if err := t.capset(0); err != nil {
		panic("supervise: change own capabilities: " + err.Error())
	}
	if err := t.ownFiles(); err != nil {
		panic("supervise: " + err.Error())
	}
}
