//go:build linux

package supervise

import (
	"strconv"

	"golang.org/x/sys/unix"

	"loop/backend/policy"
	"loop/backend/wire"
)

// renaming is a call that moves a name, or exchanges two.
type renaming struct {
	from, to location
	flags    uint
}

func decodeRename(from, to, flags int) decoder {
	return func(c *call) (func(*call) outcome, error) {
		r := renaming{}
		if flags > 0 {
			r.flags = uint(uint32(c.args[flags]))
		}
		switch {
		case r.flags&^(unix.RENAME_NOREPLACE|unix.RENAME_EXCHANGE|unix.RENAME_WHITEOUT) != 0,
			r.flags&unix.RENAME_EXCHANGE != 0 && r.flags != unix.RENAME_EXCHANGE:
			return nil, unix.EINVAL
		case r.flags&unix.RENAME_WHITEOUT != 0:
			return nil, unix.EPERM
		}
		var err error
		if r.from, err = c.at(from); err != nil {
			return nil, err
		}
		r.to, err = c.at(to)
		return r.perform, err
	}
}

// renames is what a rename was resolved to.
type renames struct {
	old, new slot
	moved    *object // what has the old name
	there    *object // what has the new one; nil where nothing has
}

func (m *renames) close() {
	m.old.close()
	m.new.close()
	m.moved.close()
	m.there.close()
}

func (r renaming) resolve(c *call) (*renames, error) {
	m := &renames{}
	var err error
	if m.old, err = c.slot(r.from); err != nil {
		return nil, err
	}
	if m.new, err = c.slot(r.to); err != nil {
		m.close()
		return nil, err
	}
	if m.old.dir.st.Dev != m.new.dir.st.Dev {
		m.close()
		return nil, unix.EXDEV
	}
	for _, s := range []slot{m.old, m.new} {
		if s.name == "" || special(s.name) {
			m.close()
			if s == m.new && r.flags&unix.RENAME_NOREPLACE != 0 {
				return nil, unix.EEXIST
			}
			return nil, unix.EBUSY
		}
	}
	if m.moved, err = m.old.pin(c); err == nil {
		m.there, err = m.new.pin(c)
		if err == unix.ENOENT && r.flags&unix.RENAME_EXCHANGE == 0 {
			err = nil
		}
	}
	if err != nil {
		m.close()
		return nil, err
	}
	return m, nil
}

func (r renaming) perform(c *call) outcome {
	m, err := r.resolve(c)
	if err != nil {
		return failed(err)
	}
	defer m.close()
	if m.there != nil && r.flags == 0 && m.moved.identity() == m.there.identity() {
		return failed(unix.Renameat2(m.old.dir.fd, m.old.name, m.new.dir.fd, m.new.name, r.flags)) // two names of one file: nothing moves
	}
	if m.there != nil && r.flags&unix.RENAME_NOREPLACE != 0 {
		return failed(unix.EEXIST)
	}
	onto := r.onto(c, m)
	v := stricter(onto, r.away(c, m))
	replaces := (rank(onto.Decision) == 1 || onto.ByContent()) && r.flags&unix.RENAME_EXCHANGE == 0 && m.moved.kind() == unix.S_IFREG
	var placed *replacement
	if end := c.decide(v, func() *question {
		q := r.question(c, m, replaces)
		placed = q.placed
		return q
	}); end != nil {
		return *end
	}
	if placed != nil {
		return outcome{how: blocks, side: placing, then: func() outcome { return r.place(c, placed) }}
	}
	return failed(r.move(m))
}

// onto judges what the new name becomes, and with an exchange the old one.
func (r renaming) onto(c *call, m *renames) policy.Verdict {
	op := policy.Create
	if m.there != nil {
		op = policy.Write
	}
	v := c.file(op, m.new.path())
	v = stricter(v, c.below(m.moved, policy.Create, m.new.path()))
	if r.flags&unix.RENAME_EXCHANGE != 0 {
		v = stricter(v, c.file(policy.Write, m.old.path()))
		v = stricter(v, c.below(m.there, policy.Create, m.old.path()))
	}
	return v
}

// away judges what goes from its old name, and with an exchange from the new one.
func (r renaming) away(c *call, m *renames) policy.Verdict {
	v := c.file(policy.Delete, m.old.path())
	v = stricter(v, c.below(m.moved, policy.Delete, m.old.path()))
	if r.flags&unix.RENAME_EXCHANGE != 0 {
		v = stricter(v, c.file(policy.Delete, m.new.path()))
		v = stricter(v, c.below(m.there, policy.Delete, m.new.path()))
	}
	return v
}

func (r renaming) question(c *call, m *renames, replaces bool) *question {
	q := &question{kind: wire.KindFile, op: policy.Write, target: m.new.path(), from: m.old.path(), as: r.to.path,
		act: r.act(m), identity: m.moved.identity(), pins: keep(m.moved, m.there)}
	switch {
	case m.there == nil:
		q.op = policy.Create
	default:
		q.identity += " " + m.there.identity()
	}
	var was, is []byte
	q.before, was = c.contents(m.there)
	if replaces {
		q.after, is = c.contents(m.moved)
		if q.after != nil && q.after.SHA256 != "" {
			access := accessList(m.moved)
			q.placed = &replacement{sha256: q.after.SHA256, mode: m.moved.st.Mode, access: access}
			q.copied = rank(r.away(c, m).Decision) == 0
			q.act = q.act.withAccess(access)
		}
		if q.copied && !opensMore(m) {
			q.weigh(c, was, is)
		}
	}
	return q
}

// act is what a rename does. Who may do what with the file comes with it.
func (r renaming) act(m *renames) act {
	a := act{does: "rename", with: []string{strconv.Itoa(int(r.flags))}}
	if m.moved.kind() == unix.S_IFLNK {
		return a
	}
	return a.withMode(m.moved.st.Mode)
}

// opensMore reports whether a file lets somebody do with it what the one it replaces, or
// an ordinary new one, does not: then its contents are not all that matters.
func opensMore(m *renames) bool {
	was := uint32(0o664)
	if m.there != nil {
		was |= m.there.st.Mode
	}
	return m.moved.st.Mode&0o7777&^was != 0 || accessList(m.moved) != ""
}

// move renames, and takes it back where a folder has taken the place of the file that
// was judged: the contents of folders are judged, too. The agent's own programs cannot
// do that meanwhile, those of another spawn can.
func (r renaming) move(m *renames) error {
	if err := unix.Renameat2(m.old.dir.fd, m.old.name, m.new.dir.fd, m.new.name, r.flags); err != nil {
		return err
	}
	if m.moved.kind() == unix.S_IFDIR {
		return nil
	}
	var st unix.Stat_t
	err := unix.Fstatat(m.new.dir.fd, m.new.bare(), &st, unix.AT_SYMLINK_NOFOLLOW)
	if err != nil || st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return nil //nolint:nilerr // moved on meanwhile, by a call that was judged by itself
	}
	if err := unix.Renameat2(m.new.dir.fd, m.new.bare(), m.old.dir.fd, m.old.bare(), unix.RENAME_NOREPLACE); err != nil {
		return unix.EACCES
	}
	return errAgain
}
