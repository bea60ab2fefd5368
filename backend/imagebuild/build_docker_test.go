//go:build docker

package imagebuild

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"sync"
	"testing"

	"loop/agentimage"
	"loop/backend/core"
	"loop/backend/engine"
)

func realService(t *testing.T, o Options) (*engine.Docker, *Service) {
	t.Helper()
	e := engine.Open(engine.Options{})
	if s := e.Status(t.Context()); !s.OK {
		t.Fatal(s.Failure)
	}
	t.Cleanup(func() { _ = e.Close() })
	o.TempDir, o.Engine = t.TempDir(), e
	s := bare(o)
	t.Cleanup(s.Close)
	return e, s
}

// presentBase returns an image to build on that the engine has.
func presentBase(t *testing.T, e *engine.Docker) string {
	t.Helper()
	for _, ref := range []string{defaultBase, ownBaseRef, agentimage.Agent.Ref} {
		if _, _, err := e.ImageInspect(t.Context(), ref); err == nil {
			return ref
		}
	}
	t.Fatal("the engine has no image to build on; run “make image”")
	return ""
}

// TestSecretProbe: the probe either accepts a docker command that has built with a
// secret, or gives the reason why there is none. It leaves no image.
func TestSecretProbe(t *testing.T) {
	e, s := realService(t, Options{})
	cli, why := s.probeBuildKit(t.Context(), presentBase(t, e))
	if cli == nil && why == "" {
		t.Fatal("neither a command nor a reason")
	}
	t.Logf("accepted %+v, refused because %q", cli, why)
	if cli == nil {
		return
	}
	// The check can fail: the same command with another secret must not build.
	run := s.command
	s.command = func(ctx context.Context, c Command) error {
		if err := os.WriteFile(c.Args[2][len("id=probe,src="):], []byte("another"), 0o600); err != nil {
			return err
		}
		return run(ctx, c)
	}
	if err := s.trialBuild(t.Context(), cli, presentBase(t, e)); err == nil {
		t.Fatal("the trial succeeded with a wrong secret")
	}
}

// cue is a log that calls then at the builder's first line.
type cue struct {
	slog.Handler
	then     func()
	building bool
	once     sync.Once
}

func (*cue) Enabled(context.Context, slog.Level) bool { return true }

func (l *cue) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		l.building = l.building || a.Key == "step" && a.Value.String() == "Building the agent image"
		if a.Key == "line" && l.building {
			l.once.Do(l.then)
		}
		return true
	})
	return nil
}

// TestCancelRealBuild: the engine's own builder is cancelled in the middle of a real
// build. No tag and no nameless image is left.
func TestCancelRealBuild(t *testing.T) {
	t.Setenv("PATH", "") // without a docker command, the engine's own builder is used
	ref := "loop-agent:test-" + core.NewID()[:8]
	begun := &cue{Handler: slog.DiscardHandler}
	e, s := realService(t, Options{Settings: func() Settings { return Settings{Ref: ref} }, Log: slog.New(begun)})
	begun.then = func() { // cancels before the build goes on, since cached steps take no time
		s.mu.Lock()
		defer s.mu.Unlock()
		s.build.ending = true
		s.build.cancel(errCancelled)
	}
	s.opts.Base = presentBase(t, e)
	before, err := e.ImagesDangling(t.Context(), map[string]string{"loop.part": "agent"})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Build(t.Context()); !errors.Is(err, errCancelled) {
		t.Fatalf("a cancelled build: %v", err)
	}
	if _, _, err := e.ImageInspect(t.Context(), ref); !errors.Is(err, core.ErrNoImage) {
		t.Fatalf("a tag is left: %v", err)
	}
	after, err := e.ImagesDangling(t.Context(), map[string]string{"loop.part": "agent"})
	if err != nil {
		t.Fatal(err)
	}
	for id := range after {
		if _, old := before[id]; !old {
			t.Errorf("nameless image left: %s", id)
		}
	}
}
