package imagebuild

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/distribution/reference"

	"loop/agentimage"
	"loop/backend/core"
)

// maxPackages bounds the packages of a sandbox image.
const maxPackages = 500

var (
	packageName = regexp.MustCompile(`^[a-z0-9][a-z0-9+.-]{0,100}(:[a-z0-9]{1,20})?(=[A-Za-z0-9][A-Za-z0-9.+:~-]{0,100})?$`)
	userName    = regexp.MustCompile(`^[a-z_][a-z0-9_-]{0,31}$`)
)

// sandboxDefaults are the parameters of OpenClaw's build scripts.
var sandboxDefaults = map[string]core.SandboxImage{
	core.SandboxImagePlain: {
		TargetImage: agentimage.SandboxRef, InstallPnpm: "0", InstallBun: "0", InstallBrew: "0", FinalUser: "sandbox",
		Packages: strings.Fields("bash ca-certificates curl git jq python3 ripgrep"),
	},
	core.SandboxImageCommon: {
		BaseImage: agentimage.SandboxRef, TargetImage: agentimage.SandboxCommonRef,
		InstallPnpm: "1", InstallBun: "1", InstallBrew: "1", FinalUser: "sandbox",
		Packages: strings.Fields("curl wget jq coreutils grep nodejs npm python3 git ca-certificates golang-go rustc cargo unzip pkg-config " +
			"libasound2-dev build-essential file"),
	},
}

// SandboxKind is the kind of an image that BuildSandbox makes under this name where nobody
// says another; empty if there is none.
func SandboxKind(ref string) string {
	for kind, d := range sandboxDefaults {
		if d.TargetImage == ref {
			return kind
		}
	}
	return ""
}

// wholeSandbox fills in what is not said and checks all of it. What it returns can be put into
// a shell's words: nothing in it means anything to a shell.
func wholeSandbox(w core.SandboxImage) (core.SandboxImage, error) {
	bad := func(name, value, remedy string) (core.SandboxImage, error) {
		return w, core.Fail(core.CodeInvalid, nil, fmt.Sprintf("%s is “%s”, which cannot be used.", name, core.CleanTitle(value)), remedy)
	}
	d, known := sandboxDefaults[w.Kind]
	if !known {
		return bad("The kind of image", w.Kind, "Name “sandbox” or “sandbox-common”.")
	}
	w.BaseImage, w.TargetImage = cmp.Or(w.BaseImage, d.BaseImage), cmp.Or(w.TargetImage, d.TargetImage)
	w.InstallPnpm, w.InstallBun = cmp.Or(w.InstallPnpm, d.InstallPnpm), cmp.Or(w.InstallBun, d.InstallBun)
	w.InstallBrew, w.FinalUser = cmp.Or(w.InstallBrew, d.InstallBrew), cmp.Or(w.FinalUser, d.FinalUser)
	if len(w.Packages) == 0 {
		w.Packages = d.Packages
	}
	if w.BaseImage != "" {
		if _, err := reference.ParseNormalizedNamed(w.BaseImage); err != nil {
			return bad("BASE_IMAGE", w.BaseImage, "Name an image, such as debian:bookworm-slim.")
		}
	}
	target, err := reference.ParseNormalizedNamed(w.TargetImage)
	if err == nil {
		_, pinned := target.(reference.Digested)
		own := slices.Contains([]string{agentimage.Agent.Ref, agentimage.Chrome.Ref, ownBaseRef, defaultBase}, w.TargetImage) ||
			strings.HasPrefix(reference.FamiliarName(target), "loop-")
		if pinned || own || w.TargetImage == w.BaseImage {
			err = errors.New("taken")
		}
	}
	if err != nil {
		return bad("TARGET_IMAGE", w.TargetImage, "Name the image that is to be made, such as my-sandbox:latest: no other image's name, "+
			"no digest, and none that begins with loop-, which are Loop's own.")
	}
	for _, p := range w.Packages {
		if !packageName.MatchString(p) {
			return bad("A name in PACKAGES", p, "Name packages of Debian, with spaces between them.")
		}
	}
	if len(w.Packages) > maxPackages {
		return bad("PACKAGES", fmt.Sprintf("%d names", len(w.Packages)), fmt.Sprintf("Name %d at most.", maxPackages))
	}
	for _, s := range []struct{ name, value string }{
		{"INSTALL_PNPM", w.InstallPnpm}, {"INSTALL_BUN", w.InstallBun}, {"INSTALL_BREW", w.InstallBrew},
	} {
		if s.value != "0" && s.value != "1" {
			return bad(s.name, s.value, "Write 0 or 1.")
		}
	}
	if !userName.MatchString(w.FinalUser) {
		return bad("FINAL_USER", w.FinalUser, "Use lower-case letters, digits, - and _, 32 at most, and a letter first.")
	}
	return w, nil
}

