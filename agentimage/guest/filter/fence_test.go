//go:build linux

package filter

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// fenceVariable is the folder of a child that tries the fence. There is no filter, so that
// whatever is refused is the fence's doing.
const fenceVariable = "LOOP_FILTER_FENCE"

// tried is one act of that child, and from which ABI of Landlock on it is refused; 0 is
// never, which is what programs need.
type tried struct {
	name    string
	refused int
	act     func(in folderOfActs) error
}

// folderOfActs has the folder "d", the files "a" to "e" and an open descriptor of "open",
// which somebody outside of the fence has opened.
type folderOfActs struct {
	dir  string
	open int
}

func (in folderOfActs) at(name string) string { return filepath.Join(in.dir, name) }

// opens opens and closes.
func (in folderOfActs) opens(name string, flags int) error {
	fd, err := unix.Open(in.at(name), flags|unix.O_CLOEXEC, 0o600)
	if err == nil {
		_ = unix.Close(fd)
	}
	return err
}

var fenceActs = []tried{
	{"write", 1, func(in folderOfActs) error { return in.opens("a", unix.O_WRONLY) }},
	{"append", 1, func(in folderOfActs) error { return in.opens("a", unix.O_RDWR|unix.O_APPEND) }},
	{"create", 1, func(in folderOfActs) error { return in.opens("new", unix.O_WRONLY|unix.O_CREAT) }},
	{"create to read", 1, func(in folderOfActs) error { return in.opens("new to read", unix.O_RDONLY|unix.O_CREAT) }},
	{"empty by an open to read", 3, func(in folderOfActs) error { return in.opens("e", unix.O_RDONLY|unix.O_TRUNC) }},
	{"truncate", 3, func(in folderOfActs) error { return unix.Truncate(in.at("a"), 1) }},
	{"temporary file", 1, func(in folderOfActs) error { return in.opens("", unix.O_WRONLY|unix.O_TMPFILE) }},
	{"write through proc", 1, func(in folderOfActs) error {
		fd, err := unix.Open(in.at("a"), unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer func() { _ = unix.Close(fd) }()
		return reopen(fd)
	}},
	{"write a given file through proc", 1, func(in folderOfActs) error { return reopen(in.open) }},
	{"make a folder", 1, func(in folderOfActs) error { return unix.Mkdir(in.at("made"), 0o700) }},
	{"make a link", 1, func(in folderOfActs) error { return unix.Symlink("a", in.at("link")) }},
	{"make a second name", 1, func(in folderOfActs) error { return unix.Link(in.at("a"), in.at("second")) }},
	{"make a FIFO", 1, func(in folderOfActs) error { return unix.Mkfifo(in.at("fifo"), 0o600) }},
	{"make a socket", 1, func(in folderOfActs) error { return bindUnix(in.at("socket")) }},
	{"rename", 1, func(in folderOfActs) error { return unix.Rename(in.at("b"), in.at("b2")) }},
	{"rename onto", 1, func(in folderOfActs) error { return unix.Rename(in.at("c"), in.at("a")) }},
	{"move", 1, func(in folderOfActs) error { return unix.Rename(in.at("d2/f"), in.at("d/f")) }},
	{"remove", 1, func(in folderOfActs) error { return unix.Unlink(in.at("e")) }},
	{"remove a folder", 1, func(in folderOfActs) error { return unix.Rmdir(in.at("empty")) }},
	{"abstract socket outside", 6, func(in folderOfActs) error { return connectUnix("\x00loop-fence-" + filepath.Base(in.dir)) }},
	{"look into another program", 1, func(folderOfActs) error {
		_, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", os.Getppid()))
		return err
	}},

	{"read", 0, func(in folderOfActs) error { return in.opens("a", unix.O_RDONLY) }},
	{"list", 0, func(in folderOfActs) error { return in.opens("", unix.O_RDONLY|unix.O_DIRECTORY) }},
	{"only a place", 0, func(in folderOfActs) error { return in.opens("a", unix.O_PATH) }},
	{"look at oneself", 0, func(folderOfActs) error { _, err := os.ReadFile("/proc/self/environ"); return err }},
	{"write what was given", 0, func(in folderOfActs) error {
		_, err := unix.Pwrite(in.open, []byte("more"), 0)
		return errors.Join(err, unix.Ftruncate(in.open, 2), unix.Fallocate(in.open, 0, 0, 8192))
	}},
	{"map what was given", 0, func(in folderOfActs) error {
		m, err := unix.Mmap(in.open, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		if err != nil {
			return err
		}
		m[0] = 'x'
		return unix.Munmap(m)
	}},
	{"a mode", 0, func(in folderOfActs) error { return unix.Chmod(in.at("a"), 0o640) }}, // not its business
	{"a time", 0, func(in folderOfActs) error { return unix.Utimes(in.at("a"), []unix.Timeval{{Sec: 1}, {Sec: 1}}) }},
	{"memory file", 0, func(folderOfActs) error {
		fd, err := unix.MemfdCreate("m", unix.MFD_CLOEXEC)
		if err != nil {
			return err
		}
		defer func() { _ = unix.Close(fd) }()
		_, err = unix.Write(fd, []byte("m"))
		return errors.Join(err, unix.Ftruncate(fd, 100), reopen(fd))
	}},
	{"shared memory", 0, func(folderOfActs) error {
		id, err := unix.SysvShmGet(unix.IPC_PRIVATE, 4096, 0o600)
		if err != nil {
			return err
		}
		m, err := unix.SysvShmAttach(id, 0, 0)
		_, rerr := unix.SysvShmCtl(id, unix.IPC_RMID, nil)
		if err == nil {
			err = unix.SysvShmDetach(m)
		}
		return errors.Join(err, rerr)
	}},
	{"message queue", 0, func(folderOfActs) error {
		name, err := unix.BytePtrFromString(fmt.Sprintf("loop-fence-%d", os.Getpid()))
		if err != nil {
			return err
		}
		fd, _, e := unix.Syscall6(unix.SYS_MQ_OPEN, uintptr(unsafe.Pointer(name)), unix.O_RDWR|unix.O_CREAT|unix.O_EXCL, 0o600, 0, 0, 0)
		if e != 0 {
			return e
		}
		_ = unix.Close(int(fd))
		if _, _, e = unix.Syscall(unix.SYS_MQ_UNLINK, uintptr(unsafe.Pointer(name)), 0, 0); e != 0 {
			return e
		}
		return nil
	}},
	{"pty", 0, ptyPair},
	{"terminal opened to read", 0, func(folderOfActs) error {
		fd, err := unix.Open("/dev/ptmx", unix.O_RDONLY|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer func() { _ = unix.Close(fd) }()
		return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 5, Col: 5})
	}},
	{"pidfd", 0, func(folderOfActs) error {
		fd, err := unix.PidfdOpen(os.Getppid(), 0)
		if err != nil {
			return err
		}
		defer func() { _ = unix.Close(fd) }()
		return unix.PidfdSendSignal(fd, 0, nil, 0)
	}},
	{"socket pair", 0, func(folderOfActs) error {
		fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		_, err = unix.Write(fds[0], []byte("x"))
		return errors.Join(err, unix.Close(fds[0]), unix.Close(fds[1]))
	}},
	{"signal the parent", 0, func(folderOfActs) error { return unix.Kill(os.Getppid(), 0) }},
	{"run a program that looks at its sibling", 0, func(folderOfActs) error {
		cmd := exec.Command("/bin/sh", "-c", "sleep 60 & readlink /proc/$!/exe && kill $!")
		out, err := cmd.CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	}},
	{"a fence of one's own", 0, func(in folderOfActs) error {
		done := make(chan error)
		go func() {
			runtime.LockOSThread() // for good: the thread ends
			f, err := Landlock()
			if err == nil && f.ABI > 0 && !errors.Is(unix.Mkdir(in.at("nobody"), 0o700), unix.EACCES) {
				err = errors.New("the second fence holds nothing")
			}
			done <- err
		}()
		return <-done
	}},
}

// reopen opens a file again, to write, by the name that the kernel gives a descriptor.
func reopen(fd int) error {
	again, err := unix.Open(fmt.Sprintf("/proc/self/fd/%d", fd), unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err == nil {
		_ = unix.Close(again)
	}
	return err
}

func bindUnix(name string) error {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	return unix.Bind(fd, &unix.SockaddrUnix{Name: name})
}

func connectUnix(name string) error {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	return unix.Connect(fd, &unix.SockaddrUnix{Name: strings.Replace(name, "\x00", "@", 1)})
}

// ptyPair is what openpty(3) does. The master is one that a supervisor would have given.
func ptyPair(in folderOfActs) error {
	master, err := unix.Open("/dev/pts/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open a master: %w", err)
	}
	defer func() { _ = unix.Close(master) }()
	if err := unix.IoctlSetPointerInt(master, unix.TIOCSPTLCK, 0); err != nil {
		return fmt.Errorf("unlock: %w", err)
	}
	slave, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(master), unix.TIOCGPTPEER, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC)
	if e != 0 {
		return fmt.Errorf("open the other end: %w", e)
	}
	return unix.Close(int(slave))
}

