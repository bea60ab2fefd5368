//go:build linux

package supervise

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"loop/backend/soaktest"
)

// Paths that the random operations take: names, links, folders, what ends in a slash,
// what is missing, and what is too long.
var trialPaths = []string{
	"a", "b", "d", "d/a", "d/b", "d/e", "d/e/a", "d/", "a/", "d/e/", "d/../a", "./b", "d//b", "l", "l/", "dl", "dl/a", "dl/", "loop", "loop/x",
	"dangling", "dangling/", "missing", "missing/x", "missing/", ".", "..", "", "/", "d/.", "d/..", "d/e/..", "fifo", "sock", "a/x", "d/e/../../a",
	strings.Repeat("n", 255), strings.Repeat("n", 256), strings.Repeat("d/../", 900) + "a", strings.Repeat("x/", 2100), "d/l2", "abs", "selfcwd/a", "selfcwd",
	"/proc/self/cwd/a", "/proc/self/cwd/d/b", "/proc/thread-self/cwd/new", "/dev/null", "/proc/self/nope", "new", "d/new", "dl/new",
	"unreadable", "closed/a", "closed", "ro",
}

// trialTree makes what the operations begin with.
func trialTree() {
	must := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	must(os.MkdirAll("d/e", 0o755))
	for _, n := range []string{"a", "b", "d/a", "d/b", "d/e/a", "unreadable", "ro"} {
		must(os.WriteFile(n, []byte(n), 0o644))
	}
	must(os.Mkdir("closed", 0o755))
	must(os.WriteFile("closed/a", nil, 0o644))
	for n, to := range map[string]string{"l": "a", "dl": "d", "loop": "loop", "dangling": "made", "d/l2": "../b", "selfcwd": "/proc/self/cwd"} {
		must(os.Symlink(to, n))
	}
	wd, err := os.Getwd()
	must(err)
	must(os.Symlink(wd+"/a", "abs"))
	must(unix.Mkfifo("fifo", 0o600))
	must(os.Chmod("unreadable", 0))
	must(os.Chmod("ro", 0o400))
	must(os.Chmod("closed", 0))
}