// sandboxArgs are the arguments of the Dockerfile.
func sandboxArgs(w core.SandboxImage) map[string]string {
	return map[string]string{
		"PACKAGES": strings.Join(w.Packages, " "), "FINAL_USER": w.FinalUser,
		"INSTALL_PNPM": w.InstallPnpm, "INSTALL_BUN": w.InstallBun, "INSTALL_BREW": w.InstallBrew,
	}
}

// BuildSandbox builds one of OpenClaw's images, the one that it begins with first if that is
// another of them and missing. One is built at a time; a second caller of the same waits for
// it, and one of another gets core.CodeConflict. When ctx of every caller has ended, so does
// the build. Errors are those of Build, and core.CodeInvalid.
func (s *Service) BuildSandbox(ctx context.Context, w core.SandboxImage) error {
	return s.buildSandbox(ctx, w, false)
}

func (s *Service) buildSandbox(ctx context.Context, w core.SandboxImage, bare bool) error {
	w, err := wholeSandbox(w)
	if err != nil {
		return err
	}
	if kind := SandboxKind(w.BaseImage); kind != "" {
		if _, _, err := s.engine.ImageInspect(ctx, w.BaseImage); errors.Is(err, core.ErrNoImage) {
			err = s.BuildSandbox(ctx, core.SandboxImage{Kind: kind})
			if err != nil {
				return err
			}
		}
	}
	builds, err := s.sandboxOf(w, bare)
	if err != nil {
		return err
	}
	return builds.Build(ctx)
}

// sandboxBuild is the image that is being built, or was last.
type sandboxBuild struct {
	builds *Service
	of     string // its parameters
}

// sandboxOf is the service that builds an image. Its predecessor has nothing under way.
func (s *Service) sandboxOf(w core.SandboxImage, bare bool) (*Service, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := fmt.Sprintf("%q %v", w, bare)
	switch {
	case s.closed:
		return nil, cancelled(errCancelled)
	case s.sandbox.of == of:
		return s.sandbox.builds, nil
	case s.sandbox.builds != nil && s.sandbox.builds.Building():
		return nil, core.Fail(core.CodeConflict, nil, "Another sandbox image is being built.", "Wait until it is ready, then try again.")
	}
	name := "sandbox image"
	if w.Kind == core.SandboxImageCommon {
		name = "common sandbox image"
	}
	o := s.opts
	o.Recipe = agentimage.Sandbox(name, w.TargetImage)
	o.Parent, o.Args = w.BaseImage, sandboxArgs(w)
	if o.Labels = nil; bare {
		o.Labels = map[string]string{core.LabelBareImage: "1"}
	}
	o.Publish = func(core.ImageStatus) {} // events tell of the agent image
	o.Settings = func() Settings { return Settings{ExtraCA: s.opts.Settings().ExtraCA} }
	one := New(o)
	one.command, one.http, one.find = s.command, s.http, s.find
	s.sandbox = sandboxBuild{one, of}
	return one, nil
}

// SandboxStatus says how an image of BuildSandbox stands: the one under way if there is one,
// otherwise the one of that kind, with what its last build came to.
func (s *Service) SandboxStatus(ctx context.Context, kind string) core.ImageStatus {
	s.mu.Lock()
	last := s.sandbox.builds
	s.mu.Unlock()
	ref := sandboxDefaults[kind].TargetImage
	if last != nil && (last.Building() || last.opts.Recipe.Ref == ref && len(last.opts.Labels) == 0) {
		return last.Status(ctx)
	}
	st := core.ImageStatus{State: core.ImageReady, Ref: ref}
	id, labels, err := s.engine.ImageInspect(ctx, ref)
	switch {
	case labels[core.LabelBareImage] != "":
		st.Note = "It is degraded: a bare Debian with Claude Code, without git, python3 and other tools. Build it to have them."
	case errors.Is(err, core.ErrNoImage):
		st.State = core.ImageMissing
	case err != nil:
		st.State, st.Failure = core.ImageUnknown, core.AsFailure(err)
	}
	st.ID = id
	return st
}

// cancelSandbox ends the build of a sandbox image that is under way.
func (s *Service) cancelSandbox() {
	s.mu.Lock()
	one := s.sandbox.builds
	s.mu.Unlock()
	if one != nil {
		one.Cancel()
	}
}
