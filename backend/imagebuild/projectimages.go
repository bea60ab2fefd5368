package imagebuild

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"loop/agentimage"
	"loop/backend/core"
)

// projectPrefix begins the names of images that projects have Dockerfiles of their own for.
const projectPrefix = "loop-project-"

// EnsureProject returns once the image of a project's own Dockerfile can be used: it has that
// content and stands on the base as the engine has it now. The base is seen to first, as by
// Ensure. Callers who want the same wait for one build; when ctx of all of them has ended, so
// does the build. Earlier images of the project go with the first that is built after them,
// as far as no container has them. Errors are those of Ensure and Build.
func (s *Service) EnsureProject(ctx context.Context, p core.ProjectImage) error {
	if err := s.Ensure(ctx, p.Base); err != nil {
		return err
	}
	parent, _, err := s.engine.ImageInspect(ctx, p.Base)
	if err != nil {
		return err
	}
	recipe := agentimage.Project(p.Ref, p.Files)
	_, labels, err := s.engine.ImageInspect(ctx, p.Ref)
	switch {
	case err == nil && labels[core.LabelParentID] == parent && labels[LabelImageHash] == recipe.Hash(nil):
		s.mu.Lock()
		swept := s.swept[p.Dir]
		s.mu.Unlock()
		if !swept {
			s.dropEarlier(ctx, p)
		}
		return nil
	case err != nil && !errors.Is(err, core.ErrNoImage):
		return err
	case s.settings().NoAutobuild:
		return core.Fail(core.CodeNoImage, fmt.Errorf("%w: %s", core.ErrNoImage, p.Ref),
			"The project's own image is not built, because container_image_autobuild is false.",
			"Set it to true, or take the approval of "+p.Path+" back.")
	}
	one, err := s.projectOf(p, recipe, parent)
	if err != nil {
		return err
	}
	if err := one.Build(ctx); err != nil {
		return err
	}
	s.dropEarlier(ctx, p)
	return nil
}

// projectOf is the service that builds an image on this parent. There are as many as contents
// that the person approved.
func (s *Service) projectOf(p core.ProjectImage, recipe agentimage.Recipe, parent string) (*Service, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := p.Ref + " " + parent
	switch {
	case s.closed:
		return nil, cancelled(errCancelled)
	case s.projects[key] != nil:
		return s.projects[key], nil
	}
	o := s.opts
	o.Recipe, o.Parent, o.Args, o.GitConfig = recipe, p.Base, nil, ""
	o.Labels = map[string]string{
		"loop.part": recipe.Part, core.LabelParentID: parent, core.LabelProjectInstall: p.Install, core.LabelProjectDir: p.Dir,
	}
	o.Settings = func() Settings { return Settings{} }
	o.Publish = func(st core.ImageStatus) {
		if st.State != core.ImageBuilding { // what it came to is said by whoever wanted it
			ctx, cancel := context.WithTimeout(context.Background(), statusTime)
			defer cancel()
			st = s.Status(ctx)
		}
		s.opts.Publish(st)
	}
	one := New(o)
	one.command, one.http, one.find = s.command, s.http, s.find
	if s.projects == nil {
		s.projects = map[string]*Service{}
	}
	s.projects[key] = one
	return one, nil
}

// statusTime bounds the look at the agent image after a build of another.
const statusTime = 2 * time.Second

// projectBuilds are the services of projects' images.
func (s *Service) projectBuilds() (out []*Service) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.projects {
		out = append(out, one)
	}
	return out
}

// dropEarlier removes what the project's image was before, and images of projects whose folder
// is gone. The engine keeps those that a container has, often the one that is about to be
// replaced; so it is tried again with the next use.
func (s *Service) dropEarlier(ctx context.Context, p core.ProjectImage) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
	defer cancel()
	named, err := s.engine.ImagesNamed(ctx, map[string]string{core.LabelProjectInstall: p.Install})
	if err != nil {
		s.log.Warn("look for earlier images of projects", "err", err)
	}
	left := err != nil
	for ref, labels := range named {
		if ref == p.Ref || !strings.HasPrefix(ref, projectPrefix) { // somebody's own, made from one
			continue
		}
		dir := labels[core.LabelProjectDir]
		if _, err := os.Stat(dir); dir != p.Dir && !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		err := s.engine.ImageRemove(ctx, ref)
		switch {
		case errors.Is(err, core.ErrConflict):
			left = true
		case err != nil && !errors.Is(err, core.ErrNoImage):
			s.log.Warn("earlier image of a project stays behind", "image", ref, "err", err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.swept == nil {
		s.swept = map[string]bool{}
	}
	s.swept[p.Dir] = !left
}
