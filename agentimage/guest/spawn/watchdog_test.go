//go:build linux

package spawn

import (
	"os/exec"
	"slices"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"loop/backend/wire"
)

// TestAStoppedSupervisorIsEnded after so many looks in a row, and what it held with it. One
// that went on in between begins anew.
func TestAStoppedSupervisorIsEnded(t *testing.T) {
	var lost []string
	m := newTable(t, func(c *Config) { c.Unsupervised = func(id string) { lost = append(lost, id) } })
	p := newProc(m, "a", [32]byte{}, wire.Spawn{})
	p.supervised = true
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	pid, ended, err := m.cfg.Reaper.Start("a", sleep, []string{"sleep", "1000"}, &syscall.ProcAttr{})
	if err != nil {
		t.Fatal(err)
	}
	p.keeper = pid
	signal := func(sig unix.Signal, stopped bool) {
		t.Helper()
		if err := unix.Kill(p.keeper, sig); err != nil {
			t.Fatal(err)
		}
		for {
			if q, ok := readProcess(p.keeper); !ok || (q.state == 'T') == stopped {
				return
			}
		}
	}
	looks := func(n int) (stopped int) {
		for range n {
			stopped = p.look(stopped)
		}
		return stopped
	}
	if n := looks(2 * maxStopped); n != 0 {
		t.Fatalf("one that works was stopped at %d looks", n)
	}
	signal(unix.SIGSTOP, true)
	if n := looks(maxStopped - 1); n != maxStopped-1 {
		t.Fatalf("it was stopped at %d looks", n)
	}
	signal(unix.SIGCONT, false)
	if n := p.look(maxStopped - 1); n != 0 {
		t.Fatalf("after it went on, %d", n)
	}
	signal(unix.SIGSTOP, true)
	looks(maxStopped)
	ws := p.awaitKeeper(&keeperEnd{ended: ended})
	if !ws.Signaled() || ws.Signal() != syscall.SIGKILL {
		t.Errorf("it ended with %d", ws)
	}
	if p.lost(ws, true); !slices.Equal(lost, []string{"a"}) {
		t.Errorf("the container was ended for %q", lost)
	}
}
