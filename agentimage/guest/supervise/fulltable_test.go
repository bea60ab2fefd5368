//go:build linux

package supervise

import (
	"fmt"
	"os"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"loop/backend/policy"
)

func init() {
	acts["full"] = func([]string) {
		_ = os.WriteFile("keep", []byte("precious"), 0o644)
		_ = unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 32, Max: 4096})
		for last := 0; last >= 0; {
			last, _ = unix.Dup(0)
		}
		_, err := unix.Open("keep", unix.O_WRONLY|unix.O_TRUNC, 0)
		fmt.Println("empty", name(err))
		_, err = unix.Open("new", unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, 0o644)
		fmt.Println("make", name(err))
		var st unix.Stat_t
		_ = unix.Stat("keep", &st)
		fmt.Println("left", st.Size, name(unix.Stat("new", &st)))
		_ = unix.Close(31)
		fd, err := unix.Open("keep", unix.O_WRONLY|unix.O_TRUNC, 0)
		_ = unix.Fstat(fd, &st)
		fmt.Println("empty", st.Size, name(err))
	}
	acts["dumped"] = func([]string) {
		if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
			panic(err)
		}
		dir := must(unix.Open(".", unix.O_RDONLY|unix.O_DIRECTORY, 0))
		fmt.Println("mkdirat", name(unix.Mkdirat(dir, "made", 0o755)))
		_, err := unix.Openat(dir, "file", unix.O_CREAT|unix.O_WRONLY, 0o644)
		fmt.Println("openat", name(err))
		fmt.Println("unlinkat", name(unix.Unlinkat(dir, "made", unix.AT_REMOVEDIR)))
		_, err = unix.Openat(99, "file", unix.O_RDONLY, 0)
		fmt.Println("no folder", name(err))
	}
	acts["readonly"] = func([]string) {
		for _, flags := range []int{unix.O_WRONLY, unix.O_WRONLY | unix.O_TRUNC, unix.O_RDWR | unix.O_TRUNC | unix.O_CREAT} {
			_, err := unix.Open("/bin/true", flags, 0o644)
			fmt.Println(flags, name(err))
		}
	}
	acts["bindrace"] = func([]string) {
		_ = os.Mkdir("deny", 0o755)
		_ = os.Mkdir("a", 0o755)
		var stop atomic.Bool
		go func() {
			for !stop.Load() {
				_ = unix.Rmdir("a/x")
				_ = unix.Symlink("../deny", "a/x")
				_ = unix.Unlink("a/x")
				_ = unix.Mkdir("a/x", 0o755)
			}
		}()
		path := must(os.Getwd()) + "/a/x/hook"
		made := false
		for range 3000 {
			fd := must(unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0))
			_ = unix.Bind(fd, &unix.SockaddrUnix{Name: path})
			_ = unix.Close(fd)
			_ = os.Remove("a/x/hook")
			if _, err := os.Lstat("deny/hook"); err == nil {
				made = true
				break
			}
		}
		stop.Store(true)
		fmt.Println(made)
	}
}

// An open that fails because the caller has no room for a descriptor has neither emptied a
// file nor made one, so that it can be tried again.
func TestOpenWithoutRoomChangesNothing(t *testing.T) {
	if !keeper(t) {
		return
	}
	want := "empty EMFILE\nmake EMFILE\nleft 8 ENOENT\nempty 0 ok\n"
	if got := start(t, Options{}, "full").wait(t); got != want {
		t.Errorf("got %q", got)
	}
}

// A process that may not be dumped, whose descriptors are root's in /proc, can use folders
// that it has open.
func TestFoldersOfAProcessThatMayNotBeDumped(t *testing.T) {
	if !keeper(t) {
		return
	}
	compare(t, "dumped", "dumped")
}

// What cannot be emptied fails as it does without a supervisor.
func TestEmptyingWhatIsReadOnly(t *testing.T) {
	if !keeper(t) {
		return
	}
	compare(t, "readonly", "readonly")
}

// A socket is bound where it was judged to be, also while the folder is exchanged for a
// link. Without the lock it is elsewhere within a thousand tries.
func TestBindWhileAFolderIsExchanged(t *testing.T) {
	if !keeper(t) {
		return
	}
	o := Options{Judge: &rules{list: []rule{{policy.Create, os.Getenv(dirVar) + "/deny/", policy.Deny}}}}
	if got := start(t, o, "bindrace").wait(t); got != "false\n" {
		t.Errorf("a socket in the closed folder: %s", got)
	}
}
