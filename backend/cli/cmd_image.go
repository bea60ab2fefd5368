package cli

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"loop/backend/core"
)

func (a *app) imageCommand() *cobra.Command {
	return group("image", "Show or build Loop's images",
		a.job(jsonFlag(&cobra.Command{Use: "status [agent|browser]", Short: "Say how an image stands", Args: upTo(1)}), a.connect, imageStatus),
		a.job(&cobra.Command{Use: "build [agent|browser]", Short: "Build an image and show the progress", Args: upTo(1)}, a.connect, imageBuild))
}

// imageCalls are the calls about the image that a command names; the agent's unless it does.
func imageCalls(j *job) (status, build, name string, err error) {
	switch which := slices.Concat(j.args, []string{"agent"})[0]; which {
	case "agent":
		return "System.ImageStatus", "System.BuildImage", "agent image", nil
	case "browser":
		return "System.BrowserImageStatus", "System.BuildBrowserImage", "browser's image", nil
	default:
		return "", "", "", core.Fail(core.CodeInvalid, nil, "There is no image “"+oneLine(which, 60)+"”.",
			"Name “agent” or “browser”, or none for the agent's.")
	}
}

// imageWords say how an image stands.
var imageWords = map[core.ImageState]string{
	core.ImageUnknown:  "not known: the engine does not answer",
	core.ImageMissing:  "missing: “loop image build” builds it, and the first use does",
	core.ImageStale:    "out of date: it was built for another version of Loop",
	core.ImageReady:    "ready",
	core.ImageBuilding: "being built",
}

func imageStatus(j *job) error {
	status, _, _, err := imageCalls(j)
	if err != nil {
		return err
	}
	s, err := show(j, func(s core.ImageStatus) {
		j.out.line("%s: %s", s.Ref, imageWords[s.State])
		if s.Note != "" {
			j.out.line("%s", s.Note)
		}
		if s.Failure != nil {
			j.err.failure(s.Failure)
		}
	}, status)
	if err == nil && s.State == core.ImageUnknown {
		err = exitError(exitFailed) // the question was not answered
	}
	return err
}

// imageBuild builds and shows steps and output. Ctrl-C and SIGTERM cancel the build
// and wait for it to have ended; a second Ctrl-C ends this process.
func imageBuild(j *job) error {
	status, build, name, err := imageCalls(j)
	if err != nil {
		return err
	}
	life, stop := context.WithCancel(context.WithoutCancel(j.ctx))
	defer stop()
	events, err := j.Events(life)
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { // ends when the build does
		_, err := j.Call(life, build)
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
				if e.Type == core.EventImageBuild {
					decode(e, p.show)
				}
			}
		case <-look.C:
			if raw, err := j.Call(life, status); err == nil {
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
				j.out.line("The %s is ready.", name)
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
