//go:build linux

package supervise

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"loop/backend/policy"
)

// levels of folders with names of 200 bytes make a path that is longer than any call takes.
const levels = 25

var levelName = strings.Repeat("d", 200)

func init() {
	acts["deep"] = func([]string) { // what can be done at the end of a path that nobody can say
		for range levels {
			if err := unix.Chdir(levelName); err != nil {
				fmt.Println("chdir", name(err))
				return
			}
		}
		here := must(unix.Open(".", unix.O_PATH, 0))
		pinned := must(unix.Open("closed", unix.O_PATH, 0))
		opens := func(path string, flags int) error {
			fd, err := unix.Open(path, flags, 0o644)
			_ = unix.Close(fd)
			return err
		}
		up := strings.Repeat("../", levels)
		for what, err := range map[string]error{
			"read": opens("closed", unix.O_RDONLY), "write": opens("closed", unix.O_WRONLY), "make": opens("new", unix.O_CREAT|unix.O_WRONLY),
			"read at": func() error { _, err := unix.Openat(here, "closed", unix.O_RDONLY, 0); return err }(),
			"write at": func() error {
				_, err := unix.Openat2(here, "closed", &unix.OpenHow{Flags: unix.O_RDWR, Resolve: unix.RESOLVE_BENEATH})
				return err
			}(),
			"reopen":  opens(fmt.Sprintf("/proc/self/fd/%d", pinned), unix.O_RDWR),
			"cwd":     opens("/proc/self/cwd/closed", unix.O_RDWR),
			"thread":  opens("/proc/thread-self/cwd/closed", unix.O_RDWR),
			"mkdir":   unix.Mkdir("made", 0o755),
			"unlink":  unix.Unlink("closed"),
			"symlink": unix.Symlink("closed", "link"),
			"link":    unix.Link("closed", up+"free"),
			"away":    unix.Rename("closed", up+"free"),
			"onto":    unix.Rename(up+"mine", "closed"),
			"chmod":   unix.Chmod("closed", 0o777), "truncate": unix.Truncate("closed", 0),
			"chown": unix.Fchownat(pinned, "", os.Getuid(), -1, unix.AT_EMPTY_PATH), "times": unix.UtimesNanoAt(here, "closed", nil, 0),
			"attribute": unix.Setxattr("closed", "user.x", nil, 0), "bind": bindHere(), "exec": syscall.Exec("program", []string{"program"}, nil),
			"exec at": execAt(here, "program"),
		} {
			if err == nil {
				fmt.Println(what, "went through")
			}
		}
		fmt.Println("up", name(opens(up+"mine", unix.O_RDWR)))
	}
}

func bindHere() error {
	s := must(unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0))
	return unix.Bind(s, &unix.SockaddrUnix{Name: "socket"})
}

func execAt(dir int, path string) error {
	argv := []*byte{mustBytes("program"), nil}
	_, _, e := unix.Syscall6(unix.SYS_EXECVEAT, uintptr(dir), uintptr(unsafe.Pointer(mustBytes(path))), uintptr(unsafe.Pointer(&argv[0])), 0, 0, 0)
	return e
}

// TestPathsThatNobodyCanSay: what lies so deep that its path is longer than 4,096 bytes
// cannot be judged, and is refused however it is reached.
func TestPathsThatNobodyCanSay(t *testing.T) {
	if !keeper(t) {
		return
	}
	dir := os.Getenv(dirVar)
	look := func() (text string) {
		asAgent(t, func() {
			at := must(unix.Open(dir, unix.O_PATH|unix.O_CLOEXEC, 0))
			for range levels {
				_ = unix.Mkdirat(at, levelName, 0o755)
				next, err := unix.Openat(at, levelName, unix.O_PATH|unix.O_CLOEXEC, 0)
				_ = unix.Close(at)
				if at = next; err != nil {
					t.Error(err)
					return
				}
			}
			for _, name := range []string{"closed", "program"} {
				if fd, err := unix.Openat(at, name, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_CLOEXEC, 0o755); err == nil {
					_, _ = unix.Write(fd, []byte("#!/bin/sh\necho ran\n"))
					_ = unix.Close(fd)
				}
			}
			f := os.NewFile(uintptr(must(unix.Openat(at, ".", unix.O_RDONLY|unix.O_CLOEXEC, 0))), "deep")
			names, err := f.Readdirnames(-1)
			var st unix.Stat_t
			_ = unix.Fstatat(at, "closed", &st, 0)
			text = fmt.Sprint(len(names), st.Ino, st.Mode, st.Uid, st.Size, st.Mtim, st.Nlink, err)
			_ = f.Close()
			_ = unix.Close(at)
		})
		return text
	}
	asAgent(t, func() { _ = os.WriteFile(filepath.Join(dir, "mine"), nil, 0o644) })
	before := look()
	got := start(t, Options{Judge: &rules{list: []rule{{"", "*closed", policy.Deny}, {"", "*program", policy.Deny}}}}, "deep").wait(t)
	if after := look(); got != "up ok\n" || after != before {
		t.Errorf("got %q; the folder was %s, is %s", got, before, after)
	}
}

