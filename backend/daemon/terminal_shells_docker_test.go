//go:build docker

package daemon

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"loop/backend/config"
	"loop/backend/core"
)

// started is a Loop with a folder of its own and one project. Its containers are
// removed after the test.
func started(t *testing.T) (*Daemon, core.Channel) {
	t.Helper()
	return startedWith(t, "{}")
}

// startedWith is started, with a person's settings.
func startedWith(t *testing.T, settings string) (*Daemon, core.Channel) {
	t.Helper()
	home := t.TempDir()
	t.Setenv("LOOP_HOME", home)
	if err := os.WriteFile(filepath.Join(home, config.FileName), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := New(t.Context(), Options{Version: "test", Frontend: fstest.MapFS{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		removeAll(ctx, t, d)
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := d.Start(); err != nil {
		t.Fatal(err)
	}
	return d, project(t, d)
}

// project is a channel for an empty directory.
func project(t *testing.T, d *Daemon) core.Channel {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ch := core.Channel{ID: core.ChannelID(core.NewID()), Kind: core.KindProject, Name: "p", Dir: dir, CreatedAt: time.Now()}
	if err := d.store.AddChannel(t.Context(), ch); err != nil {
		t.Fatal(err)
	}
	return ch
}

// removeAll removes the containers of d. Loop may be removing some of them at the same
// time.
func removeAll(ctx context.Context, t *testing.T, d *Daemon) {
	t.Helper()
	for ids := ofInstall(ctx, t, d); len(ids) > 0; ids = ofInstall(ctx, t, d) {
		for _, c := range ids {
			if err := d.engine.Remove(ctx, c, true); err != nil && !errors.Is(err, core.ErrNotFound) && !errors.Is(err, core.ErrConflict) {
				t.Error(err)
				return
			}
		}
	}
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

// docker runs a command of the engine, on any goroutine. An engine that finds the files of
// a container in use as it removes them is asked again.
func docker(t *testing.T, args ...string) {
	t.Helper()
	var out []byte
	var err error
	for range 5 {
		out, err = exec.Command("docker", args...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "unable to remove filesystem") {
			break
		}
	}
	if err != nil {
		t.Errorf("docker %v: %v %s", args, err, out)
	}
}

// TestShellContainers: terminals opened at the same time get the same container. When
// it goes away while in use, another takes its place.
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

	// Somebody else paused the container. Loop resumes it, as for a run.
	docker(t, "pause", string(infos[0].ContainerID))
	begin := time.Now()
	woken, err := d.terminals.Create(t.Context(), plain)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("paused, after %v", time.Since(begin))
	works(woken)

	// Stopping a session ends the container, even a paused one.
	docker(t, "pause", string(infos[0].ContainerID))
	begin = time.Now()
	if err := d.terminals.Stop(t.Context(), infos[0].ID); err != nil {
		t.Errorf("stop: %v", err)
	}
	t.Logf("stopped while paused in %v", time.Since(begin))
	if left := ofInstall(t.Context(), t, d); len(left) != 0 {
		t.Fatalf("left: %v", left)
	}

	// The container is found, but it is gone before it is used.
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

// TestWhereTerminalsBegin: a terminal opens even when its directory is gone.
func TestWhereTerminalsBegin(t *testing.T) {
	d, ch := started(t)
	begins := func(spec core.TerminalSpec, want string) {
		t.Helper()
		spec.Cmd, spec.Cols, spec.Rows = []string{"/bin/sh", "-c", "echo in-$(pwd)-"}, 200, 20
		_, screen := opened(t, d, spec)
		screen.until(t, "in-"+want+"-")
	}
	foreign := foreignContainer(t)
	begins(core.TerminalSpec{ContainerID: foreign, Dir: "/usr/lib"}, "/usr/lib")
	begins(core.TerminalSpec{ContainerID: foreign, Dir: "/no/such"}, "/")
	begins(core.TerminalSpec{ChannelID: ch.ID, Dir: "/usr/lib"}, "/usr/lib")
	begins(core.TerminalSpec{ChannelID: ch.ID, Dir: "/no/such"}, ch.Dir)
	begins(core.TerminalSpec{ChannelID: ch.ID, Target: core.TargetHost}, ch.Dir)

	// The channel's own directory goes while its container runs.
	if err := os.Remove(ch.Dir); err != nil {
		t.Fatal(err)
	}
	_, err := d.terminals.Create(t.Context(), core.TerminalSpec{ChannelID: ch.ID, Plain: true})
	if f := core.AsFailure(err); f.Code == core.CodeInternal {
		t.Errorf("%+v", f)
	} else {
		t.Logf("%v", err)
	}
	work := filepath.Join(d.home, "channels", string(ch.ID), "work")
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	begins(core.TerminalSpec{ChannelID: ch.ID, Target: core.TargetHost}, home)
	if err := os.MkdirAll(work, 0o700); err != nil {
		t.Fatal(err)
	}
	begins(core.TerminalSpec{ChannelID: ch.ID, Target: core.TargetHost}, work)
	child := core.Channel{ID: core.ChannelID(core.NewID()), ParentID: ch.ID, Kind: core.KindThread, Name: "t", Dir: filepath.Join(ch.Dir, "gone"), CreatedAt: time.Now()}
	if err := d.store.AddChannel(t.Context(), child); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(ch.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	begins(core.TerminalSpec{ChannelID: child.ID, Target: core.TargetHost}, ch.Dir)
}
