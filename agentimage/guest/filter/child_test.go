//go:build linux

package filter

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"loop/agentimage/guest/kernel"
)

// A filter cannot be taken off, so whatever tries one is this test's binary again, in a
// child that is told by its environment what to do.
const childVariable = "LOOP_FILTER_CHILD"

// childSocket is the child's end of a pair: the listener goes out, and a byte comes back
// when the child may go on.
const childSocket = 3

func init() {
	if os.Getenv(childVariable) != "" {
		runtime.LockOSThread() // here it is the first thread of the process
	}
}

func TestMain(m *testing.M) {
	name := os.Getenv(childVariable)
	if name == "" {
		os.Exit(m.Run())
	}
	if err := children[name](); err != nil {
		fmt.Println("child:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// confined gives up everything and installs; the supervisor in the parent lets it go on.
func confined(v Variant) error {
	listener, err := installed(v)
	if err != nil {
		return err
	}
	var rights []byte
	if listener >= 0 {
		rights = unix.UnixRights(listener)
	}
	return ready(rights)
}

// ready says which thread speaks, and waits until it may go on.
func ready(rights []byte) error {
	tid := binary.NativeEndian.AppendUint32(nil, uint32(unix.Gettid()))
	if err := unix.Sendmsg(childSocket, tid, rights, nil, 0); err != nil {
		return fmt.Errorf("say which thread: %w", err)
	}
	_, err := unix.Read(childSocket, make([]byte, 1))
	return err
}

func installed(v Variant) (int, error) {
	err := errors.Join(
		unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0),
		kernel.SetCaps(0),
		unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
	if err != nil {
		return -1, err
	}
	return Install(v)
}

// family is a child and what the supervisor in the test saw of it.
type family struct {
	cmd      *exec.Cmd
	out      *strings.Builder
	socket   int
	listener int // -1 where there is none
	tid      int // the thread that installed
}

// start runs a child until it asks to go on.
func start(t *testing.T, name string) *family {
	t.Helper()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	theirs := os.NewFile(uintptr(pair[1]), "child's end")
	f := &family{cmd: exec.Command("/proc/self/exe"), out: &strings.Builder{}, socket: pair[0], listener: -1}
	f.cmd.Env = append(os.Environ(), childVariable+"="+name)
	f.cmd.ExtraFiles = []*os.File{theirs}
	f.cmd.Stdout, f.cmd.Stderr = f.out, f.out
	if err := f.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = unix.Close(f.socket)
		if f.listener >= 0 {
			_ = unix.Close(f.listener)
		}
	})
	_ = theirs.Close()
	rights := make([]byte, unix.CmsgSpace(4))
	tid := make([]byte, 4)
	n, oobn, _, _, err := unix.Recvmsg(f.socket, tid, rights, unix.MSG_CMSG_CLOEXEC)
	if err != nil || n != len(tid) {
		_ = f.cmd.Wait()
		t.Fatalf("the child %s did not get as far as its filter: %v\n%s", name, err, f.out)
	}
	f.tid = int(binary.NativeEndian.Uint32(tid))
	if messages, err := unix.ParseSocketControlMessage(rights[:oobn]); err == nil && len(messages) == 1 {
		if fds, err := unix.ParseUnixRights(&messages[0]); err == nil {
			f.listener = fds[0]
		}
	}
	return f
}

// finish lets the child go on, answers what it is held in, and gives its output, the
// names of the calls it was held in, and how it ended.
func (f *family) finish(t *testing.T) (string, []string, syscall.WaitStatus) {
	t.Helper()
	if _, err := unix.Write(f.socket, []byte{0}); err != nil {
		t.Fatal(err)
	}
	var seen []string
	if f.listener >= 0 {
		seen = supervise(t, f.listener)
	}
	_ = f.cmd.Wait()
	return f.out.String(), seen, f.cmd.ProcessState.Sys().(syscall.WaitStatus)
}

// What supervisors say, of linux/seccomp.h.
type (
	notification struct {
		id     uint64
		_      [2]uint32 // pid, flags
		number int32
		_      uint32    // arch
		_      [7]uint64 // pointer, args
	}
	answer struct {
		id    uint64
		_     int64 // value
		errno int32
		flags uint32
	}
)

const (
	receive = 0xc0502100 // SECCOMP_IOCTL_NOTIF_RECV
	send    = 0xc0182101 // SECCOMP_IOCTL_NOTIF_SEND
)

// supervise lets the kernel do every call it gets, but answers the probe, until nobody is
// left who has the filter.
func supervise(t *testing.T, listener int) (names []string) {
	t.Helper()
	byNumber := map[int]string{}
	for _, c := range Notified() {
		byNumber[c.Number] = c.Name
	}
	for {
		wait := []unix.PollFd{{Fd: int32(listener), Events: unix.POLLIN}}
		if _, err := unix.Poll(wait, -1); err == unix.EINTR {
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		if wait[0].Revents&unix.POLLIN == 0 {
			return names
		}
		var n notification
		if e := control(listener, receive, &n); e == unix.ENOENT || e == unix.EINTR {
			continue // it died meanwhile
		} else if e != 0 {
			t.Fatalf("receive: %v", e)
		}
		name, known := byNumber[int(n.number)]
		if !known {
			t.Errorf("the filter held call %d, which is not in Notified", n.number)
		}
		a := answer{id: n.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
		// The probe of these tests is the only unlinkat that they make.
		if name == "unlinkat" {
			a = answer{id: n.id, errno: -int32(ProbeErrno)}
		}
		names = append(names, name)
		if e := control(listener, send, &a); e != 0 && e != unix.ENOENT {
			t.Fatalf("answer: %v", e)
		}
	}
}
