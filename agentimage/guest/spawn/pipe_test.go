//go:build linux

package spawn

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"loop/agentimage/guest/spool"
	"loop/backend/wire"
)

// TestDescriptorTravels: a descriptor that another process made arrives with its
// message and works. It is closed on exec, as a filter's listener must be.
func TestDescriptorTravels(t *testing.T) {
	ours, theirs, err := newSocketPair()
	if err != nil {
		t.Fatal(err)
	}
	defer ours.close()
	pid, err := syscall.ForkExec("/proc/self/exe", []string{"loop", "send a descriptor"},
		&syscall.ProcAttr{Env: os.Environ(), Files: layout(map[int]int{0: 0, 1: 1, 2: 2, peerFD: int(theirs)})})
	theirs.close()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = syscall.Wait4(pid, nil, 0, nil) }()
	var said report
	fd, err := ours.receive(&said)
	if err != nil || fd < 0 || said.Error == nil || said.Error.Text != "with a pipe" {
		t.Fatalf("%d %+v %v", fd, said.Error, err)
	}
	if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC == 0 {
		t.Errorf("flags %x, %v", flags, err)
	}
	f := os.NewFile(uintptr(fd), "pipe")
	defer func() { _ = f.Close() }()
	if got, err := io.ReadAll(f); string(got) != "through it" || err != nil {
		t.Errorf("%q %v", got, err)
	}
	if _, err := ours.receive(&said); !errors.Is(err, io.EOF) {
		t.Errorf("after its end: %v", err)
	}
}

// sendDescriptor runs in the other process of TestDescriptorTravels.
func sendDescriptor() int {
	r, w, err := os.Pipe()
	if err != nil {
		return 1
	}
	if err := socket(peerFD).send(report{Error: &wire.Error{Text: "with a pipe"}}, int(r.Fd())); err != nil {
		return 1
	}
	if _, err := w.WriteString("through it"); err != nil {
		return 1
	}
	return 0
}

