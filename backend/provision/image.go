package provision

import (
	"context"
	"errors"

	"loop/backend/core"
	"loop/backend/sandbox"
)

// ensureImage has the image of a Want be there.
func (s *Service) ensureImage(ctx context.Context, w Want, v Values) error {
	switch {
	case w.Type == core.TypeChrome:
		return s.o.Browsers.Ensure(ctx, v.Browser.Image)
	case v.Child != nil:
		return s.o.Projects.EnsureProject(ctx, v.Child.Named(s.o.Install))
	}
	return s.o.Images.Ensure(ctx, v.Container.Image.Value)
}

// image says which image a container of a Want has, which has taken the place of what the
// settings say where the project has its own. One of a project that is not built yet is
// explained by its base, which is there.
func (s *Service) image(ctx context.Context, w Want, v *Values) (ref, there, id string, labels map[string]string, err error) {
	was := v.Container.Image
	if v.Child != nil {
		child := v.Child.Named(s.o.Install)
		v.Container.Image = sandbox.Setting[string]{Value: child.Ref, From: core.SettingsOrigin{
			Layer: child.Layer, Path: child.Path, Overrode: &core.OverriddenSetting{
				Setting: "container_image", Value: was.Value, Layer: was.From.Layer, Path: was.From.Path, Line: was.From.Line,
			},
		}}
	}
	ref = v.Container.Image.Value
	there = ref
	id, labels, err = s.o.Engine.ImageInspect(ctx, ref)
	if v.Child != nil && !w.NoBuild && errors.Is(err, core.ErrNoImage) {
		there = v.Child.Base
		id, labels, err = s.o.Engine.ImageInspect(ctx, there)
	}
	return ref, there, id, labels, err
}
