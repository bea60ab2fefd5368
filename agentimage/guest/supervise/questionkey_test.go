//go:build linux

package supervise

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"loop/backend/policy"
	"loop/backend/wire"
)

// TestEachPartOfAQuestionCounts: an answer is bound to what is done, to which object, under
// which name and with which contents. None of it may be exchanged while somebody thinks.
func TestEachPartOfAQuestionCounts(t *testing.T) {
	base := func() *question {
		return &question{kind: wire.KindFile, op: policy.Write, target: "/a", from: "/b", as: "a", identity: "8:5",
			act: act{does: "open", with: []string{"1"}}, before: contentOf([]byte("x")), after: contentOf([]byte("y"))}
	}
	for name, c := range map[string]struct {
		change func(*question)
		digest bool // it is part of what is done, and not only of the object
	}{
		"kind":     {func(q *question) { q.kind = wire.KindExec }, true},
		"op":       {func(q *question) { q.op = policy.Create }, true},
		"does":     {func(q *question) { q.act.does = "create" }, true},
		"with":     {func(q *question) { q.act.with = []string{"2"} }, true},
		"more":     {func(q *question) { q.act.with = []string{"1", ""} }, true},
		"target":   {func(q *question) { q.target = "/c" }, true},
		"bytes":    {func(q *question) { q.target = "/a\xff" }, true},
		"from":     {func(q *question) { q.from = "/c" }, true},
		"as":       {func(q *question) { q.as = "b" }, true},
		"shifted":  {func(q *question) { q.target, q.from = "/a/b", "" }, true},
		"identity": {func(q *question) { q.identity = "8:6" }, false},
		"in place": {func(q *question) { q.inPlace = true }, false},
		"append":   {func(q *question) { q.append = true }, false},
		"before":   {func(q *question) { q.before = contentOf([]byte("z")) }, false},
		"after":    {func(q *question) { q.after = contentOf([]byte("z")) }, false},
		"no after": {func(q *question) { q.after = nil }, false},
		"size":     {func(q *question) { q.after = &wire.Content{Size: 9, SHA256: q.after.SHA256} }, false},
	} {
		was, q := base(), base()
		c.change(q)
		if q.key() == was.key() {
			t.Errorf("%s is not part of the key", name)
		}
		if (q.digest() != was.digest()) != c.digest {
			t.Errorf("%s: part of the digest is %v", name, !c.digest)
		}
	}
	was, copied := base(), base()
	was.copied, copied.copied, copied.from = true, true, "/c"
	if was.digest() != copied.digest() || was.key() == copied.key() {
		t.Error("of a copy the place counts for the act, or not for the object")
	}
	if hashed("ab", "c") == hashed("a", "bc") {
		t.Error("one part passes for two")
	}
}

// TestEachArgumentOfAnActCounts: what a call is performed with is part of the act.
func TestEachArgumentOfAnActCounts(t *testing.T) {
	value := func(name, text string, flags int) act {
		return attribute{name: name, value: []byte(text), flags: flags}.act()
	}
	at := func(sec, nsec int64) act { return retimes(&[2]unix.Timespec{{Sec: sec, Nsec: nsec}, {}}) }
	for name, c := range map[string][2]act{
		"mode":            {chmods(0o644), chmods(0o755)},
		"owner":           {chowns(1, 2), chowns(3, 2)},
		"group":           {chowns(1, 2), chowns(1, 3)},
		"length":          {truncates(1), truncates(2)},
		"seconds":         {at(1, 1), at(2, 1)},
		"nanoseconds":     {at(1, 1), at(1, 2)},
		"now":             {at(1, 1), retimes(nil)},
		"attribute":       {value("user.a", "x", 0), value("user.b", "x", 0)},
		"value":           {value("user.a", "x", 0), value("user.a", "y", 0)},
		"flags":           {value("user.a", "x", 0), value("user.a", "x", unix.XATTR_CREATE)},
		"link":            {symlinks("/a"), symlinks("/b")},
		"node":            {makesNode(unix.S_IFIFO | 0o644), makesNode(unix.S_IFSOCK | 0o644)},
		"flags of a open": {opening{flags: unix.O_WRONLY}.act(nil), opening{flags: unix.O_WRONLY | unix.O_APPEND}.act(nil)},
		"access list":     {chmods(0o644).withAccess("a"), chmods(0o644).withAccess("b")},
		"arguments":       {runs("x", argumentsOf([]string{"a", "b"}), nil, nil), runs("x", argumentsOf([]string{"ab"}), nil, nil)},
		"a program":       {runs("x", arguments{}, nil, []string{"1"}), runs("x", arguments{}, nil, []string{"2"})},
		"folder": {runs("x", arguments{}, &object{path: "/a"}, nil),
			runs("x", arguments{}, &object{path: "/a", st: unix.Stat_t{Ino: 2}}, nil)},
	} {
		if c[0].does != c[1].does || slices.Equal(c[0].with, c[1].with) {
			t.Errorf("%s: %v and %v", name, c[0], c[1])
		}
	}
}

