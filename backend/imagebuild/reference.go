package imagebuild

import (
	"context"
	"errors"
	"fmt"
	"time"

	"loop/backend/core"
)

// fetchTimeout bounds the pull of an image of the person's own once it moves.
const fetchTimeout = time.Hour

// NotThere says that an image is missing, in OpenClaw's words. Its code says whether Loop can
// build it.
func NotThere(ref string, err error) *core.Failure {
	code, remedy := core.CodeNoImage, "“docker pull "+ref+"” gets it from a registry. Or name another image in the settings."
	if kind := SandboxKind(ref); kind != "" {
		code, remedy = core.CodeNoSandbox+core.Code(kind), "“loop image build "+kind+"” builds it, and so does the button here."
	}
	return core.Fail(code, fmt.Errorf("%w: %w", core.ErrNoImage, err), "Sandbox image not found: "+ref+". Build or pull it first.", remedy)
}

// toFetch says what the first run will do about an image of the person's own that is missing, or
// why it will fail.
func (s *Service) toFetch(set Settings) (note string, why *core.Failure) {
	kind := SandboxKind(set.Ref)
	switch {
	case kind == core.SandboxImagePlain && set.Bare:
		return "The first run makes it, as a bare Debian with Claude Code.", nil
	case kind != "":
		why = NotThere(set.Ref, errors.New("it was not built"))
		why.Remedy = "“loop image build " + kind + "” builds it, and so does the button of a run that found it missing."
		return "", why
	case set.NoAutobuild:
		return "", NotThere(set.Ref, errUnpulled)
	}
	return "The first run pulls it, which may take some minutes.", nil
}

var errUnpulled = errors.New("container_image_autobuild is false, and so nothing is pulled")

// fetched tells how the image of the settings stands after fetch.
func (s *Service) fetched(ctx context.Context, set Settings, err error) {
	if set.Ref != s.settings().Ref {
		return
	}
	if _, why := s.toFetch(set); why == nil { // else the status says it by itself
		s.mu.Lock()
		s.last = core.ImageStatus{Ref: set.Ref}
		if err != nil && ctx.Err() == nil {
			s.last.Failure = core.AsFailure(err)
		}
		s.mu.Unlock()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), statusTime)
	defer cancel()
	s.opts.Publish(s.Status(ctx))
}

// fetch has the engine have an image that is not Loop's own agent image.
func (s *Service) fetch(ctx context.Context, set Settings) error {
	kind := SandboxKind(set.Ref)
	switch {
	case kind == core.SandboxImagePlain && set.Bare:
		return s.buildSandbox(ctx, core.SandboxImage{Kind: kind, Packages: []string{"bash"}}, true)
	case kind != "":
		return NotThere(set.Ref, errors.New("it was not built"))
	case set.NoAutobuild:
		return NotThere(set.Ref, errUnpulled)
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	heard, quiet := context.WithCancel(ctx)
	defer quiet()
	silent := time.AfterFunc(pullPatience, quiet)
	defer silent.Stop()
	s.log.Info("pull image", "image", set.Ref)
	err := s.engine.ImagePull(heard, set.Ref, func(string) { silent.Stop() })
	switch {
	case err == nil:
		return nil
	case ctx.Err() == nil && heard.Err() != nil:
		return NotThere(set.Ref, fmt.Errorf("no answer from the registry in %s", pullPatience))
	case ctx.Err() != nil:
		return ctx.Err()
	case core.AsFailure(err).Code != core.CodeInternal:
		return err // no engine, or its disk is full
	}
	return NotThere(set.Ref, err)
}
