//go:build linux

package supervise

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// act is what a call does to its object: two calls with equal acts, on one object, do
// the same. An answer to one is no answer to any other.
type act struct {
	does  string            // the kind of call, whatever its number
	with  []string          // every argument that matters, as it is performed
	shown map[string]string // what of it a person must see
}

// show adds something that a person must see.
func (a act) show(what, value string) act {
	if a.shown == nil {
		a.shown = make(map[string]string)
	}
	a.shown[what] = value
	return a
}

// digest is equal for two calls that do the same to what is called the same. It covers
// the bytes of the paths, of which a description as text may lose some.
func (q *question) digest() string {
	from := q.from
	if q.copied {
		from = ""
	}
	return hashed(append([]string{q.kind, string(q.op), q.act.does, q.target, from, q.as}, q.act.with...)...)
}

// hashed is the SHA-256 of the parts, in which none can pass for two.
func hashed(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		_, _ = io.WriteString(h, strconv.Itoa(len(p))+":"+p)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// fingerprint is the SHA-256 of a text.
func fingerprint(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// withMode adds the permissions that an object gets.
func (a act) withMode(mode uint32) act {
	a.with = append(a.with, strconv.FormatUint(uint64(mode), 8))
	return a.show("mode", modeText(mode))
}

// withAccess adds the list of those that may do more than the mode says.
func (a act) withAccess(list string) act {
	a.with = append(a.with, list)
	if list == "" {
		return a
	}
	return a.show("access_list", strconv.Itoa((len(list)-4)/8)+" entries, SHA-256 "+fingerprint(list))
}

// modeText says a mode in octal and as ls does.
func modeText(mode uint32) string {
	text := []byte("rwxrwxrwx")
	for i := range text {
		if mode&(0o400>>i) == 0 {
			text[i] = '-'
		}
	}
	for _, special := range []struct {
		bit, x uint32
		at     int
		letter byte
	}{{unix.S_ISUID, 0o100, 2, 's'}, {unix.S_ISGID, 0o010, 5, 's'}, {unix.S_ISVTX, 0o001, 8, 't'}} {
		if mode&special.bit == 0 {
			continue
		}
		text[special.at] = special.letter
		if mode&special.x == 0 {
			text[special.at] -= 'a' - 'A'
		}
	}
	return fmt.Sprintf("%04o %s", mode&0o7777, text)
}

func chmods(mode uint32) act { return act{does: "chmod"}.withMode(mode) }

func chowns(uid, gid int) act {
	a := act{does: "chown", with: []string{strconv.Itoa(uid), strconv.Itoa(gid)}}
	if uid != -1 {
		a = a.show("owner", strconv.Itoa(uid))
	}
	if gid != -1 {
		a = a.show("group", strconv.Itoa(gid))
	}
	return a
}

func truncates(size int64) act {
	n := strconv.FormatInt(size, 10)
	return act{does: "truncate", with: []string{n}}.show("length", n)
}

// retimes is the setting of the time of access and of that of change; nil is now.
func retimes(ts *[2]unix.Timespec) act {
	a := act{does: "times"}
	for i, what := range []string{"accessed", "modified"} {
		t := unix.Timespec{Nsec: unix.UTIME_NOW}
		if ts != nil {
			t = ts[i]
		}
		switch t.Nsec {
		case unix.UTIME_OMIT:
			a.with = append(a.with, "as it is")
		case unix.UTIME_NOW:
			a.with = append(a.with, "now")
			a = a.show(what, "now")
		default:
			a.with = append(a.with, fmt.Sprint(int64(t.Sec), ".", int64(t.Nsec)))
			a = a.show(what, time.Unix(int64(t.Sec), int64(t.Nsec)).UTC().Format(time.RFC3339Nano))
		}
	}
	return a
}

// shortValue bounds the value of an attribute that is shown as it is.
const shortValue = 256

func (a attribute) act() act {
	if a.gone {
		return act{does: "removexattr", with: []string{a.name}}.show("attribute_removed", a.name)
	}
	hash := fingerprint(string(a.value))
	does := act{does: "setxattr", with: []string{a.name, hash, strconv.Itoa(a.flags)}}.show("attribute", a.name)
	if text := string(a.value); len(text) <= shortValue && printable(text) {
		return does.show("value", text)
	}
	return does.show("value", strconv.Itoa(len(a.value))+" bytes, SHA-256 "+hash)
}

func printable(s string) bool {
	for _, r := range s {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}

func makesFolder(mode uint32) act { return act{does: "mkdir"}.withMode(mode) }

// makesNode is the making of a file, a FIFO or a socket; mode has its type.
func makesNode(mode uint32) act {
	types := map[uint32]string{unix.S_IFIFO: "FIFO", unix.S_IFSOCK: "socket"}
	a := act{does: "mknod"}.withMode(mode)
	if name, ok := types[mode&unix.S_IFMT]; ok {
		return a.show("type", name)
	}
	return a.show("type", "file")
}

func symlinks(to string) act {
	return act{does: "symlink", with: []string{to}}.show("link_target", to)
}

// meaning are the flags of an open that say what becomes possible with it.
const meaning = unix.O_ACCMODE | unix.O_APPEND | unix.O_TRUNC | unix.O_TMPFILE

// act is what an open of something that is there does, or with a mode the making of it.
func (o opening) act(mode *uint32) act {
	a := act{does: "open", with: []string{strconv.Itoa(o.flags & meaning)}}
	if mode != nil {
		a.does = "create"
		return a.withMode(*mode)
	}
	if o.flags&unix.O_TRUNC != 0 {
		return a.show("length", "0")
	}
	return a
}
