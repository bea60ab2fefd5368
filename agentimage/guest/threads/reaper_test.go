//go:build linux

package threads

import (
	"bufio"
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// newReaper runs a reaper in the test process, which becomes the parent of orphans, as
// PID 1 is.
func newReaper(t *testing.T) *Reaper {
	t.Helper()
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	r := NewReaper()
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { r.Run(ctx) })
	t.Cleanup(func() { cancel(); wg.Wait() })
	return r
}

func startSh(t *testing.T, r *Reaper, script string, out *os.File) (int, <-chan syscall.WaitStatus) {
	t.Helper()
	files := []uintptr{0, 1, 2}
	if out != nil {
		files[1] = out.Fd()
	}
	pid, done, err := r.Start("kid", "/bin/sh", []string{"sh", "-c", script}, &syscall.ProcAttr{Env: os.Environ(), Files: files})
	if err != nil {
		t.Fatal(err)
	}
	return pid, done
}

// TestFastExits: a program may end before its start was reported, and its status is not
// lost.
func TestFastExits(t *testing.T) {
	r := newReaper(t)
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			pid, done, err := r.Start("kid", "/bin/sh", []string{"sh", "-c", "exit " + strconv.Itoa(i)}, &syscall.ProcAttr{Files: []uintptr{0, 1, 2}})
			if err != nil {
				t.Error(err)
				return
			}
			if ws := <-done; ws.ExitStatus() != i || known(r, pid) {
				t.Errorf("status %d for %d, known %v", ws.ExitStatus(), i, known(r, pid))
			}
		})
	}
	wg.Wait()
}

// TestOrphans: a program that ends leaves its children to the reaper. The reaper
// collects their exits and tells nobody, and no zombie stays.
func TestOrphans(t *testing.T) {
	r := newReaper(t)
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	// The orphan outlives its parent and holds the pipe until it ends.
	_, done := startSh(t, r, `(read x; exit 5) <&0 & echo $!`, out)
	_ = out.Close()
	line, err := bufio.NewReader(in).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if ws := <-done; ws.ExitStatus() != 0 {
		t.Fatalf("parent: %d", ws)
	}
	orphan, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	_ = unix.Kill(orphan, unix.SIGKILL)
	for unix.Kill(orphan, 0) == nil { // the process exists until it was reaped
		r.do(func() {})
	}
}

// TestStopIsNotAnEnd stops and continues a program, and neither counts as its exit.
func TestStopIsNotAnEnd(t *testing.T) {
	r := newReaper(t)
	pid, done := startSh(t, r, `kill -STOP $$; exit 7`, nil)
	for state(t, pid) != "T" {
		r.do(func() {})
	}
	// A tracer's wait would report the stop too. The reaper passes over it as well.
	var ends []int
	r.do(func() {
		wait(unix.WNOHANG|unix.WUNTRACED|unix.WCONTINUED, func(pid int, _ syscall.WaitStatus) { ends = append(ends, pid) })
	})
	select {
	case ws := <-done:
		t.Fatalf("ended with %x", ws)
	default:
	}
	if len(ends) != 0 || !known(r, pid) {
		t.Fatalf("ends %v, known %v", ends, known(r, pid))
	}
	if err := unix.Kill(pid, unix.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if ws := <-done; ws.ExitStatus() != 7 {
		t.Fatalf("status %x", ws)
	}
}

// state is the letter of a process's state in /proc.
func state(t *testing.T, pid int) string {
	t.Helper()
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+1:]))[0]
}

// TestOneThread: every fork happens on the same thread. A parent-death signal and a
// tracer know only that thread as the parent.
func TestOneThread(t *testing.T) {
	r := newReaper(t)
	seen := map[int]bool{}
	for range 50 {
		var wg sync.WaitGroup
		wg.Go(func() { r.do(func() { seen[unix.Gettid()] = true }) })
		wg.Wait()
	}
	if len(seen) != 1 {
		t.Fatalf("worked on threads %v", seen)
	}
}

func TestStartAfterTheEnd(t *testing.T) {
	r := NewReaper()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r.Run(ctx)
	if _, _, err := r.Start("kid", "/bin/true", []string{"true"}, &syscall.ProcAttr{}); !errors.Is(err, os.ErrClosed) {
		t.Fatalf("%v", err)
	}
	if known(r, 1) {
		t.Error("knows a process")
	}
}

func known(r *Reaper, pid int) bool {
	name, ok := r.Name(pid)
	return ok && name == "kid"
}
