package imagebuild

import (
	"cmp"
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

// projectStep is one image of those that a project's own is made of.
type projectStep struct {
	recipe agentimage.Recipe
	on     string // the image that it begins with
	args   map[string]string
	target string
	agents bool // it brings what agents need
}

// projectNames name what is built, by its source.
var projectNames = map[string]string{
	core.ToolchainSetup: "image of the project's set-up script", core.ToolchainDevcontainer: "image of the project's devcontainer",
}

// EnsureProject returns once the image that a project's own files make can be used: it has that
// content and stands on the base as the engine has it now. The base is seen to first, as by
// Ensure. Callers who want the same wait for one build; when ctx of all of them has ended, so
// does the build. Earlier images of the project go with the first that is built after them,
// as far as no container has them. Errors are those of Ensure and Build, and
// core.CodeToolchainBuild.
func (s *Service) EnsureProject(ctx context.Context, p core.ProjectImage) error {
	if err := s.Ensure(ctx, p.Base); err != nil {
		return err
	}
	name := cmp.Or(projectNames[p.Source], "project's own image")
	on, built, err := p.Base, false, error(nil)
	if p.Below != nil {
		on, built, err = s.below(ctx, p, name)
	}
	if err == nil {
		var last bool
		last, err = s.projectStep(ctx, p, projectStep{recipe: agentimage.Project(name, p.Ref, p.Files), on: on})
		built = built || last
	}
	if err != nil {
		return ofProject(err)
	}
	s.mu.Lock()
	swept := s.swept[p.Dir]
	s.mu.Unlock()
	if built || !swept {
		s.dropEarlier(ctx, p)
	}
	return nil
}

// ofProject has a build that failed be told from one of Loop's own images.
func ofProject(err error) error {
	f, ok := errors.AsType[*core.Failure](err)
	if !ok || f.Code != core.CodeImageBuild {
		return err
	}
	of := *f
	of.Code = core.CodeToolchainBuild
	of.Remedy = "Look at its output, correct the file and approve it again. Or try again, or work without it."
	return &of
}

// below sees to what a devcontainer brings, and to what agents need on top of it.
func (s *Service) below(ctx context.Context, p core.ProjectImage, name string) (on string, built bool, err error) {
	repo, _, _ := strings.Cut(p.Ref, ":")
	if on = p.Below.Image; on == "" {
		on = repo + ":below"
		built, err = s.projectStep(ctx, p, projectStep{
			recipe: agentimage.Project(name, on, p.Below.Files), on: p.Base, args: p.Below.Args, target: p.Below.Target,
		})
		if err != nil {
			return on, built, err
		}
	}
	if _, labels, err := s.engine.ImageInspect(ctx, on); err == nil && labels[LabelImageHash] != "" && labels[LabelClaude] != "" {
		return on, built, nil // it is made from Loop's own
	}
	over := repo + ":agent"
	more, err := s.projectStep(ctx, p, projectStep{recipe: agentimage.Over(name, over), on: on, agents: true})
	return over, built || more, err
}

// projectStep builds one image, unless it is there as it is to be.
func (s *Service) projectStep(ctx context.Context, p core.ProjectImage, st projectStep) (built bool, err error) {
	parent, _, err := s.engine.ImageInspect(ctx, st.on)
	if err != nil && !(errors.Is(err, core.ErrNoImage) && st.agents) { // which the build pulls
		return false, err
	}
	var without []string
	if st.agents {
		without = agentimage.OverWithout
	}
	_, labels, err := s.engine.ImageInspect(ctx, st.recipe.Ref)
	switch {
	case err == nil && parent != "" && labels[core.LabelParentID] == parent && labels[LabelImageHash] == st.recipe.Hash(without):
		return false, nil
	case err != nil && !errors.Is(err, core.ErrNoImage):
		return false, err
	case s.settings().NoAutobuild:
		return false, core.Fail(core.CodeNoImage, fmt.Errorf("%w: %s", core.ErrNoImage, st.recipe.Ref),
			"The project's own image is not built, because container_image_autobuild is false.",
			"Set it to true, or work without "+p.Path+".")
	}
	if parent == "" {
		if err := s.fetch(ctx, Settings{Ref: st.on}); err != nil {
			return false, err
		}
		if parent, _, err = s.engine.ImageInspect(ctx, st.on); err != nil {
			return false, err
		}
	}
	one, err := s.projectOf(p, st, parent, without)
	if err != nil {
		return false, err
	}
	return true, one.Build(ctx)
}

// projectOf is the service that builds an image on this parent. There are as many as contents
// that the person approved.
func (s *Service) projectOf(p core.ProjectImage, st projectStep, parent string, without []string) (*Service, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := st.recipe.Ref + " " + parent
	switch {
	case s.closed:
		return nil, cancelled(errCancelled)
	case s.projects[key] != nil:
		return s.projects[key], nil
	}
	o := s.opts
	o.Recipe, o.Parent, o.Args, o.Target, o.GitConfig = st.recipe, st.on, st.args, st.target, ""
	o.Labels = map[string]string{
		"loop.part": st.recipe.Part, core.LabelParentID: parent, core.LabelProjectInstall: p.Install, core.LabelProjectDir: p.Dir,
	}
	o.Settings = func() Settings { return Settings{Without: without, ExtraCA: s.opts.Settings().ExtraCA} }
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
	own, _, _ := strings.Cut(p.Ref, ":")
	for ref, labels := range named {
		if strings.HasPrefix(ref, own+":") || !strings.HasPrefix(ref, core.ProjectImagePrefix) { // somebody's own, made from one
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