// TestWhatIsTheSameFile: a program that runs is the one that was judged, down to its times.
func TestWhatIsTheSameFile(t *testing.T) {
	was := unix.Stat_t{Dev: 1, Ino: 2, Size: 3, Nlink: 1, Mtim: unix.Timespec{Sec: 4}, Ctim: unix.Timespec{Sec: 5}}
	for name, c := range map[string]struct {
		change func(*unix.Stat_t)
		same   bool
	}{
		"nothing": {func(*unix.Stat_t) {}, true},
		"device":  {func(s *unix.Stat_t) { s.Dev++ }, false},
		"inode":   {func(s *unix.Stat_t) { s.Ino++ }, false},
		"size":    {func(s *unix.Stat_t) { s.Size++ }, false},
		"written": {func(s *unix.Stat_t) { s.Mtim.Nsec++ }, false},
		"changed": {func(s *unix.Stat_t) { s.Ctim.Nsec++ }, false},
		"linked":  {func(s *unix.Stat_t) { s.Ctim.Nsec++; s.Nlink++ }, true},
	} {
		is := was
		c.change(&is)
		if sameFile(&was, &is) != c.same {
			t.Errorf("%s: %v", name, !c.same)
		}
	}
	if (&execution{}).check(os.Getpid()) == nil {
		t.Error("a program that was not there when it was judged runs")
	}
}

// TestWhoSupervises: a supervisor that its agent could signal does not start.
func TestWhoSupervises(t *testing.T) {
	for _, uid := range []int{1000, wire.SupervisorID} {
		_, err := Start(Options{Listener: -1, Agent: Agent{UID: uid, GID: uid}})
		if err == nil || !strings.Contains(err.Error(), "could signal its supervisor") {
			t.Errorf("uid %d for an agent with %d: %v", os.Getuid(), uid, err)
		}
	}
}

// TestMarksThatCannotBeRead: whoever cannot find out whose something is takes it for a
// laxer program's.
func TestMarksThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	if (&Marks{Dir: dir}).laxer("socket 1:2", policy.Strict) {
		t.Error("what nobody has marked is taken for a laxer program's")
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if !(&Marks{Dir: file}).laxer("socket 1:2", policy.Strict) {
		t.Error("what cannot be looked at is taken for its own")
	}
}

// TestBoundsOfArguments: as much is read of another process as the kernel takes, and no more.
func TestBoundsOfArguments(t *testing.T) {
	long := []byte(strings.Repeat("x", maxArg) + "\x00")
	m := memory{unix.Getpid()}
	address := func(b []byte) uint64 { return uint64(uintptr(unsafe.Pointer(&b[0]))) }
	lists := map[string][]byte{"one that is too long": nil, "too much": nil}
	lists["one that is too long"] = binary.NativeEndian.AppendUint64(nil, address(long))
	for range maxArgs/(maxArg-1) + 1 {
		lists["too much"] = binary.NativeEndian.AppendUint64(lists["too much"], address(long[1:]))
	}
	for name, list := range lists {
		list = binary.NativeEndian.AppendUint64(list, 0)
		if got, err := m.strings(address(list)); err != unix.E2BIG {
			t.Errorf("%s: %d texts, %v", name, len(got), err)
		}
	}
	if got, err := m.path(address(long)); err != unix.ENAMETOOLONG {
		t.Errorf("a path of %d bytes: %v", len(got), err)
	}
}

// TestFormOfOpenat2: what openat2 does not know here is refused, as a kernel without it does.
func TestFormOfOpenat2(t *testing.T) {
	how := func(flags, mode, resolve uint64, tail ...byte) []byte {
		raw := binary.NativeEndian.AppendUint64(nil, flags)
		raw = binary.NativeEndian.AppendUint64(raw, mode)
		return append(binary.NativeEndian.AppendUint64(raw, resolve), tail...)
	}
	for name, c := range map[string]struct {
		raw  []byte
		want error
	}{
		"plain":           {how(unix.O_RDWR, 0, 0), nil},
		"a zero tail":     {how(unix.O_RDWR, 0, 0, 0, 0), nil},
		"a tail":          {how(unix.O_RDWR, 0, 0, 0, 1), unix.E2BIG},
		"unknown flags":   {how(1<<40, 0, 0), unix.EINVAL},
		"unknown resolve": {how(0, 0, 1<<20), unix.EINVAL},
		"O_PATH":          {how(unix.O_PATH, 0, 0), unix.ENOSYS},
		"a mode for none": {how(unix.O_RDWR, 0o644, 0), unix.EINVAL},
		"short":           {how(0, 0, 0)[:20], unix.EINVAL},
	} {
		if _, err := parseHow(c.raw); err != c.want {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}
