package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"loop/backend/bind"
	"loop/backend/core"
	"loop/backend/gate"
	"loop/backend/provision"
	"loop/backend/terminal/programs"
)

// preview answers what a channel's next container would be, without making it. One
// that runs, perhaps by earlier settings, is not asked.
type preview struct {
	channels  programs.Channels
	provision *provision.Service
	gate      *gate.Service
}

var _ bind.Explainer = preview{}

func (p preview) resolve(ctx context.Context, id core.ChannelID, w provision.Want) (r provision.Resolved, err error) {
	if w.Channel, err = p.channels.Channel(ctx, id); errors.Is(err, core.ErrNotFound) {
		return r, core.Fail(core.CodeNotFound, err, "This channel does not exist any more.", "Choose another channel.")
	}
	if err != nil {
		return r, fmt.Errorf("read channel: %w", err)
	}
	return p.provision.Resolve(ctx, w)
}

// Explain says what a run would get. Whether the model is on the link only matters
// for a network of none, which is explained and not refused here.
func (p preview) Explain(ctx context.Context, id core.ChannelID, plan bool) (core.Explanation, error) {
	r, err := p.resolve(ctx, id, provision.Want{Plan: plan, PlanGated: plan && p.gate.Enforces()})
	return r.Why, err
}

// Mounts are how a shell sees this computer's files.
func (p preview) Mounts(ctx context.Context, id core.ChannelID) ([]core.Mount, error) {
	r, err := p.resolve(ctx, id, provision.Want{Type: core.TypeShell})
	return r.Spec.Mounts, err
}

// pasteDir is in the agent's home, which every container of the channel has and
// which goes with the channel.
const pasteDir = ".loop-pastes"

// PasteFolder is in the agent's home of the channel. The mount's source lies in
// Loop's own folder, which no container can change.
func (p preview) PasteFolder(ctx context.Context, id core.ChannelID) (bind.PasteFolder, error) {
	r, err := p.resolve(ctx, id, provision.Want{Type: core.TypeShell})
	if err != nil {
		return bind.PasteFolder{}, err
	}
	for _, m := range r.Spec.Mounts {
		if m.Kind == core.MountState && !m.Volume && !m.ReadOnly && m.Target == r.Spec.Agent.Home {
			// A prompt can be given files before the channel has had a container.
			if err := os.MkdirAll(m.Source, 0o700); err != nil {
				return bind.PasteFolder{}, core.Fail(core.CodeDir, fmt.Errorf("make state folder: %w", err),
					"The channel's folder for pasted files could not be made.", "Check that the disk is not full and that Loop's folder belongs to you.")
			}
			return bind.PasteFolder{Root: m.Source, Dir: pasteDir, Target: m.Target + "/" + pasteDir}, nil
		}
	}
	return bind.PasteFolder{}, core.Fail(core.CodeMount, nil,
		"The channel's container has no home folder of Loop's to keep pasted files in.",
		"Copy the file into the project's folder and name it there.")
}

// specWait bounds the look at the engine for a list of rules.
const specWait = 2 * time.Second

// shellSpec is the container that a channel's next terminal would have: a run's has its
// files in the same places.
func (d *Daemon) shellSpec(ctx context.Context, ch core.Channel) (core.Spec, error) {
	ctx, cancel := context.WithTimeout(ctx, specWait)
	defer cancel()
	r, err := d.provision.Resolve(ctx, provision.Want{Channel: ch, Type: core.TypeShell})
	return r.Spec, err
}