// trial makes random operations and prints what each returned.
func trial(args []string) {
	seed, _ := strconv.ParseUint(args[0], 10, 64)
	count, _ := strconv.Atoi(args[1])
	trialTree()
	r := rand.New(rand.NewPCG(seed, 1))
	out := json.NewEncoder(os.Stdout)
	for i := range count {
		what, err := operation(r)
		if what != "" {
			_ = out.Encode(fmt.Sprintf("%d %s = %s", i, what, name(err)))
		}
	}
	_ = os.Chmod("closed", 0o755)
	_ = filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			_ = out.Encode(p + " " + name(err))
			return nil
		}
		var st unix.Stat_t
		_ = unix.Lstat(p, &st)
		size := st.Size
		if d.IsDir() {
			size = 0
		}
		text, _ := os.Readlink(p)
		if filepath.IsAbs(text) && !strings.HasPrefix(text, "/proc") {
			text = "…/" + filepath.Base(text)
		}
		_ = out.Encode(fmt.Sprintf("%s %o %d:%d links %d size %d %s", p, st.Mode, st.Uid, st.Gid, st.Nlink, size, text))
		return nil
	})
}

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// operation makes one call with random arguments.
func operation(r *rand.Rand) (string, error) {
	p, q := pick(r, trialPaths...), pick(r, trialPaths...)
	kind := r.IntN(19)
	if kind > 4 && (p == "/" || q == "/" || p == "/dev/null" || q == "/dev/null") {
		return "", nil // they are not the test's to change
	}
	short := func(s string) string {
		if len(s) > 40 {
			return s[:40] + "…" + strconv.Itoa(len(s))
		}
		return s
	}
	dirfd := unix.AT_FDCWD
	at := ""
	if r.IntN(4) == 0 {
		if fd, err := unix.Open(pick(r, "d", "dl", "a", "."), unix.O_PATH|unix.O_CLOEXEC, 0); err == nil {
			defer func() { _ = unix.Close(fd) }()
			dirfd, at = fd, " at"
		}
	}
	if (kind == 5 || kind == 6 || kind == 11 || kind == 12) && (p == "fifo" || q == "fifo") {
		return "", nil // under another name an open of it would wait, supervised or not
	}
	mode := pick[uint32](r, 0o777, 0o644, 0o600, 0o1777, 0o4755, 0)
	switch kind {
	case 0, 1, 2, 3, 4:
		flags := pick(r, unix.O_RDONLY, unix.O_WRONLY, unix.O_RDWR) | unix.O_CLOEXEC
		for _, f := range []int{unix.O_CREAT, unix.O_EXCL, unix.O_TRUNC, unix.O_APPEND, unix.O_NOFOLLOW, unix.O_DIRECTORY, unix.O_NOATIME, unix.O_SYNC} {
			if r.IntN(4) == 0 {
				flags |= f
			}
		}
		if p == "fifo" || r.IntN(4) == 0 {
			flags |= unix.O_NONBLOCK
		}
		if r.IntN(20) == 0 {
			flags = unix.O_TMPFILE | unix.O_RDWR
		}
		var fd int
		var err error
		var how string
		var st unix.Stat_t
		link := unix.Fstatat(dirfd, p, &st, unix.AT_SYMLINK_NOFOLLOW) == nil && st.Mode&unix.S_IFMT == unix.S_IFLNK
		if kind == 0 {
			h := unix.OpenHow{Flags: uint64(flags), Resolve: pick[uint64](r, 0, 0, unix.RESOLVE_NO_SYMLINKS, unix.RESOLVE_BENEATH, unix.RESOLVE_NO_MAGICLINKS, unix.RESOLVE_NO_XDEV, unix.RESOLVE_IN_ROOT)}
			if flags&(unix.O_CREAT|unix.O_TMPFILE&^unix.O_DIRECTORY) != 0 {
				h.Mode = uint64(mode)
			}
			if strings.Contains(p, "/proc") || strings.HasPrefix(p, "/dev/fd") || p == "selfcwd" || p == "selfcwd/a" || link {
				h.Resolve = 0 // refused: EAGAIN below /proc, ELOOP where a link that leads nowhere would be followed
			}
			how = fmt.Sprintf("openat2%s %s %o %o %x", at, short(p), flags, h.Mode, h.Resolve)
			fd, err = unix.Openat2(dirfd, p, &h)
		} else {
			how = fmt.Sprintf("open%s %s %o %o", at, short(p), flags, mode)
			fd, err = unix.Openat(dirfd, p, flags, mode)
		}
		if err == nil {
			fl, _ := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
			how += fmt.Sprintf(" fl %o", fl&^unix.O_NOFOLLOW)
			n, werr := unix.Write(fd, []byte("xy"))
			how += fmt.Sprint(" wrote ", n, name(werr))
			_ = unix.Close(fd)
		}
		return how, err
	case 5:
		flags := pick[uint](r, 0, 0, unix.RENAME_NOREPLACE, unix.RENAME_EXCHANGE, 3, 8)
		return fmt.Sprintf("renameat2%s %s %s %d", at, short(p), short(q), flags), unix.Renameat2(dirfd, p, unix.AT_FDCWD, q, flags)
	case 6:
		return fmt.Sprintf("rename %s %s", short(p), short(q)), unix.Rename(p, q)
	case 7:
		return fmt.Sprintf("unlink%s %s", at, short(p)), unix.Unlinkat(dirfd, p, 0)
	case 8:
		return fmt.Sprintf("rmdir%s %s", at, short(p)), unix.Unlinkat(dirfd, p, unix.AT_REMOVEDIR)
	case 9:
		return fmt.Sprintf("mkdir%s %s %o", at, short(p), mode), unix.Mkdirat(dirfd, p, mode)
	case 10:
		kind := pick[uint32](r, 0, unix.S_IFREG, unix.S_IFSOCK)
		return fmt.Sprintf("mknod%s %s %o", at, short(p), kind|mode), unix.Mknodat(dirfd, p, kind|mode, 0)
	case 11:
		flags := pick(r, 0, unix.AT_SYMLINK_FOLLOW)
		return fmt.Sprintf("link%s %s %s %d", at, short(p), short(q), flags), unix.Linkat(dirfd, p, unix.AT_FDCWD, q, flags)
	case 12:
		return fmt.Sprintf("symlink %s %s%s", short(p), short(q), at), unix.Symlinkat(p, dirfd, q)
	case 13:
		return fmt.Sprintf("chmod%s %s %o", at, short(p), mode), unix.Fchmodat(dirfd, p, mode, 0)
	case 14:
		id := pick(r, os.Getuid(), -1, 4242)
		flags := pick(r, 0, unix.AT_SYMLINK_NOFOLLOW, unix.AT_EMPTY_PATH)
		if dirfd == unix.AT_FDCWD && p == "" {
			flags = 0
		}
		return fmt.Sprintf("chown%s %s %d %d", at, short(p), id, flags), unix.Fchownat(dirfd, p, id, -1, flags)
	case 15:
		return fmt.Sprintf("truncate %s", short(p)), unix.Truncate(p, int64(r.IntN(20)))
	case 16:
		ts := []unix.Timespec{{Sec: 100, Nsec: pick[int64](r, 5, unix.UTIME_NOW, unix.UTIME_OMIT, 1e9)}, {Sec: 200}}
		return fmt.Sprintf("utimensat%s %s %d", at, short(p), ts[0].Nsec), unix.UtimesNanoAt(dirfd, p, ts, pick(r, 0, unix.AT_SYMLINK_NOFOLLOW))
	case 17:
		return fmt.Sprintf("setxattr %s", short(p)), unix.Setxattr(p, pick(r, "user.x", "user.y", "trusted.x", "nothing", ""), []byte("v"), pick(r, 0, 1, 2, 4))
	case 18:
		return fmt.Sprintf("lremovexattr %s", short(p)), unix.Lremovexattr(p, pick(r, "user.x", "user.y", "trusted.x", "nothing"))
	}
	return "", nil
}

