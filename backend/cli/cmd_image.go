package cli

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"loop/backend/core"
)

func (a *app) imageCommand() *cobra.Command {
	var given [len(sandboxParameters)]string
	build := a.job(&cobra.Command{
		Use: "build [agent|browser|sandbox|sandbox-common]", Short: "Build an image and show the progress", Args: upTo(1),
		Long: `Builds an image: the agents', the browser's, or one of those that OpenClaw's settings name. “sandbox”
is small; “sandbox-common” stands on it and has Node.js, Go, Rust, pnpm, Bun and Homebrew. For these
two, each flag may also come from the environment, by the name in capitals in its description.`,
		Example: `  loop image build
  loop image build sandbox-common --install-brew 0 --packages "curl jq nodejs npm python3 git"
  PACKAGES="curl git" TARGET_IMAGE=my-sandbox:small loop image build sandbox`,
	}, a.connect, func(j *job) error { return imageBuild(j, given) })
	for i, p := range sandboxParameters {
		build.Flags().StringVar(&given[i], p.flag, "", p.name+": "+p.about)
	}
	return group("image", "Show or build Loop's images",
		a.job(jsonFlag(&cobra.Command{
			Use: "status [agent|browser|sandbox|sandbox-common]", Short: "Say how an image stands", Args: upTo(1),
		}), a.connect, imageStatus), build)
}

// sandboxParameters are those of OpenClaw's build scripts.
var sandboxParameters = [...]struct {
	flag, name, about string
	set               func(*core.SandboxImage, string)
}{
	{"base-image", "BASE_IMAGE", "the image to begin with", func(w *core.SandboxImage, v string) { w.BaseImage = v }},
	{"target-image", "TARGET_IMAGE", "the name that the image gets", func(w *core.SandboxImage, v string) { w.TargetImage = v }},
	{"packages", "PACKAGES", "packages of Debian, with spaces between", func(w *core.SandboxImage, v string) {
		w.Packages = strings.Fields(v)
	}},
	{"install-pnpm", "INSTALL_PNPM", "0 or 1", func(w *core.SandboxImage, v string) { w.InstallPnpm = v }},
	{"install-bun", "INSTALL_BUN", "0 or 1", func(w *core.SandboxImage, v string) { w.InstallBun = v }},
	{"install-brew", "INSTALL_BREW", "0 or 1", func(w *core.SandboxImage, v string) { w.InstallBrew = v }},
	{"final-user", "FINAL_USER", "of programs that say no other", func(w *core.SandboxImage, v string) { w.FinalUser = v }},
}

// sandboxImage is what flags and environment say, the flags first.
func (j *job) sandboxImage(kind string, given [len(sandboxParameters)]string) core.SandboxImage {
	w := core.SandboxImage{Kind: kind}
	for i, p := range sandboxParameters {
		said := given[i]
		if said == "" {
			said, _ = j.deps.Env(p.name)
		}
		if said != "" {
			p.set(&w, said)
		}
	}
	return w
}

// imageCalls are the calls about the image that a command names, the agent's unless it does.
type imageCalls struct {
	status, build string
	kind          string // of a sandbox image, which status gets
	name          string
}

// of are the arguments of status.
func (c imageCalls) of() (args []any) {
	if c.kind != "" {
		args = []any{c.kind}
	}
	return args
}

func (j *job) imageCalls() (c imageCalls, err error) {
	switch which := slices.Concat(j.args, []string{"agent"})[0]; which {
	case "agent":
		return imageCalls{"System.ImageStatus", "System.BuildImage", "", "agent image"}, nil
	case "browser":
		return imageCalls{"System.BrowserImageStatus", "System.BuildBrowserImage", "", "browser's image"}, nil
	case core.SandboxImagePlain, core.SandboxImageCommon:
		return imageCalls{"System.SandboxImageStatus", "System.BuildSandboxImage", which, which + " image"}, nil
	default:
		return c, core.Fail(core.CodeInvalid, nil, "There is no image “"+oneLine(which, 60)+"”.",
			"Name “agent”, “browser”, “sandbox” or “sandbox-common”, or none for the agent's.")
	}
}

