package provision

import (
	"context"
	"slices"
	"strings"
	"testing"

	"loop/backend/core"
)

// projectWorld is a world whose project has an image of its own.
type projectWorld struct {
	*world
	missing bool
}

func (w *projectWorld) EnsureProject(ctx context.Context, p core.ProjectImage) error {
	w.missing = false
	return w.step("build " + p.Ref + " on " + p.Base)
}

func (w *projectWorld) ImageInspect(ctx context.Context, ref string) (string, map[string]string, error) {
	id, labels, err := w.world.ImageInspect(ctx, ref)
	if w.missing && strings.HasPrefix(ref, "loop-project-") {
		return "", nil, core.ErrNoImage
	}
	return id, labels, err
}

func newProjectWorld() (*projectWorld, *Service, Want) {
	w, s, want := newWorld()
	p := &projectWorld{world: w, missing: true}
	s.o.Projects, s.o.Engine = p, p
	w.values.Child = &core.ProjectImage{
		Dir: "/srv/project", Path: "/srv/project/.loop/container/Dockerfile", Layer: core.LayerProject, Base: "mine:1", Sum: "1",
	}
	w.values.Container.Image.From = core.SettingsOrigin{Layer: core.LayerGlobal, Path: "/g", Line: 7}
	return p, s, want
}

// TestProjectImage: the project's own image is there before the container, and in it.
func TestProjectImage(t *testing.T) {
	w, s, want := newProjectWorld()
	ref := w.values.Child.Named("install-1").Ref
	l, err := s.Ensure(t.Context(), want)
	if err != nil {
		t.Fatal(err)
	}
	did := slices.Clone(whole)
	did[1], did[3] = "build "+ref+" on mine:1", "image "+ref
	if !slices.Equal(w.done, did) || l.Spec.Image != ref {
		t.Errorf("%s by %q", l.Spec.Image, w.done)
	}
	i := slices.IndexFunc(l.Why.Origins, func(o core.FieldOrigin) bool { return o.Field == "image" })
	o := l.Why.Origins[i]
	if o.Layer != core.LayerProject || o.Path != w.values.Child.Path || o.Overrode == nil || *o.Overrode != (core.OverriddenSetting{
		Setting: "container_image", Value: "mine:1", Layer: core.LayerGlobal, Path: "/g", Line: 7,
	}) {
		t.Errorf("%+v, %+v", o, o.Overrode)
	}
	if other := w.values.Child.Named("install-2").Ref; other == ref {
		t.Error("two installs have one image")
	}
}

// TestProjectImageIsNotBuilt: what only looks is told of the image that will be, and who builds
// nothing gets none.
func TestProjectImageIsNotBuilt(t *testing.T) {
	w, s, want := newProjectWorld()
	r, err := s.Resolve(t.Context(), want)
	if err != nil || !strings.HasPrefix(r.Spec.Image, "loop-project-") || !strings.Contains(strings.Join(r.Why.Notices, "\n"), "not built yet") {
		t.Errorf("%v, %s, %q", err, r.Spec.Image, r.Why.Notices)
	}
	want.NoBuild = true
	if _, err := s.Ensure(t.Context(), want); err == nil || w.left != 0 {
		t.Errorf("a container of an image that is not there: %v", err)
	}
	w.breaks, want.NoBuild = "build "+w.values.Child.Named("install-1").Ref+" on mine:1", false
	w.done = nil
	if _, err := s.Ensure(t.Context(), want); err == nil || len(w.done) != 2 {
		t.Errorf("%v, did %q", err, w.done)
	}
}