func init() {
	acts["pointing"] = func(args []string) { // pins, waits for the test, and opens what it has pinned
		pinned := must(unix.Open("mine", unix.O_PATH, 0))
		read := must(unix.Open("mine", unix.O_RDONLY, 0))
		again := must(os.OpenFile("fifo", os.O_WRONLY, 0))
		_ = again.Close()
		_, _ = os.ReadFile("back")
		for what, fd := range map[string]int{"pinned": pinned, "read": read} {
			for _, at := range []string{"/proc/self/fd/", "/dev/fd/", "/proc/thread-self/fd/"} {
				_, err := unix.Open(fmt.Sprint(at, fd), unix.O_WRONLY, 0)
				if name(err) != args[0] {
					fmt.Println(what, at, name(err))
				}
			}
			if err := unix.Linkat(unix.AT_FDCWD, fmt.Sprint("/proc/self/fd/", fd), unix.AT_FDCWD, "third", unix.AT_SYMLINK_FOLLOW); name(err) != args[0] {
				fmt.Println(what, "link", name(err))
			}
			_ = unix.Unlink("third")
		}
		fmt.Println("over")
	}
}

// TestPinnedFileThatGetsAnotherName: a descriptor that only points to a file is judged by
// the name that the file has when it is opened through it.
func TestPinnedFileThatGetsAnotherName(t *testing.T) {
	if !keeper(t) {
		return
	}
	dir := os.Getenv(dirVar)
	at := func(name string) string { return filepath.Join(dir, name) }
	for what, c := range map[string]struct {
		change func() error
		want   string
	}{
		"renamed":   {func() error { return os.Rename(at("mine"), at("closed")) }, "EACCES"},
		"exchanged": {func() error { return unix.Renameat2(-1, at("mine"), -1, at("closed"), unix.RENAME_EXCHANGE) }, "EACCES"},
		"linked and removed": {func() error {
			_ = os.Remove(at("closed"))
			return firstError(os.Link(at("mine"), at("closed")), os.Remove(at("mine")))
		}, "EACCES"},
		// As TestFileOfTwoNames.
		"linked": {func() error { _ = os.Remove(at("closed")); return os.Link(at("mine"), at("closed")) }, "ok"},
	} {
		asAgent(t, func() {
			for _, name := range []string{"mine", "closed", "third", "fifo", "back"} {
				_ = os.Remove(at(name))
			}
			_ = os.WriteFile(at("mine"), nil, 0o644)
			_ = os.WriteFile(at("closed"), nil, 0o644)
			_ = unix.Mkfifo(at("fifo"), 0o644)
			_ = unix.Mkfifo(at("back"), 0o644)
		})
		p := start(t, Options{Judge: &rules{list: []rule{{"", at("closed"), policy.Deny}}}}, "pointing", c.want)
		_, _ = os.ReadFile(at("fifo"))
		asAgent(t, func() {
			if err := c.change(); err != nil {
				t.Error(what, err)
			}
			_ = os.WriteFile(at("back"), nil, 0)
		})
		if got := p.wait(t); got != "over\n" {
			t.Errorf("%s: got %s", what, got)
		}
	}
}

func firstError(all ...error) error {
	for _, err := range all {
		if err != nil {
			return err
		}
	}
	return nil
}

func init() {
	acts["too many"] = func([]string) { // more FIFOs wait than there are threads for
		const n = 70
		var all sync.WaitGroup
		for i := range n {
			_ = unix.Mkfifo(fmt.Sprint("waits", i), 0o600)
			all.Go(func() {
				fd, err := unix.Open(fmt.Sprint("waits", i), unix.O_RDONLY, 0)
				if err != nil {
					fmt.Println(name(err))
				}
				_ = unix.Close(fd)
			})
		}
		say := must(os.OpenFile("fifo", os.O_WRONLY, 0)) // the test has seen that all threads wait
		_ = say.Close()
		for range 200 {
			if err := os.WriteFile("other", nil, 0o644); err != nil {
				fmt.Println(name(err))
			}
		}
		fmt.Println("others went on")
		for i := range n {
			fd, err := unix.Open(fmt.Sprint("waits", i), unix.O_RDWR, 0)
			if err != nil {
				fmt.Println(name(err))
			}
			defer func() { _ = unix.Close(fd) }()
		}
		all.Wait()
		fmt.Println("all opened")
	}
}

// TestMoreFifosThanThreads: the sixty-fifth FIFO waits for one of the others, and keeps
// out nothing else.
func TestMoreFifosThanThreads(t *testing.T) {
	if !keeper(t) {
		return
	}
	asAgent(t, func() { _ = unix.Mkfifo(filepath.Join(os.Getenv(dirVar), "fifo"), 0o644) })
	p := start(t, Options{Receivers: 1}, "too many")
	until(t, func() bool {
		w := p.crews[readers]
		w.mu.Lock()
		defer w.mu.Unlock()
		return len(w.busy) == crewSize[readers] && len(w.queue) == 6
	})
	_, _ = os.ReadFile(filepath.Join(os.Getenv(dirVar), "fifo"))
	if got := p.wait(t); got != "others went on\nall opened\n" {
		t.Errorf("got %q", got)
	}
}