func init() { acts["trial"] = trial }

// compare runs an act with and without a supervisor that allows everything, and reports
// where what it prints differs. at is the name of a folder for it.
func compare(t *testing.T, at, act string, args ...string) {
	t.Helper()
	var outs [2][]string
	for i, mode := range []string{"none", "filter"} {
		// Deep, because a link to the working directory leads "../.." out of the folder:
		// what is made there must not be seen by the other run.
		dir := filepath.Join(os.Getenv(dirVar), at, mode[:4], "4/3/2/1/in")
		p := launchIn(t, dir, mode, act, args...)
		if mode == "filter" {
			uid := agentID(t)
			s, err := Start(Options{Listener: p.listener, Agent: Agent{UID: uid, GID: uid, Groups: []int{uid}}, Judge: &rules{}, Ask: noQuestions, SpawnID: "s"})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = s.Close() }()
		}
		p.let(t)
		outs[i] = strings.Split(p.wait(t), "\n")
	}
	if slices.Equal(outs[0], outs[1]) {
		return
	}
	bad := 0
	for i := range max(len(outs[0]), len(outs[1])) {
		line := func(o []string) string {
			if i < len(o) {
				return o[i]
			}
			return "(none)"
		}
		if a, b := line(outs[0]), line(outs[1]); a != b {
			t.Errorf("without: %s\n   with: %s", a, b)
			if bad++; bad > 4 {
				return
			}
		}
	}
}

// Sequences of operations come to the same results, and leave the same tree. A soak tries
// others each time: the first one's number is a SUPERVISE_SEED that shows a difference again.
func TestSameAsWithout(t *testing.T) {
	if !keeper(t) {
		return
	}
	first := uint64(1)
	if soaktest.Whole() {
		first = uint64(time.Now().UnixNano())
	}
	if s := os.Getenv("SUPERVISE_SEED"); s != "" {
		first, _ = strconv.ParseUint(s, 10, 64)
	}
	for i := range uint64(12) {
		seed := first + i
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { compare(t, fmt.Sprint(seed), "trial", fmt.Sprint(seed), "250") })
		if t.Failed() {
			return
		}
	}
}
