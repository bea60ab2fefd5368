package registry

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"loop/backend/core"
	"loop/backend/wire"
)

// setups is what the set-up of a container needs of the engine.
type setups interface {
	// SetNetwork has a container that does not run be on one network alone.
	SetNetwork(ctx context.Context, id core.ContainerID, network string) error
	Wait(ctx context.Context, id core.ContainerID) (code int, err error)
	Logs(ctx context.Context, id core.ContainerID, lines int) (string, error)
}

const (
	// setupTime is for the whole of a set-up. loop init ends the command before.
	setupTime = wire.SetupTime + 2*startTimeout
	// setupLines is how many of the last lines of a set-up that failed are kept.
	setupLines = 20
	// setupLine bounds one of them, in bytes.
	setupLine = 400
)

// startSetUp makes a container whose spec has a set-up, has that run to its end, and starts
// the container for its holder. Until then the container has no scope: whatever ends this,
// be it the end of Loop, nobody is ever given what was set up in part.
func (r *Registry) startSetUp(ctx context.Context, spec core.Spec, rights string, h core.Holder) (got core.Container, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, setupTime, core.Fail(core.CodeSetup, nil,
		fmt.Sprintf("The container was not made ready: its set-up had not ended after %s.", setupTime),
		"Shorten “setupCommand”, or put what it does into an image."))
	defer cancel()
	ctx, abandon := context.WithCancelCause(ctx)
	defer abandon(nil)
	var removed atomic.Bool // by a person
	var c core.Container
	done := func() {}
	_, err = r.starter.start(ctx, spec, func() (core.Container, error) {
		c, done, err = r.create(ctx, spec, "", rights, h)
		if err != nil {
			done = func() {}
			return c, err
		}
		r.over(c.Key, func(w *row) { w.abandon = func(why error) { removed.Store(true); abandon(why) } })
		return c, r.beginSetup(ctx, spec, c.ID)
	})
	defer func() {
		r.over(c.Key, func(w *row) { w.abandon = nil })
		done()
	}()
	if err == nil {
		r.log.Info("a container is set up", "container_name", c.Name)
		err = r.endSetup(ctx, spec, c.ID)
	}
	if err == nil {
		got, err = r.starter.start(ctx, spec, func() (core.Container, error) { return r.bringUp(ctx, spec, c) })
	}
	if err == nil { // whatever ended ctx by now: others may hold it
		r.over(c.Key, func(w *row) { w.abandon = nil })
		if !removed.Load() {
			return got, nil
		}
	}
	if why := context.Cause(ctx); why != nil { // in whatever words the engine said it
		err = why
	}
	if c.ID != "" {
		r.discard(ctx, c.Key, c.ID)
	}
	return core.Container{}, err
}

// beginSetup starts a container for its set-up, on the network of that.
func (r *Registry) beginSetup(ctx context.Context, spec core.Spec, id core.ContainerID) error {
	if err := r.o.Setup(spec.Setup, true); err != nil {
		return err
	}
	if n := spec.Setup.Network; n != "" {
		if err := r.onNetwork(ctx, id, n); err != nil {
			return err
		}
	}
	return r.o.Engine.Start(ctx, id)
}

// endSetup waits for the end of a set-up, judges it, and has the container be on its own
// network again.
func (r *Registry) endSetup(ctx context.Context, spec core.Spec, id core.ContainerID) error {
	code, err := r.o.Engine.Wait(ctx, id)
	if err != nil {
		return fmt.Errorf("wait for the set-up: %w", err)
	}
	if code != wire.ExitSetUp {
		return r.setupFailure(ctx, id, code)
	}
	if err := r.o.Setup(spec.Setup, false); err != nil {
		return err
	}
	if spec.Setup.Network == "" {
		return nil
	}
	return r.onNetwork(ctx, id, spec.Network)
}

// onNetwork has a container be on one network, and asks the engine whether it is.
func (r *Registry) onNetwork(ctx context.Context, id core.ContainerID, network string) error {
	err := r.o.Engine.SetNetwork(ctx, id, network)
	if err == nil {
		var f core.ContainerFacts
		f, err = r.o.Engine.Inspect(ctx, id)
		if err == nil && !slices.Equal(f.Networks, []string{network}) {
			err = fmt.Errorf("it is on the networks %q", f.Networks)
		}
	}
	if err == nil || ctx.Err() != nil {
		return err
	}
	return core.Fail(core.CodeSetup, fmt.Errorf("have the container be on the network %s: %w", network, err),
		"The container was not used, because the engine did not put it onto the network “"+network+"” alone, before or after its set-up.",
		"Try again. If it repeats, give the set-up the network of the container (“setupNetwork”), or put what it does into an image.")
}

// setupFailure says why a set-up came to nothing, with the last that it said.
func (r *Registry) setupFailure(ctx context.Context, id core.ContainerID, code int) error {
	said, err := r.o.Engine.Logs(ctx, id, setupLines)
	facts, ferr := r.o.Engine.Inspect(ctx, id)
	if err = errors.Join(err, ferr); err != nil && ctx.Err() != nil {
		return err
	}
	var lines []string
	for line := range strings.Lines(said) {
		line = strings.TrimSpace(strings.ToValidUTF8(line[:min(len(line), setupLine)], ""))
		if line = core.CleanTitle(line); line != "" {
			lines = append(lines, line)
		}
	}
	why := "the container ended with code " + fmt.Sprint(code)
	switch {
	case facts.OOMKilled:
		why = "it needed more memory than the container may have"
	case len(lines) > 0:
		why = "“" + lines[len(lines)-1] + "”"
	}
	f := core.Fail(core.CodeSetup, err, "The container was not made ready, because its setupCommand failed: "+why+".",
		"Correct “setupCommand” in the settings by what it said last (see the detail). Nothing of this container is used again.")
	f.Detail = strings.TrimSpace(f.Detail + "\n" + strings.Join(lines, "\n"))
	return f
}

// abandonSetup ends the set-up of a container, if one is under way.
func (r *Registry) abandonSetup(key core.ContainerKey) {
	_ = r.with(key, func(w *row) error {
		if w.abandon != nil {
			w.abandon(core.Fail(core.CodeCancelled, nil, "The container was removed while it was set up.", "Send the prompt again."))
		}
		return nil
	})
}
