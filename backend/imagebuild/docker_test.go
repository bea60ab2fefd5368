//go:build docker

package imagebuild

import (
	"context"
	"errors"
	"os"
	"sync"
	"testing"
	"time"

	"loop/backend/core"
	"loop/backend/engine"
)

func realService(t *testing.T, o Options) (*engine.Docker, *Service) {
	t.Helper()
	e, err := engine.Connect(t.Context(), engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	o.TempDir = t.TempDir()
	s := New(Ports{Engine: e}, o)
	t.Cleanup(func() { _ = s.Close() })
	return e, s
}

// presentBase returns an image to build on that the engine has.
func presentBase(t *testing.T, e *engine.Docker) string {
	t.Helper()
	for _, ref := range []string{defaultBase, ownBaseRef, DefaultRef} {
		if _, _, err := e.ImageInspect(t.Context(), ref); err == nil {
			return ref
		}
	}
	t.Fatal("the engine has no image to build on; run “make image”")
	return ""
}

// The probe's answer is true either way: a docker command it accepts has built
// with a secret, and one it refuses is named with the reason. It leaves no image.
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
	// The proof can fail: the same command with another secret must not build.
	run := s.ports.Run
	s.ports.Run = func(ctx context.Context, c Command) error {
		if err := os.WriteFile(c.Args[2][len("id=probe,src="):], []byte("another"), 0o600); err != nil {
			return err
		}
		return run(ctx, c)
	}
	if err := s.trialBuild(t.Context(), cli, presentBase(t, e)); err == nil {
		t.Fatal("the trial succeeded with a wrong secret")
	}
}

// A real build by the engine's own builder that is cancelled in the middle
// leaves no tag and no nameless image.
func TestCancelRealBuild(t *testing.T) {
	t.Setenv("PATH", "") // no docker command: the engine's own builder
	ref := "loop-agent:test-" + core.NewID()[:8]
	var once sync.Once
	begun := make(chan struct{})
	e, s := realService(t, Options{Ref: ref, Publish: func(st core.ImageStatus) {
		if len(st.Lines) > 0 && st.Step == "Building the agent image" {
			once.Do(func() { close(begun) })
		}
	}})
	s.opts.Base = presentBase(t, e)
	before, err := e.ImagesDangling(t.Context(), partLabel)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() { done <- s.Build(t.Context()) }()
	select {
	case <-begun:
	case err := <-done:
		t.Fatalf("ended before it was cancelled: %v", err)
	case <-time.After(time.Minute):
		t.Fatal("the build did not begin")
	}
	s.Cancel()
	if err := <-done; !errors.Is(err, errCancelled) && err != nil {
		t.Fatal(err)
	} else if err == nil {
		t.Fatal("a cancelled build succeeded")
	}
	if _, _, err := e.ImageInspect(t.Context(), ref); !errors.Is(err, core.ErrNoImage) {
		t.Fatalf("a tag is left: %v", err)
	}
	after, err := e.ImagesDangling(t.Context(), partLabel)
	if err != nil {
		t.Fatal(err)
	}
	for id := range after {
		if _, old := before[id]; !old {
			t.Errorf("nameless image left: %s", id)
		}
	}
}
