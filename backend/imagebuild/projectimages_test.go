package imagebuild

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"loop/agentimage"
	"loop/backend/core"
)

// projectImage is one of a project at dir.
func projectImage(dir, text string) core.ProjectImage {
	return core.ProjectImage{Dir: dir, Path: dir + "/.loop/container/Dockerfile", Base: agentimage.Agent.Ref, Sum: text,
		Files: map[string][]byte{"Dockerfile": []byte(text), "tool": []byte("#!/bin/sh\n"), "data": []byte("x")}}.Named("install")
}

// projectBuilds counts the builds of projects' images.
func (r *rig) projectBuilds() (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.commands {
		if slices.Contains(c.Args, "loop.part=project") {
			n++
		}
	}
	return n
}

// TestProjectImage: it is built once for a content and a base, without any secret.
func TestProjectImage(t *testing.T) {
	r := newRig(t, Options{GitConfig: "/nowhere"}, "docker")
	var sent []byte
	r.cli = func(ctx context.Context, c Command) error {
		if slices.Contains(c.Args, "loop.part=project") {
			sent, _ = io.ReadAll(c.Stdin)
		}
		return r.goodBuild(ctx, c)
	}
	p := projectImage(t.TempDir(), "ARG BASE_IMAGE\nFROM $BASE_IMAGE\n")
	for range 2 {
		if err := r.s.EnsureProject(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	if n := r.projectBuilds(); n != 1 {
		t.Fatalf("built %d times", n)
	}
	if args := r.buildArgs(); !slices.Equal(args, []string{"BASE_IMAGE=" + agentimage.Agent.Ref}) {
		t.Errorf("arguments %q", args)
	}
	if last := r.commands[len(r.commands)-1]; slices.Contains(last.Args, "--secret") {
		t.Errorf("a secret in %q", last.Args)
	}
	modes := map[string]int64{}
	for tr := tar.NewReader(bytes.NewReader(sent)); ; {
		h, err := tr.Next()
		if err != nil {
			break
		}
		modes[h.Name] = h.Mode
	}
	if !maps.Equal(modes, map[string]int64{"Dockerfile": 0o644, "tool": 0o755, "data": 0o644}) {
		t.Errorf("sent %v", modes)
	}
	parent, _, _ := r.fake.ImageInspect(t.Context(), p.Base)
	id, labels, err := r.fake.ImageInspect(t.Context(), p.Ref)
	if err != nil || labels[core.LabelParentID] != parent || labels[core.LabelProjectDir] != p.Dir || labels[core.LabelProjectInstall] != "install" {
		t.Fatalf("%v %v", labels, err)
	}
	end := r.published[len(r.published)-1]
	if end.Ref != agentimage.Agent.Ref || end.State != core.ImageReady {
		t.Errorf("the page is left with %+v", end)
	}

	// Another base: the same name stands for another image.
	r.fake.AddImage(p.Base, "sha256:other", map[string]string{LabelImageHash: agentimage.Agent.Hash(nil)})
	if err := r.s.EnsureProject(t.Context(), p); err != nil || r.projectBuilds() != 2 {
		t.Fatalf("another base: %v, %d builds", err, r.projectBuilds())
	}
	if now, _, _ := r.fake.ImageInspect(t.Context(), p.Ref); now == id {
		t.Error("it is the image of before")
	}
}

// TestEarlierProjectImages: they go after a build that worked, and images of gone projects too;
// nobody else's do.
func TestEarlierProjectImages(t *testing.T) {
	r := newRig(t, Options{}, "docker")
	r.cli = r.goodBuild
	dir, other := t.TempDir(), t.TempDir()
	first, gone, second := projectImage(dir, "FROM loop-agent\n"), projectImage(dir+"/gone", "FROM loop-agent\n"), projectImage(other, "FROM loop-agent\n")
	for _, p := range []core.ProjectImage{first, second} {
		if err := r.s.EnsureProject(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	mine := map[string]string{core.LabelProjectInstall: "install", core.LabelProjectDir: dir}
	r.fake.AddImage("made-of-it:1", "sha256:mine", mine)
	r.fake.AddImage("loop-project-theirs:latest", "sha256:theirs", map[string]string{core.LabelProjectInstall: "x", core.LabelProjectDir: dir})
	r.fake.AddImage(gone.Ref, "sha256:gone", map[string]string{core.LabelProjectInstall: "install", core.LabelProjectDir: gone.Dir})
	next := projectImage(dir, "FROM loop-agent\nRUN true\n")
	if next.Ref == first.Ref {
		t.Fatal("one name for two contents")
	}
	bad := errors.New("exit status 1")
	r.cli = func(ctx context.Context, c Command) error {
		if isTrial(c) {
			return r.goodBuild(ctx, c)
		}
		c.Line("RUN false: its own words")
		return bad
	}
	f := wantCode(t, r.s.EnsureProject(t.Context(), next), core.CodeToolchainBuild)
	if !strings.Contains(f.Cause, "project's own image") || !strings.Contains(f.Detail, "its own words") {
		t.Errorf("%+v", f)
	}
	r.has(first.Ref, gone.Ref)
	r.cli = r.goodBuild
	if err := r.s.EnsureProject(t.Context(), next); err != nil {
		t.Fatal(err)
	}
	r.has(next.Ref, second.Ref, "made-of-it:1", "loop-project-theirs:latest")
	for _, ref := range []string{first.Ref, gone.Ref} {
		if _, _, err := r.fake.ImageInspect(t.Context(), ref); !errors.Is(err, core.ErrNoImage) {
			t.Errorf("%s is still there: %v", ref, err)
		}
	}
}

// heldEngine has a container of an image.
type heldEngine struct {
	Engine
	image string
}

func (h *heldEngine) ImageRemove(ctx context.Context, ref string) error {
	if ref == h.image {
		return core.ErrConflict
	}
	return h.Engine.ImageRemove(ctx, ref)
}

// TestEarlierProjectImageInUse: what a container has goes later, whatever becomes of other
// projects, and then it is not looked for any more.
func TestEarlierProjectImageInUse(t *testing.T) {
	r := newRig(t, Options{}, "docker")
	r.cli = r.goodBuild
	dir := t.TempDir()
	first, next, other := projectImage(dir, "FROM loop-agent\n"), projectImage(dir, "FROM loop-agent\nRUN true\n"), projectImage(t.TempDir(), "FROM loop-agent\n")
	held := &heldEngine{r.fake, first.Ref}
	r.s.engine, r.s.opts.Engine = held, held
	ensure := func(list ...core.ProjectImage) {
		t.Helper()
		for _, p := range list {
			if err := r.s.EnsureProject(t.Context(), p); err != nil {
				t.Fatal(err)
			}
		}
	}
	ensure(first, next, other, next)
	r.has(first.Ref)
	held.image = ""
	ensure(next)
	if _, _, err := r.fake.ImageInspect(t.Context(), first.Ref); !errors.Is(err, core.ErrNoImage) {
		t.Errorf("it is still there: %v", err)
	}
	lists := func() (n int) {
		for _, c := range r.fake.Calls() {
			if c == "ImagesNamed" {
				n++
			}
		}
		return n
	}
	before := lists()
	if ensure(next, other); lists() != before {
		t.Error("images are listed with each use")
	}
}

func (r *rig) has(refs ...string) {
	r.t.Helper()
	for _, ref := range refs {
		if _, _, err := r.fake.ImageInspect(r.t.Context(), ref); err != nil {
			r.t.Errorf("%s: %v", ref, err)
		}
	}
}

// TestProjectImageEnds: the last caller who goes takes the build along, and so do Cancel and
// Close. Where nothing is to be built by itself, the missing image is said.
func TestProjectImageEnds(t *testing.T) {
	r := newRig(t, Options{}, "docker")
	r.cli = r.goodBuild
	if err := r.s.Ensure(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	under := make(chan struct{}, 9)
	r.cli = func(ctx context.Context, c Command) error {
		if isTrial(c) {
			return r.goodBuild(ctx, c)
		}
		under <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	}
	p := projectImage(t.TempDir(), "FROM loop-agent\n")
	done := make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	begin := func(ctx context.Context) {
		go func() { done <- r.s.EnsureProject(ctx, p) }()
		<-under
	}
	begin(ctx)
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("the caller went: %v", err)
	}
	begin(t.Context())
	r.s.Cancel()
	wantCode(t, <-done, core.CodeCancelled)
	begin(t.Context())
	r.s.Close()
	wantCode(t, <-done, core.CodeCancelled)
	wantCode(t, r.s.EnsureProject(t.Context(), p), core.CodeCancelled)

	r = newRig(t, with(Settings{NoAutobuild: true}), "docker")
	r.fake.AddImage(agentimage.Agent.Ref, "sha256:agent", map[string]string{LabelImageHash: agentimage.Agent.Hash(nil)})
	f := wantCode(t, r.s.EnsureProject(t.Context(), p), core.CodeNoImage)
	if !strings.Contains(f.Cause, "container_image_autobuild") || len(r.commands) != 0 {
		t.Errorf("%+v", f)
	}
}

// TestDevcontainerImage: its own image is built first, then what agents need on top of it, then
// what is run once; each is there once, and they go with the project's image.
func TestDevcontainerImage(t *testing.T) {
	r := newRig(t, Options{}, "docker")
	r.cli = r.goodBuild
	dir := t.TempDir()
	p := core.ProjectImage{
		Dir: dir, Path: dir + "/.devcontainer/devcontainer.json", Source: core.ToolchainDevcontainer, Base: agentimage.Agent.Ref, Sum: "one",
		Files: map[string][]byte{"Dockerfile": []byte("ARG BASE_IMAGE\nFROM ${BASE_IMAGE}\n")},
		Below: &core.ImageBelow{
			Files: map[string][]byte{"Dockerfile": []byte("FROM debian:bookworm AS dev\n")}, Target: "dev", Args: map[string]string{"GO": "1.26"},
		},
	}.Named("install")
	for range 2 {
		if err := r.s.EnsureProject(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	repo, _, _ := strings.Cut(p.Ref, ":")
	below, agent := repo+":below", repo+":agent"
	r.has(below, agent, p.Ref)
	var builds [][]string
	for _, c := range r.commands {
		if slices.Contains(c.Args, core.LabelProjectDir+"="+dir) {
			builds = append(builds, c.Args)
		}
	}
	if len(builds) != 3 {
		t.Fatalf("%d builds: %q", len(builds), builds)
	}
	for i, want := range [][]string{{"--target", "dev", "GO=1.26"}, {"BASE=" + below, "WITHOUT=" + strings.Join(agentimage.OverWithout, " ")}, {"BASE_IMAGE=" + agent}} {
		for _, w := range want {
			if !slices.Contains(builds[i], w) {
				t.Errorf("build %d has no %s: %q", i, w, builds[i])
			}
		}
	}
	if out := r.s.Output(); out.Ref != p.Ref || !strings.Contains(out.Name, "devcontainer") {
		t.Errorf("output of %+v", out)
	}

	// An image that is made from Loop's own needs nothing on top; one that cannot be had is said.
	r.fake.AddImage("ours:1", "sha256:ours", map[string]string{LabelImageHash: "x", LabelClaude: "1"})
	p.Sum, p.Below = "two", &core.ImageBelow{Image: "ours:1"}
	p = p.Named("install")
	if err := r.s.EnsureProject(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if _, labels, _ := r.fake.ImageInspect(t.Context(), p.Ref); labels[core.LabelParentID] != "sha256:ours" {
		t.Errorf("it stands on %q", labels[core.LabelParentID])
	}
	for _, ref := range []string{below, agent} {
		if _, _, err := r.fake.ImageInspect(t.Context(), ref); !errors.Is(err, core.ErrNoImage) {
			t.Errorf("%s is still there: %v", ref, err)
		}
	}
	p.Sum, p.Below = "three", &core.ImageBelow{Image: "nowhere:1"}
	if err := r.s.EnsureProject(t.Context(), p.Named("install")); err == nil || !strings.Contains(core.AsFailure(err).Cause, "nowhere:1") {
		t.Errorf("an image that nobody has: %v", err)
	}
	r.cli = func(ctx context.Context, c Command) error {
		if isTrial(c) {
			return r.goodBuild(ctx, c)
		}
		c.Line("This image has no apt-get.")
		return errors.New("exit status 1")
	}
	r.fake.AddImage("alpine:3", "sha256:alpine", nil)
	p.Sum, p.Below = "four", &core.ImageBelow{Image: "alpine:3"}
	if f := wantCode(t, r.s.EnsureProject(t.Context(), p.Named("install")), core.CodeToolchainBuild); !strings.Contains(f.Cause, "neither Debian nor Ubuntu") {
		t.Errorf("%+v", f)
	}
}

// TestBuildOutput: the beginning and the end of a long build are kept.
func TestBuildOutput(t *testing.T) {
	o := (&outputs{}).begin("a:1", "agent image")
	o.add(strings.Repeat("ä", maxHead))
	for range 20000 {
		o.add("a line of forty bytes or so, and no more")
	}
	o.add("the last line")
	text := o.text()
	if len(text) > maxHead+2*maxTail+100 || !strings.HasPrefix(text, "ää") || !strings.HasSuffix(text, "the last line\n") ||
		!strings.Contains(text, "the middle was not kept") || strings.Contains(text, "\uFFFD") {
		t.Errorf("%d bytes: %.40q … %.40q", len(text), text, text[len(text)-40:])
	}
}