// imageWords say how an image stands.
var imageWords = map[core.ImageState]string{
	core.ImageUnknown:  "not known: the engine does not answer",
	core.ImageMissing:  "missing",
	core.ImageStale:    "out of date: it was built for another version of Loop",
	core.ImageReady:    "ready",
	core.ImageBuilding: "being built",
}

func imageStatus(j *job) error {
	calls, err := j.imageCalls()
	if err != nil {
		return err
	}
	s, err := show(j, func(s core.ImageStatus) {
		words := imageWords[s.State]
		switch {
		case s.State == core.ImageMissing && s.Theirs:
			words = "missing, and not one that Loop builds"
		case s.State == core.ImageMissing:
			words = "missing: “" + strings.Join(append([]string{"loop image build"}, j.args...), " ") + "” builds it"
		}
		j.out.line("%s: %s", s.Ref, words)
		if s.Note != "" {
			j.out.line("%s", s.Note)
		}
		if s.Failure != nil {
			j.err.failure(s.Failure)
		}
	}, calls.status, calls.of()...)
	if err == nil && s.State == core.ImageUnknown {
		err = exitError(exitFailed) // the question was not answered
	}
	return err
}

// imageBuild builds and shows steps and output. Ctrl-C and SIGTERM cancel the build
// and wait for it to have ended; a second Ctrl-C ends this process.
func imageBuild(j *job, given [len(sandboxParameters)]string) error {
	calls, err := j.imageCalls()
	if err != nil {
		return err
	}
	var what []any
	if calls.kind != "" {
		what = []any{j.sandboxImage(calls.kind, given)}
	} else if given != [len(sandboxParameters)]string{} {
		return usagef("the flags are for “sandbox” and “sandbox-common”")
	}
	life, stop := context.WithCancel(context.WithoutCancel(j.ctx))
	defer stop()
	events, err := j.Events(life)
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { // ends when the build does
		_, err := j.Call(life, calls.build, what...)
		done <- err
	}()
	p := &buildProgress{out: j.out}
	look := time.NewTicker(time.Second) // events tell of the agent's image alone
	defer look.Stop()
	for stopped := j.ctx.Done(); ; {
		select {
		case batch, ok := <-events:
			if !ok {
				events = nil // the build itself still answers
			}
			for _, e := range batch {
				if e.Type == core.EventImageBuild && calls.kind == "" {
					decode(e, p.show)
				}
			}
		case <-look.C:
			if raw, err := j.Call(life, calls.status, calls.of()...); err == nil {
				var st core.ImageStatus
				if json.Unmarshal(raw, &st) == nil && st.State == core.ImageBuilding {
					p.show(st)
				}
			}
		case <-stopped:
			stopped = nil
			j.err.line("Stopping the build.")
			go func() { _, _ = j.Call(life, "System.CancelImageBuild") }() // its effect is the end of the build
		case err := <-done:
			switch {
			case err != nil && stopped == nil:
				j.err.line("The build was stopped; nothing was changed.")
				return exitError(exitCancelled)
			case err == nil:
				j.out.line("The %s is ready.", calls.name)
			}
			return err
		}
	}
}

// buildProgress prints what is new in each status.
type buildProgress struct {
	out  *printer
	step string
	last []string
}

func (p *buildProgress) show(s core.ImageStatus) {
	if s.Step != "" && s.Step != p.step {
		p.step = s.Step
		p.out.styledLine(bold, "%3d %%  %s", int(s.Progress*100), oneLine(s.Step, maxLine))
	}
	for _, l := range news(p.last, s.Lines) {
		p.out.styledLine(dim, "       %s", oneLine(l, 160))
	}
	p.last = s.Lines
	if s.Note != "" && s.State != core.ImageBuilding {
		p.out.styledLine(amber, "%s", s.Note)
	}
}

// news returns the lines of a sliding window that were not in the one before.
func news(before, now []string) []string {
	for skip := range before {
		tail := before[skip:]
		if len(tail) <= len(now) && slices.Equal(tail, now[:len(tail)]) {
			return now[len(tail):]
		}
	}
	return now
}
