//go:build docker

package daemon

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"loop/backend/core"
)

// started is a Loop of its own with one project; what it made goes with the test.
func started(t *testing.T) (*Daemon, core.Channel) {
	t.Helper()
	t.Setenv("LOOP_HOME", t.TempDir())
	d, err := New(t.Context(), Options{Version: "test", Frontend: fstest.MapFS{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		for _, c := range ofInstall(ctx, t, d) {
			if err := d.engine.Remove(ctx, c, true); err != nil {
				t.Error(err)
			}
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := d.Start(); err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ch := core.Channel{ID: core.ChannelID(core.NewID()), Kind: core.KindProject, Name: "p", Dir: dir, CreatedAt: time.Now()}
	if err := d.store.AddChannel(t.Context(), ch); err != nil {
		t.Fatal(err)
	}
	return d, ch
}

func ofInstall(ctx context.Context, t *testing.T, d *Daemon) (ids []core.ContainerID) {
	t.Helper()
	list, err := d.engine.List(ctx, map[string]string{core.LabelInstall: d.store.InstallID()})
	if err != nil {
		t.Error(err)
	}
	for _, c := range list {
		ids = append(ids, c.ID)
	}
	return ids
}

func docker(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command("docker", args...).CombinedOutput(); err != nil {
		t.Fatalf("docker %v: %v %s", args, err, out)
	}
}

// TestShellContainers: whoever comes at once gets the same container, and one
// that goes away while it is being used gives way to another.
func TestShellContainers(t *testing.T) {
	d, ch := started(t)
	plain := core.TerminalSpec{ChannelID: ch.ID, Plain: true, Cols: 100, Rows: 30}
	works := func(i core.TerminalInfo) {
		t.Helper()
		v, err := d.terminals.Attach(t.Context(), i.ID, core.TerminalAttach{})
		if err != nil {
			t.Fatal(err)
		}
		defer v.Close()
		if err := d.terminals.Input(t.Context(), i.ID, []byte("echo fi''ne\r")); err != nil {
			t.Fatal(err)
		}
		(&screenText{v: v}).until(t, "fine")
	}

	var wg sync.WaitGroup
	infos := make([]core.TerminalInfo, 5)
	errs := make([]error, 5)
	for i := range infos {
		wg.Go(func() { infos[i], errs[i] = d.terminals.Create(t.Context(), plain) })
	}
	wg.Wait()
	for i := range infos {
		if errs[i] != nil || infos[i].ContainerID != infos[0].ContainerID {
			t.Fatalf("%+v %v", infos[i], errs[i])
		}
	}
	if n := len(ofInstall(t.Context(), t, d)); n != 1 {
		t.Fatalf("%d containers", n)
	}
	works(infos[4])

	_, err := d.terminals.Create(t.Context(), core.TerminalSpec{ChannelID: ch.ID, Cmd: []string{"/no/such/shell"}})
	if f := core.AsFailure(err); f.Code != core.CodeNotFound || !strings.Contains(f.Cause, "/no/such/shell") {
		t.Errorf("%+v", f)
	}
	works(infos[0])

	// Somebody else paused it: it is let go on, as for a run.
	docker(t, "pause", string(infos[0].ContainerID))
	begin := time.Now()
	woken, err := d.terminals.Create(t.Context(), plain)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("paused, after %v", time.Since(begin))
	works(woken)

	// Stopping a session ends the container, whatever state it is in.
	docker(t, "pause", string(infos[0].ContainerID))
	begin = time.Now()
	if err := d.terminals.Stop(t.Context(), infos[0].ID); err != nil {
		t.Errorf("stop: %v", err)
	}
	t.Logf("stopped while paused in %v", time.Since(begin))
	if left := ofInstall(t.Context(), t, d); len(left) != 0 {
		t.Fatalf("left: %v", left)
	}

	// Found, and gone before it is used.
	for range 4 {
		first, err := d.terminals.Create(t.Context(), plain)
		if err != nil {
			t.Fatal(err)
		}
		var second core.TerminalInfo
		wg.Go(func() { docker(t, "rm", "-f", string(first.ContainerID)) })
		wg.Go(func() { second, err = d.terminals.Create(t.Context(), plain) })
		wg.Wait()
		if err != nil {
			t.Fatalf("while it was removed: %v", err)
		}
		if second.ContainerID != first.ContainerID {
			works(second)
		}
		wg.Go(func() {
			if err := d.terminals.Kill(t.Context(), ch.ID); err != nil {
				t.Errorf("kill: %v", err)
			}
		})
		wg.Go(func() { second, err = d.terminals.Create(t.Context(), plain) })
		wg.Wait()
		if err != nil {
			t.Fatalf("while it was killed: %v", err)
		}
		if n := len(ofInstall(t.Context(), t, d)); n > 1 {
			t.Fatalf("%d containers", n)
		}
	}
}

// TestEndOfAForkBomb: at the limit of processes, with programs that heed nothing.
func TestEndOfAForkBomb(t *testing.T) {
	d, ch := started(t)
	other, err := d.terminals.Create(t.Context(), core.TerminalSpec{ChannelID: ch.ID, Plain: true})
	if err != nil {
		t.Fatal(err)
	}
	i, err := d.terminals.Create(t.Context(), core.TerminalSpec{ChannelID: ch.ID, Cmd: []string{"bash", "-c", `
		trap '' HUP TERM INT
		setsid sleep 100000 & (setsid nohup sleep 100000 >/dev/null 2>&1 &) ; (kill -STOP $BASHPID) &
		b() { b & b & wait; }; echo ready; while true; do b; done 2>/dev/null`}})
	if err != nil {
		t.Fatal(err)
	}
	v, err := d.terminals.Attach(t.Context(), i.ID, core.TerminalAttach{})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	(&screenText{v: v}).until(t, "ready")
	facts := func() string {
		out, err := exec.Command("docker", "top", string(i.ContainerID), "-eo", "pid,args").CombinedOutput()
		if err != nil {
			t.Fatalf("%v %s", err, out)
		}
		return string(out)
	}
	deadline := time.Now().Add(30 * time.Second)
	for n := 0; n < 400 && time.Now().Before(deadline); n = strings.Count(facts(), "\n") {
	}
	t.Logf("%d processes", strings.Count(facts(), "\n"))
	begin := time.Now()
	if err := d.terminals.CloseSession(t.Context(), i.ID); err != nil {
		t.Errorf("%v", err)
	}
	t.Logf("ended in %v", time.Since(begin))
	if out := facts(); strings.Contains(out, "trap") || strings.Contains(out, "100000") {
		t.Errorf("left:\n%s", out)
	}
	if l := d.terminals.List(ch.ID); len(l) != 1 || l[0].ID != other.ID || l[0].State != core.TerminalRunning {
		t.Errorf("%+v", l)
	}
}

// TestEndOfProcessesThatHop: each starts the next in a session of its own and
// ends, so that whoever is found has gone before it is hit.
func TestEndOfProcessesThatHop(t *testing.T) {
	d, ch := started(t)
	other, err := d.terminals.Create(t.Context(), core.TerminalSpec{ChannelID: ch.ID, Plain: true})
	if err != nil {
		t.Fatal(err)
	}
	i, err := d.terminals.Create(t.Context(), core.TerminalSpec{ChannelID: ch.ID, Cmd: []string{"sh", "-c", `
		trap '' HUP TERM INT
		echo 'setsid sh "$0" & exit' >hop-here
		for i in 1 2 3 4 5 6; do setsid sh ./hop-here & done; echo ready; sleep 100000`}})
	if err != nil {
		t.Fatal(err)
	}
	v, err := d.terminals.Attach(t.Context(), i.ID, core.TerminalAttach{})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	(&screenText{v: v}).until(t, "ready")
	begin := time.Now()
	if err := d.terminals.CloseSession(t.Context(), i.ID); err != nil {
		t.Errorf("%v", err)
	}
	t.Logf("ended in %v", time.Since(begin))
	for range 5 {
		out, err := exec.Command("docker", "top", string(i.ContainerID), "-eo", "pid,args").CombinedOutput()
		if err != nil {
			t.Fatalf("%v %s", err, out)
		}
		if strings.Contains(string(out), "hop-here") {
			t.Fatalf("left:\n%s", out)
		}
	}
	if l := d.terminals.List(ch.ID); len(l) != 1 || l[0].ID != other.ID || l[0].State != core.TerminalRunning {
		t.Errorf("%+v", l)
	}
}

// TestBackgroundOutlivesItsShell: what a shell leaves behind when it ends by
// itself goes on, until its session is closed.
func TestBackgroundOutlivesItsShell(t *testing.T) {
	d, ch := started(t)
	i, err := d.terminals.Create(t.Context(), core.TerminalSpec{ChannelID: ch.ID, Cmd: []string{"bash", "-c", "nohup setsid sleep 282828 >/dev/null 2>&1 & sleep 0.3; echo bye"}})
	if err != nil {
		t.Fatal(err)
	}
	v, err := d.terminals.Attach(t.Context(), i.ID, core.TerminalAttach{})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	(&screenText{v: v}).ended(t)
	alive := func() bool {
		out, err := exec.Command("docker", "top", string(i.ContainerID), "-eo", "pid,args").CombinedOutput()
		if err != nil {
			t.Fatalf("%v %s", err, out)
		}
		return strings.Contains(string(out), "282828")
	}
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
	c, _, _, err := shells{d}.Running(t.Context(), i.ContainerID)
	if err != nil {
		t.Fatal(err)
	}
	link, err := d.links(nil).Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer link.Close()
	if list, err := link.Spawns(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("%+v %v", list, err)
	}
}
