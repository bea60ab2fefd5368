package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"loop/backend/core"
)

func (a *app) imageCommand() *cobra.Command {
	var asJSON bool
	status := &cobra.Command{Use: "status", Short: "Say how the agent image stands", Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withCore(cmd.Context(), a.connect, func(ctx context.Context, c Core) error { return a.imageStatus(ctx, c, asJSON) })
		}}
	jsonFlag(&asJSON)(status)
	build := &cobra.Command{Use: "build", Short: "Build the agent image and show the progress", Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.imageBuild(cmd.Context()) }}
	return group("image", "Show or build the agent image", status, build)
}

// imageWords say how an image stands.
var imageWords = map[core.ImageState]string{
	core.ImageUnknown:  "not known: the engine does not answer",
	core.ImageMissing:  "missing: “loop image build” builds it",
	core.ImageStale:    "out of date: it was built for another version of Loop",
	core.ImageReady:    "ready",
	core.ImageBuilding: "being built",
}

func (a *app) imageStatus(ctx context.Context, c Core, asJSON bool) error {
	raw, err := c.Call(ctx, "System.ImageStatus")
	if err != nil {
		return err
	}
	s, err := answer[core.ImageStatus]("System.ImageStatus", raw)
	if err != nil {
		return err
	}
	var unknown error // the question was not answered
	if s.State == core.ImageUnknown {
		unknown = exitError(exitFailed)
	}
	if asJSON {
		a.printJSON(raw)
		return unknown
	}
	word, ok := imageWords[s.State]
	if !ok {
		word = string(s.State)
	}
	a.out.line("%s: %s", s.Ref, word)
	if s.Note != "" {
		a.out.line("%s", s.Note)
	}
	if s.Failure != nil {
		a.err.failure(s.Failure)
	}
	return unknown
}

// imageBuild builds and shows steps and output. Ctrl-C cancels the build and
// waits for it to have ended; a second one leaves.
func (a *app) imageBuild(ctx context.Context) error {
	c, err := a.connect(ctx)
	if err != nil {
		return err
	}
	life, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	events, err := c.Events(life)
	if err != nil {
		_ = c.Close()
		return err
	}
	done := make(chan error, 1)
	go func() { // ends when the build does; its answer is read below or left in the buffer
		_, err := c.Call(life, "System.BuildImage")
		done <- err
	}()
	p := &buildProgress{out: a.out}
	cancelled := false
	cancel := func() {
		cancelled = true
		a.err.line("Stopping the build.")
		go func() { _, _ = c.Call(life, "System.CancelImageBuild") }() // its effect is the end of the build
	}
	terminated := ctx.Done()
	for {
		select {
		case batch, ok := <-events:
			if !ok {
				events = nil // the build itself still answers
				continue
			}
			for _, e := range batch {
				if e.Type == core.EventImageBuild {
					decode(e, p.show)
				}
			}
		case err := <-done:
			stop()
			cerr := c.Close()
			switch {
			case err != nil && cancelled:
				a.err.line("The build was stopped; nothing was changed.")
				return exitError(exitCancelled)
			case err != nil:
				return err
			case cerr != nil:
				return fmt.Errorf("close Loop: %w", cerr)
			}
			a.out.line("The agent image is ready.")
			return nil
		case <-terminated:
			terminated = nil
			if !cancelled {
				cancel()
			}
		case <-a.interrupts:
			if cancelled {
				return exitError(exitCancelled)
			}
			cancel()
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