// fenced tries the acts, and prints what each ended with.
func fenced(fence bool) error {
	in := folderOfActs{dir: os.Getenv(fenceVariable)}
	var err error
	if in.open, err = unix.Open(in.at("open"), unix.O_RDWR|unix.O_CLOEXEC, 0); err != nil {
		return err
	}
	if err := mountQueues(in.at("queues")); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	if fence {
		if _, err := Landlock(); err != nil {
			return err
		}
	}
	if err := ready(nil); err != nil {
		return err
	}
	for _, a := range fenceActs {
		end := "ok"
		if err := a.act(in); err != nil {
			end = err.Error()
			if e := unix.Errno(0); errors.As(err, &e) {
				end = unix.ErrnoName(e)
			}
		}
		fmt.Printf("%s=%s\n", a.name, end)
	}
	n, err := RoomForFences()
	fmt.Printf("room=%d\n", n)
	return err
}

// mountQueues puts the file system of message queues where the fence looks for it; an
// engine mounts it at /dev/mqueue, and this computer may not.
func mountQueues(dir string) error {
	err := unix.Unshare(unix.CLONE_NEWNS) // of this thread, which stays the goroutine's
	if err == nil {
		err = unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
	}
	if err == nil {
		err = unix.Mount("mqueue", dir, "mqueue", 0, "")
	}
	if err != nil {
		return fmt.Errorf("mount message queues: %w", err)
	}
	writable[1].folder = dir
	return nil
}

