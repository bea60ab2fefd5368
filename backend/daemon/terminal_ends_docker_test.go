//go:build docker

package daemon

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"loop/backend/core"
	"loop/backend/guestlink"
	"loop/backend/terminal/programs"
)

// opened is a new session with a viewer of its screen. The viewer ends with the test.
func opened(t *testing.T, d *Daemon, spec core.TerminalSpec) (core.TerminalInfo, *screenText) {
	t.Helper()
	i, err := d.terminals.Create(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	v, err := d.terminals.Attach(t.Context(), i.ID, core.TerminalAttach{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Close)
	return i, &screenText{v: v}
}

// processes are the command lines in a container, as the engine lists them.
func processes(t *testing.T, box core.ContainerID) string {
	t.Helper()
	out, err := exec.Command("docker", "top", string(box), "-eo", "pid,args").CombinedOutput()
	if err != nil {
		t.Fatalf("%v %s", err, out)
	}
	return string(out)
}

// TestEndOfAForkBomb ends a session at the limit of processes, whose programs ignore
// signals.
func TestEndOfAForkBomb(t *testing.T) {
	d, ch := startedWith(t, `{"container_pids": 256}`) // threads count; those of loop init and its keepers are some dozens
	other, err := d.terminals.Create(t.Context(), core.TerminalSpec{ChannelID: ch.ID, Plain: true})
	if err != nil {
		t.Fatal(err)
	}
	i, screen := opened(t, d, core.TerminalSpec{ChannelID: ch.ID, Cmd: []string{"bash", "-c", `
		trap '' HUP TERM INT
		setsid sleep 100000 & (setsid nohup sleep 100000 >/dev/null 2>&1 &) ; (kill -STOP $BASHPID) &
		b() { b & b & wait; }; echo ready; while true; do b; done 2>/dev/null`}})
	screen.until(t, "ready")
	facts := func() string { return processes(t, i.ContainerID) }
	await(t, "as many processes as fit", func() bool { return strings.Count(facts(), "\n") > 150 })
	t.Logf("%d processes", strings.Count(facts(), "\n"))
	// Another session may be refused now, and then with the reason.
	for range 4 {
		more, err := d.terminals.Create(t.Context(), core.TerminalSpec{ChannelID: ch.ID, Cmd: []string{"/bin/true"}})
		if err == nil {
			if err := d.terminals.CloseSession(t.Context(), more.ID); err != nil {
				t.Error(err)
			}
		} else if f := core.AsFailure(err); f.Code != core.CodeConflict || !strings.Contains(f.Cause, "processes") {
			t.Errorf("%+v", f)
		}
	}
	begin := time.Now()
	if err := d.terminals.CloseSession(t.Context(), i.ID); err != nil {
		t.Errorf("%v", err)
	}
	t.Logf("ended in %v", time.Since(begin))
	if out := facts(); strings.Contains(out, "trap") || strings.Contains(out, "100000") {
		t.Errorf("left:\n%s", out)
	}
	onlyRuns(t, d, ch.ID, other.ID)
}

// TestEndOfProcessesThatHop: each process starts the next one in a new session and
// ends. A process that is found is gone before the signal reaches it.
func TestEndOfProcessesThatHop(t *testing.T) {
	d, ch := started(t)
	other, err := d.terminals.Create(t.Context(), core.TerminalSpec{ChannelID: ch.ID, Plain: true})
	if err != nil {
		t.Fatal(err)
	}
	i, screen := opened(t, d, core.TerminalSpec{ChannelID: ch.ID, Cmd: []string{"sh", "-c", `
		trap '' HUP TERM INT
		echo 'setsid sh "$0" & exit' >hop-here
		for i in 1 2 3 4 5 6; do setsid sh ./hop-here & done; echo ready; sleep 100000`}})
	screen.until(t, "ready")
	begin := time.Now()
	if err := d.terminals.CloseSession(t.Context(), i.ID); err != nil {
		t.Errorf("%v", err)
	}
	t.Logf("ended in %v", time.Since(begin))
	for range 5 {
		if out := processes(t, i.ContainerID); strings.Contains(out, "hop-here") {
			t.Fatalf("left:\n%s", out)
		}
	}
	onlyRuns(t, d, ch.ID, other.ID)
}

// TestBackgroundOutlivesItsShell: programs that a shell leaves behind when it ends by
// itself go on until the session is closed.
func TestBackgroundOutlivesItsShell(t *testing.T) {
	d, ch := started(t)
	i, screen := opened(t, d, core.TerminalSpec{ChannelID: ch.ID, Cmd: []string{"bash", "-c",
		`nohup setsid sleep 282828 >/dev/null 2>&1 & until [ "$(cat /proc/$!/comm)" = sleep ]; do sleep 0.05; done; echo bye`}})
	screen.ended(t)
	alive := func() bool { return strings.Contains(processes(t, i.ContainerID), "282828") }
	for range 10 {
		if !alive() {
			t.Fatal("it ended with its shell")
		}
	}
	if err := d.terminals.CloseSession(t.Context(), i.ID); err != nil {
		t.Fatal(err)
	}
	if alive() {
		t.Error("it goes on without its session")
	}
	c, _, _, err := programs.Containers{Registry: d.containers}.Running(t.Context(), i.ContainerID)
	if err != nil {
		t.Fatal(err)
	}
	link, err := (&guestlink.Opener{Dialer: d.engine, Callbacks: d.callbacks, Network: d.engine, Waker: d.containers, Log: d.log}).Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer link.Close()
	if list, err := link.Spawns(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("%+v %v", list, err)
	}
}