func TestSocketRefuses(t *testing.T) {
	a, b, err := newSocketPair()
	if err != nil {
		t.Fatal(err)
	}
	defer a.close()
	if err := a.send(strings.Repeat("x", maxMessage)); err == nil {
		t.Error("sent too much")
	}
	for name, data := range map[string][]byte{"no JSON": []byte("{"), "too long": bytes.Repeat([]byte("1"), maxMessage+1)} {
		if err := unix.Send(int(a), data, 0); err != nil {
			t.Fatal(err)
		}
		var v any
		if _, err := b.receive(&v); err == nil || errors.Is(err, io.EOF) {
			t.Errorf("%s: %v", name, err)
		}
	}
	before, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for n := 2; n < 4; n++ {
		if err := a.send("x", slices.Repeat([]int{0}, n)...); err != nil {
			t.Fatal(err)
		}
		var v any
		if fd, err := b.receive(&v); err == nil || fd != -1 {
			t.Errorf("%d descriptors: %d %v", n, fd, err)
		}
	}
	if after, err := os.ReadDir("/proc/self/fd"); err != nil || len(after) != len(before) {
		t.Errorf("%d descriptors are left of %d: %v", len(after), len(before), err)
	}
	if err := b.timeout(time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if _, err := b.receive(new(any)); !errors.Is(err, unix.EAGAIN) {
		t.Errorf("nothing in time: %v", err)
	}
	b.close()
	if err := a.send("x"); !errors.Is(err, unix.EPIPE) {
		t.Errorf("to nobody: %v", err)
	}
}

// TestProgramHasItsPipes: a program has the descriptors that it was promised, at their
// numbers. It has none of those that loop init, keeper and stage use among themselves.
func TestProgramHasItsPipes(t *testing.T) {
	m := newTable(t)
	req := sh(`ls -l /proc/self/fd >&2; while read x <&3; do echo "got $x" >&7; done; echo end >&7`)
	req.Argv[0] = "bash" // sh does not take descriptors above 9 in a script
	req.Pipes = []wire.Pipe{{FD: 3}, {FD: 7, Write: true}}
	if _, err := m.Spawn(t.Context(), "a", req, Body{}); err != nil {
		t.Fatal(err)
	}
	in, err := m.Input("a", "3")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"one\n", "two\n"} {
		if _, err := in.Write(t.Context(), []byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if got := output(t, m, "a", "7"); got != "got one\ngot two\nend\n" {
		t.Errorf("pipe 7: %q", got)
	}
	list := output(t, m, "a", "err")
	for fd, want := range map[string]bool{"0": true, "1": true, "2": true, "3": true, "7": true, "4": false, "100": false, "101": false} {
		if strings.Contains(list, " "+fd+" -> pipe") || strings.Contains(list, " "+fd+" -> socket") || strings.Contains(list, " "+fd+" -> /dev/null") {
			if !want {
				t.Errorf("descriptor %s is open", fd)
			}
		} else if want {
			t.Errorf("descriptor %s is not open", fd)
		}
	}
	if strings.Contains(list, "socket:") {
		t.Errorf("a socket is open:\n%s", list)
	}
	for _, stream := range []string{"3", "4", "", "out"} {
		if _, err := m.Output("a", stream); stream != "out" && code(err) != wire.CodeInvalid {
			t.Errorf("output of %q: %v", stream, err)
		}
	}
	if _, err := m.Input("a", "7"); code(err) != wire.CodeInvalid {
		t.Errorf("input to what is written: %v", err)
	}
	if _, err := m.Input("a", "3"); code(err) != wire.CodeConflict {
		t.Errorf("input to what is closed: %v", err)
	}
}

// TestPauseLosesNothing has a program print far more than a ring keeps, before anybody
// reads. The reader leaves and comes back, and the program goes on only as fast as it
// reads.
func TestPauseLosesNothing(t *testing.T) {
	m := newTable(t, func(c *Config) { c.Ring = 256 << 10 })
	const size = 3 << 20
	req := sh(`head -c 3145728 /dev/zero | tr '\0' x`)
	req.Pause = true
	if _, err := m.Spawn(t.Context(), "a", req, Body{}); err != nil {
		t.Fatal(err)
	}
	log, err := m.Output("a", "out")
	if err != nil {
		t.Fatal(err)
	}
	paused := func() bool { _, _, why := log.State(); return why == wire.PausedReader }
	until(t, "the program to wait for its first reader", paused)
	off := read(t, log, 0, 1<<20)
	until(t, "the program to wait for its reader to come back", paused)
	if _, _, why := log.State(); why != wire.PausedReader {
		t.Errorf("paused %q", why)
	}
	if off = read(t, log, off, 0); off != size {
		t.Fatalf("%d bytes of %d", off, size)
	}
	if exit, err := m.Wait(t.Context(), "a"); err != nil || exit.Code != 0 {
		t.Fatalf("%+v %v", exit, err)
	}
}

// TestPausedIsKilled: a program whose output nobody reads ends like any other. Its
// output is forgotten with it.
func TestPausedIsKilled(t *testing.T) {
	m := newTable(t, func(c *Config) { c.Ring = 256 << 10 })
	req := sh("yes")
	req.Pause = true
	if _, err := m.Spawn(t.Context(), "a", req, Body{}); err != nil {
		t.Fatal(err)
	}
	log, _ := m.Output("a", "out")
	until(t, "the program to wait", func() bool { _, _, why := log.State(); return why == wire.PausedReader })
	if err := m.Kill(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if err := m.Forget(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
}

// read takes bytes with a hold, up to stop or the end, and then leaves.
func read(t *testing.T, log *spool.Log, off, stop int64) int64 {
	t.Helper()
	h, at := log.Hold(off, 64<<10)
	defer h.Release()
	if at != off {
		t.Fatalf("begins at %d, want %d", at, off)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	buf := make([]byte, 10_000)
	for stop == 0 || off < stop {
		n, err := log.Next(ctx, buf, off)
		if len(bytes.Trim(buf[:n], "x")) > 0 {
			t.Fatalf("something else at %d", off)
		}
		off += int64(n)
		if errors.Is(err, io.EOF) {
			return off
		}
		if err != nil {
			t.Fatal(err)
		}
		if !h.Taken(off) {
			t.Fatalf("taken %d is refused", off)
		}
	}
	return off
}