// TestLandlock: without a filter, each act that changes a file succeeds outside of the
// fence and is refused behind it; what programs need succeeds in both.
func TestLandlock(t *testing.T) {
	abi, err := LandlockABI()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("Landlock's ABI is %d", abi)
	ends := map[bool]map[string]string{}
	for _, fence := range []bool{false, true} {
		dir := t.TempDir()
		for _, sub := range []string{"d", "d2", "empty", "queues"} {
			if err := os.Mkdir(filepath.Join(dir, sub), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		for _, file := range []string{"a", "b", "c", "e", "d2/f", "open"} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte("kept"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		l, err := net.Listen("unix", "@loop-fence-"+filepath.Base(dir))
		if err != nil {
			t.Fatal(err)
		}
		t.Setenv(fenceVariable, dir)
		out, _, end := start(t, map[bool]string{false: "fence-none", true: "fence"}[fence]).finish(t)
		_ = l.Close()
		if end.ExitStatus() != 0 {
			t.Fatalf("fence %t: %s", fence, out)
		}
		ends[fence] = map[string]string{}
		for line := range strings.Lines(out) {
			name, how, _ := strings.Cut(strings.TrimSpace(line), "=")
			ends[fence][name] = how
		}
		if text, err := os.ReadFile(filepath.Join(dir, "a")); fence && abi >= 3 && (err != nil || string(text) != "kept") {
			t.Errorf("behind the fence the file became %q, %v", text, err)
		}
	}
	for _, a := range fenceActs {
		free, held := ends[false][a.name], ends[true][a.name]
		switch refused := a.refused > 0 && abi >= a.refused; {
		case free != "ok":
			t.Errorf("%s: %s without a fence, so that it shows nothing", a.name, free)
		case refused && held != "EACCES" && held != "EPERM" && held != "EXDEV":
			t.Errorf("%s: not refused behind the fence, it ended with %s", a.name, held)
		case !refused && held != "ok":
			t.Errorf("%s: %s behind the fence", a.name, held)
		}
	}
	var free, held int
	_, _ = fmt.Sscan(ends[false]["room"], &free)
	_, _ = fmt.Sscan(ends[true]["room"], &held)
	if abi > 0 && (free < 1 || free != held+1) || abi == 0 && free+held > 0 {
		t.Errorf("there is room for %d fences outside and %d behind one", free, held)
	}
}

// TestFenceOfOtherKernels is what this kernel cannot show.
func TestFenceOfOtherKernels(t *testing.T) {
	for abi, want := range map[int]struct {
		fence  Fence
		fs     uint64
		scoped uint64
	}{
		1: {Fence{ABI: 1}, 0x1ff2, 0},
		2: {Fence{ABI: 2, Moves: true}, 0x3ff2, 0},
		3: {Fence{ABI: 3, Moves: true, Truncate: true}, 0x7ff2, 0},
		5: {Fence{ABI: 5, Moves: true, Truncate: true}, 0x7ff2, 0},
		6: {Fence{ABI: 6, Moves: true, Truncate: true, Abstract: true}, 0x7ff2, 1},
		9: {Fence{ABI: 9, Moves: true, Truncate: true, Abstract: true}, 0x7ff2, 1},
	} {
		fence, rules := fenceOf(abi)
		if fence != want.fence || rules.Handled_access_fs != want.fs || rules.Scoped != want.scoped || rules.Handled_access_net != 0 {
			t.Errorf("ABI %d: %+v, %+v", abi, fence, rules)
		}
	}
}
