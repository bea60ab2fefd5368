//go:build docker && linux

package registry

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"loop/backend/core"
	"loop/backend/engine"
	"loop/backend/hostfacts"
)

const canary = "only the victim's folder has this"

// bare is a registry that stores nothing.
type bare struct {
	*engine.Docker
	list []core.Container
}

func (b *bare) List() []core.Container { return b.list }

func (b *bare) start(ctx context.Context, spec core.Spec) (core.Container, error) {
	id, _, err := b.Create(ctx, spec)
	if err != nil {
		return core.Container{}, err
	}
	if err := b.Docker.Start(ctx, id); err != nil {
		_ = b.Remove(context.WithoutCancel(ctx), id, true)
		return core.Container{}, err
	}
	return core.Container{ID: id, Status: core.ContainerRunning}, nil
}

// nobody is the control: it pauses no container.
type nobody struct{ *engine.Docker }

func (nobody) Pause(context.Context, core.ContainerID) error   { return core.ErrNotRunning }
func (nobody) Unpause(context.Context, core.ContainerID) error { return nil }

// choosing is an agent that replaces a folder by a link just before the engine makes a
// sibling's mount there. It does so as soon as it knows that the last look was taken,
// and takes the link away after the start.
func choosing(project, victim string) string {
	return "cd " + project + "/.git; while :; do until [ -e ../looked ]; do :; done; mv hooks h && ln -s " + victim + " hooks; " +
		"while [ -e ../looked ]; do :; done; rm hooks; mv h hooks; done"
}

// TestAgentCannotChooseAMount: an agent that is always fast enough chooses what a
// sibling's mount shows, unless Loop pauses the agent.
func TestAgentCannotChooseAMount(t *testing.T) {
	docker := engine.Open(engine.Options{})
	defer func() {
		if err := docker.Close(); err != nil {
			t.Error(err)
		}
	}()
	spec := func(project, script string, below ...string) core.Spec {
		s := in("loop-test-"+core.NewID(), project, below...)
		s.Image, s.Entrypoint, s.Cmd, s.Network, s.User = "loop-agent:latest", []string{"/bin/sh", "-c"}, []string{script}, "none", "0:0"
		s.Labels = map[string]string{"loop-test": "starter"}
		s.Limits = core.Limits{MemoryBytes: 256 << 20, CPUs: 1, Pids: 64}
		return s
	}
	remove := func(id core.ContainerID) {
		if err := docker.Remove(context.WithoutCancel(t.Context()), id, true); err != nil {
			t.Error(err)
		}
	}
	for name, c := range map[string]struct {
		engine pauses
		tries  int
		leaks  bool
	}{"held": {docker, 5, false}, "control": {nobody{docker}, 1, true}} {
		t.Run(name, func(t *testing.T) {
			root, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			project, victim := filepath.Join(root, "proj"), filepath.Join(root, "victim")
			hooks, looked := filepath.Join(project, ".git", "hooks"), filepath.Join(project, "looked")
			for _, dir := range []string{hooks, victim} {
				if err := os.MkdirAll(dir, 0o777); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(filepath.Join(victim, "key"), []byte(canary), 0o644); err != nil {
				t.Fatal(err)
			}
			attack := spec(project, choosing(project, victim))
			reg := &bare{Docker: docker}
			a, err := reg.start(t.Context(), attack)
			if err != nil {
				t.Fatal(err)
			}
			defer remove(a.ID)
			reg.list = []core.Container{a}
			s := newStarter(reg.List, c.engine, func(spec core.Spec) error {
				if err := hostfacts.Unmoved(spec); err != nil {
					return err
				}
				if err := os.WriteFile(looked, nil, 0o644); err != nil {
					return err
				}
				room := 300 * time.Millisecond // time for an agent that should be paused
				if c.leaks {
					room = time.Minute
				}
				soon(room, func() bool { return isLink(hooks) })
				return nil
			}, slog.New(slog.NewTextHandler(t.Output(), nil)))
			started, leaked, last := 0, 0, error(nil)
			for end := time.Now().Add(3 * time.Minute); started < c.tries && time.Now().Before(end); {
				sibling := spec(project, "cat "+victim+"/key; true", hooks)
				b, err := s.start(t.Context(), sibling, func() (core.Container, error) { return reg.start(t.Context(), sibling) })
				if err := os.Remove(looked); err != nil && !errors.Is(err, os.ErrNotExist) {
					t.Fatal(err)
				}
				soon(time.Minute, func() bool { return !isLink(hooks) })
				if err != nil { // the look found the link still there
					if f := core.AsFailure(err); f.Code != core.CodeMount && c.engine == docker {
						t.Fatal(err)
					}
					last = err
					continue
				}
				started++
				if _, err := docker.Wait(t.Context(), b.ID); err != nil {
					t.Fatal(err)
				}
				out, err := docker.Logs(t.Context(), b.ID, 10)
				if err != nil {
					t.Fatal(err)
				}
				if strings.Contains(out, canary) {
					leaked++
				}
				remove(b.ID)
			}
			if !soon(time.Minute, func() bool { // the engine may be late to record it
				f, err := docker.Inspect(t.Context(), a.ID)
				return err == nil && f.Running && !f.Paused
			}) {
				t.Fatal("the other agent does not go on")
			}
			t.Logf("%d starts, %d showed what the agent chose; the last refusal: %v", started, leaked, last)
			if started < c.tries || (leaked > 0) != c.leaks {
				t.Errorf("%d starts, %d showed what the agent chose", started, leaked)
			}
		})
	}
}

// soon reports whether ok became true within d.
func soon(d time.Duration, ok func() bool) bool {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(d); !ok(); <-tick.C {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

func isLink(path string) bool {
	i, err := os.Lstat(path)
	return err == nil && i.Mode().Type() == os.ModeSymlink
}

// BenchmarkHold is the time for which a sibling is paused while a container starts.
func BenchmarkHold(b *testing.B) {
	docker := engine.Open(engine.Options{})
	defer docker.Close()
	reg := &bare{Docker: docker}
	dir := b.TempDir()
	s := in("loop-test-"+core.NewID(), dir)
	s.Image, s.Entrypoint, s.Cmd, s.Network, s.User = "loop-agent:latest", []string{"/bin/sleep"}, []string{"600"}, "none", "0:0"
	s.Labels = map[string]string{"loop-test": "starter"}
	s.Limits = core.Limits{MemoryBytes: 256 << 20, CPUs: 1, Pids: 64}
	c, err := reg.start(b.Context(), s)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = docker.Remove(context.WithoutCancel(b.Context()), c.ID, true) }()
	starter := newStarter(reg.List, docker, unmoved, slog.New(slog.DiscardHandler))
	for b.Loop() {
		if err := errors.Join(starter.pause(b.Context(), c.ID), starter.wake(b.Context(), c.ID)); err != nil {
			b.Fatal(err)
		}
	}
}
