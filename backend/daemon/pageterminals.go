package daemon

import (
	"context"
	"fmt"
	"os"
	"runtime"

	"loop/backend/bind"
	"loop/backend/core"
	"loop/backend/provision"
)

// pageTerminals is what the page may ask of terminals beside the socket.
func (d *Daemon) pageTerminals() *bind.Terminals {
	return &bind.Terminals{
		Ctx: d.ctx, Service: d.terminals, Tapes: d.recordings, Seen: containerView{d}, Pastes: containerView{d}, OS: runtime.GOOS,
		At: func() bind.Endpoint { return bind.Endpoint{Base: d.api.URL(), Token: d.token} },
	}
}

// containerView is how a channel's container sees this computer's files.
type containerView struct{ d *Daemon }

// Mounts are those that the channel's next container gets: what one that runs
// was given before the settings changed is not asked for.
func (v containerView) Mounts(ctx context.Context, id core.ChannelID) ([]core.Mount, error) {
	spec, err := v.spec(ctx, id)
	return spec.Mounts, err
}

func (v containerView) spec(ctx context.Context, id core.ChannelID) (core.Spec, error) {
	ch, err := v.d.store.Channel(ctx, id)
	if err != nil {
		return core.Spec{}, core.Fail(core.CodeNotFound, err, "This channel does not exist any more.", "Choose another channel.")
	}
	r, err := v.d.provision.Resolve(ctx, provision.Want{Channel: ch, Type: core.TypeShell})
	return r.Spec, err
}

// pasteDir is in the agent's home, which every container of the channel has and
// which goes with the channel.
const pasteDir = ".loop-pastes"

// PasteFolder is in the agent's home of the channel. The mount's source lies in
// Loop's own folder, which no container can change.
func (v containerView) PasteFolder(ctx context.Context, id core.ChannelID) (bind.PasteFolder, error) {
	spec, err := v.spec(ctx, id)
	if err != nil {
		return bind.PasteFolder{}, err
	}
	for _, m := range spec.Mounts {
		if m.Kind == core.MountState && !m.Volume && !m.ReadOnly && m.Target == spec.Agent.Home {
			// A prompt can be given files before the channel has had a container.
			if err := os.MkdirAll(m.Source, 0o700); err != nil {
				return bind.PasteFolder{}, core.Fail(core.CodeDir, fmt.Errorf("make state folder: %w", err), "The channel's folder for pasted files could not be made.", "Check that the disk is not full and that Loop's folder belongs to you.")
			}
			return bind.PasteFolder{Root: m.Source, Dir: pasteDir, Target: m.Target + "/" + pasteDir}, nil
		}
	}
	return bind.PasteFolder{}, core.Fail(core.CodeMount, nil, "The channel's container has no home folder of Loop's to keep pasted files in.", "Copy the file into the project's folder and name it there.")
}
