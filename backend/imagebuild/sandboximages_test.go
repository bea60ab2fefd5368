package imagebuild

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"loop/agentimage"
	"loop/backend/core"
)

// buildArgs are the arguments of the last build that is no trial.
func (r *rig) buildArgs() (out []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.commands {
		if isTrial(c) {
			continue
		}
		out = nil
		for i, a := range c.Args {
			if a == "--build-arg" {
				out = append(out, c.Args[i+1])
			}
		}
	}
	return out
}

// TestSandboxImages: the common image stands on the plain one, which is built first, and
// takes the parameters of OpenClaw's script.
func TestSandboxImages(t *testing.T) {
	r := newRig(t, Options{}, "docker")
	r.cli = r.goodBuild
	if st := r.s.SandboxStatus(t.Context(), core.SandboxImageCommon); st.State != core.ImageMissing || st.Ref != agentimage.SandboxCommonRef {
		t.Fatalf("before: %+v", st)
	}
	err := r.s.BuildSandbox(t.Context(), core.SandboxImage{
		Kind: core.SandboxImageCommon, TargetImage: "my-sandbox:slim-dev", Packages: []string{"nodejs", "g++", "libc6=2.36-9"}, InstallBrew: "0", InstallBun: "0",
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, ref := range []string{agentimage.SandboxRef, "my-sandbox:slim-dev"} {
		if _, labels, err := r.fake.ImageInspect(t.Context(), ref); err != nil || labels[core.LabelBareImage] != "" {
			t.Errorf("%s: %v, %v", ref, labels, err)
		}
	}
	args := r.buildArgs()
	for _, want := range []string{"BASE=" + agentimage.SandboxRef, "PACKAGES=nodejs g++ libc6=2.36-9", "INSTALL_PNPM=1", "INSTALL_BUN=0", "INSTALL_BREW=0",
		"FINAL_USER=sandbox"} {
		if !slices.Contains(args, want) {
			t.Errorf("built without %s: %q", want, args)
		}
	}
	if st := r.s.Status(t.Context()); st.Ref != agentimage.Agent.Ref || st.State != core.ImageMissing {
		t.Errorf("the agent image is %+v", st)
	}
}

// TestSandboxImageRefused: nothing that means something to a shell, or that would replace
// another image, is taken.
func TestSandboxImageRefused(t *testing.T) {
	r := newRig(t, Options{}, "docker")
	for want, w := range map[string]core.SandboxImage{
		"The kind":          {Kind: "browser"},
		"BASE_IMAGE":        {BaseImage: "a b"},
		"TARGET_IMAGE":      {TargetImage: "x@sha256:" + strings.Repeat("a", 64)},
		"“loop-agent":       {TargetImage: "loop-agent:latest"},
		"“loop-x":           {TargetImage: "loop-x"},
		"“same:1":           {TargetImage: "same:1", BaseImage: "same:1"},
		"“-o":               {Packages: []string{"-o"}},
		"“curl;id":          {Packages: []string{"curl;id"}},
		"“$(id)":            {Packages: []string{"$(id)"}},
		"“a b":              {Packages: []string{"a b"}},
		"“./evil.deb":       {Packages: []string{"./evil.deb"}},
		"PACKAGES is “501":  {Packages: slices.Repeat([]string{"jq"}, 501)},
		"INSTALL_PNPM":      {InstallPnpm: "yes"},
		"INSTALL_BUN":       {InstallBun: "1 && id"},
		"INSTALL_BREW":      {InstallBrew: "2"},
		"FINAL_USER is “Me": {FinalUser: "Me"},
		"FINAL_USER is “-u": {FinalUser: "-u 0"},
	} {
		if w.Kind == "" {
			w.Kind = core.SandboxImagePlain
		}
		err := r.s.BuildSandbox(t.Context(), w)
		if f := core.AsFailure(err); err == nil || f.Code != core.CodeInvalid || !strings.Contains(f.Cause, want) || f.Remedy == "" {
			t.Errorf("%+v: %v", w, err)
		}
	}
	if len(r.commands) != 0 {
		t.Errorf("ran %v", r.commands)
	}
}

// TestSandboxBaseMissing: a base of the person's own is pulled, and no other takes its place.
func TestSandboxBaseMissing(t *testing.T) {
	r := newRig(t, Options{}, "docker")
	err := r.s.BuildSandbox(t.Context(), core.SandboxImage{Kind: core.SandboxImageCommon, BaseImage: "mine:1"})
	if f := core.AsFailure(err); err == nil || f.Cause != "Sandbox image not found: mine:1. Build or pull it first." || f.Code != core.CodeNoImage {
		t.Fatalf("got %v", err)
	}
	if !slices.Contains(r.fake.Calls(), "ImagePull") || len(r.commands) != 0 {
		t.Errorf("calls %v, commands %v", r.fake.Calls(), r.commands)
	}
}

// TestSandboxBuilds: one at a time; who wants the same waits, Cancel ends it, and after Close
// there is none.
func TestSandboxBuilds(t *testing.T) {
	r := newRig(t, Options{}, "docker")
	under, free := make(chan struct{}, 9), make(chan struct{})
	r.cli = func(ctx context.Context, c Command) error {
		if isTrial(c) {
			return r.goodBuild(ctx, c)
		}
		under <- struct{}{}
		select {
		case <-free:
			return r.goodBuild(ctx, c)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	plain := core.SandboxImage{Kind: core.SandboxImagePlain}
	done := make(chan error, 2)
	for range 2 {
		go func() { done <- r.s.BuildSandbox(t.Context(), plain) }()
	}
	<-under
	if st := r.s.SandboxStatus(t.Context(), core.SandboxImagePlain); st.State != core.ImageBuilding || st.Ref != agentimage.SandboxRef {
		t.Errorf("meanwhile: %+v", st)
	}
	err := r.s.BuildSandbox(t.Context(), core.SandboxImage{Kind: core.SandboxImagePlain, TargetImage: "other:1"})
	if core.AsFailure(err).Code != core.CodeConflict {
		t.Errorf("another meanwhile: %v", err)
	}
	close(free)
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	free = make(chan struct{})
	for len(under) > 0 {
		<-under
	}
	go func() { done <- r.s.BuildSandbox(t.Context(), plain) }()
	<-under
	r.s.Cancel()
	if err := <-done; core.AsFailure(err).Code != core.CodeCancelled {
		t.Errorf("cancelled: %v", err)
	}
	r.s.Close()
	if err := r.s.BuildSandbox(t.Context(), plain); core.AsFailure(err).Code != core.CodeCancelled {
		t.Errorf("closed: %v", err)
	}
}

// TestEnsureByReference: an image of the person's own is used as it is, and pulled where it
// is missing; OpenClaw's are not pulled, and say how they are built, or are made bare where
// the person wants that.
func TestEnsureByReference(t *testing.T) {
	set := Settings{}
	r := newRig(t, Options{Settings: func() Settings { return set }}, "docker")
	r.cli = r.goodBuild
	r.fake.AddImage("mine:1", "sha256:mine", nil)
	if err := r.s.Ensure(t.Context(), "mine:1"); err != nil || len(r.commands) != 0 {
		t.Fatalf("there: %v", err)
	}
	pulled := func() bool { return slices.Contains(r.fake.Calls(), "ImagePull") }
	for ref, want := range map[string]core.Code{
		agentimage.SandboxRef: "image_missing:sandbox", agentimage.SandboxCommonRef: "image_missing:sandbox-common",
	} {
		err := r.s.Ensure(t.Context(), ref)
		f := core.AsFailure(err)
		if f.Code != want || f.Cause != "Sandbox image not found: "+ref+". Build or pull it first." || !strings.Contains(f.Remedy, "loop image build sandbox") ||
			!errors.Is(err, core.ErrNoImage) || pulled() {
			t.Errorf("%s: %v", ref, err)
		}
	}
	err := r.s.Ensure(t.Context(), "other:1")
	if f := core.AsFailure(err); f.Code != core.CodeNoImage || !strings.Contains(f.Remedy, "docker pull other:1") || !pulled() {
		t.Errorf("pulled %v: %v", pulled(), err)
	}
	before := len(r.fake.Calls())
	set.NoAutobuild = true
	if err := r.s.Ensure(t.Context(), "other:1"); !errors.Is(err, core.ErrNoImage) || slices.Contains(r.fake.Calls()[before:], "ImagePull") {
		t.Errorf("without autobuild: %v", err)
	}
	set = Settings{Bare: true}
	if err := r.s.Ensure(t.Context(), agentimage.SandboxRef); err != nil {
		t.Fatal(err)
	}
	_, labels, err := r.fake.ImageInspect(t.Context(), agentimage.SandboxRef)
	if err != nil || labels[core.LabelBareImage] == "" || !slices.Contains(r.buildArgs(), "PACKAGES=bash") {
		t.Errorf("bare: %v, %v, %q", labels, err, r.buildArgs())
	}
	if st := r.s.SandboxStatus(t.Context(), core.SandboxImagePlain); st.State != core.ImageReady || !strings.Contains(st.Note, "degraded") {
		t.Errorf("bare: %+v", st)
	}
	if err := r.s.BuildSandbox(t.Context(), core.SandboxImage{Kind: core.SandboxImagePlain}); err != nil {
		t.Fatal(err)
	}
	if st := r.s.SandboxStatus(t.Context(), core.SandboxImagePlain); st.Note != "" || st.State != core.ImageReady {
		t.Errorf("whole: %+v", st)
	}
	// The agent image is built for whoever names it, whatever image the settings name for all.
	set = Settings{Ref: "mine:1"}
	if err := r.s.Ensure(t.Context(), agentimage.Agent.Ref); err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.fake.ImageInspect(t.Context(), agentimage.Agent.Ref); err != nil {
		t.Error(err)
	}
}

func TestPin(t *testing.T) {
	of := "sha256:" + strings.Repeat("a", 64)
	for ref, want := range map[string]string{
		"debian:bookworm-slim": "debian@" + of, "host:5000/x/y:1": "host:5000/x/y@" + of, "x@sha256:" + strings.Repeat("b", 64): "x@sha256:" + strings.Repeat("b", 64),
	} {
		if got := pin(ref, of); got != want {
			t.Errorf("%s is %s, want %s", ref, got, want)
		}
	}
}
