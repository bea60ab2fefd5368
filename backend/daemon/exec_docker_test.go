//go:build docker

package daemon

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"loop/backend/core"
	"loop/backend/rulebook"
	"loop/backend/worktree"
)

// TestExecInAContainer: a program runs as the agent in the project. However it ends,
// its container is removed.
func TestExecInAContainer(t *testing.T) {
	t.Setenv("LOOP_HOME", t.TempDir())
	d, err := New(t.Context(), Options{Version: "test", Frontend: fstest.MapFS{}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ch := core.Channel{ID: core.ChannelID(core.NewID()), Kind: core.KindProject, Name: "p", Dir: dir}
	none := func() {
		t.Helper()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 2*time.Minute)
		defer cancel()
		if list, err := d.engine.List(ctx, map[string]string{core.LabelInstall: d.store.InstallID()}); err != nil || len(list) != 0 {
			t.Errorf("containers left: %+v, %v", list, err)
		}
	}

	supervised := rulebook.Policies{Settings: settingsReader{from: d.settings}}
	git := worktree.Container{Provision: d.provision, Policies: supervised, Log: d.log}
	out, err := git.Exec(t.Context(), ch, []string{"/bin/sh", "-c", `pwd; id -u >made; echo oh >&2; head -c 3000000 /dev/zero | tr '\0' x; exit 7`}, dir)
	if err != nil || out.Code != 7 || !strings.HasPrefix(out.Stdout, dir+"\nx") || len(out.Stdout) != 1<<20 || out.Stderr != "oh\n" {
		t.Errorf("%d, %.100q (%d bytes), %q, %v", out.Code, out.Stdout, len(out.Stdout), out.Stderr, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "made")); err != nil {
		t.Error(err)
	}
	none()

	// The call is cancelled once the program runs, however long the start takes.
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	begun := filepath.Join(dir, "begun")
	go func() {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for ctx.Err() == nil {
			if _, err := os.Stat(begun); err == nil {
				cancel()
			}
			<-tick.C
		}
	}()
	if _, err := git.Exec(ctx, ch, []string{"/bin/sh", "-c", "touch begun; exec sleep 600"}, dir); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	none()
}
