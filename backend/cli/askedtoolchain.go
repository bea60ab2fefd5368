package cli

import (
	"cmp"
	"context"
	"fmt"

	"loop/backend/bind"
	"loop/backend/core"
)

// toolchainWords say what an image of a project's own is made of, by its kind.
var toolchainWords = map[string]string{
	core.ToolchainImage: "a Dockerfile", core.ToolchainSetup: "a set-up script", core.ToolchainDevcontainer: "a devcontainer",
}

// askToolchain says what the run waits for, and how it is decided. Without a terminal nobody would:
// the run is stopped then, also if it cannot be said what it is.
func (f *follower) askToolchain(life context.Context) {
	v, err := call[bind.SettingsView](life, f.core, "Settings.Get", f.run.ChannelID)
	if f.passed(err) {
		if err = f.reattach(life, 1); err == nil {
			v, err = call[bind.SettingsView](life, f.core, "Settings.Get", f.run.ChannelID)
		}
		f.undecided = false
	}
	trust := "loop config trust --channel " + string(f.run.ChannelID)
	refusal := core.Fail(core.CodeToolchain, err, "Nobody has decided on the project's own image, and what it is made of could not be read.",
		"Look at it:       "+trust)
	if err == nil {
		i := len(v.Toolchains) - 1 // a worktree's comes after its project's, and is what a run there waits for
		for i >= 0 && v.Toolchains[i].State != core.ToolchainUndecided {
			i--
		}
		if i < 0 {
			return // it was decided meanwhile
		}
		t := v.Toolchains[i]
		refusal = core.Fail(core.CodeToolchain, nil,
			fmt.Sprintf("The project brings %s for an image of its own, and nobody has decided on it: %s.", toolchainWords[t.Kind], t.Path),
			"Look at it:       "+trust+"\nBuild with it:    "+trust+" --approve "+t.SHA256+"\nWork without it:  "+trust+" --decline "+t.SHA256)
	}
	if f.app.err.terminal {
		f.sink.note(refusal.Cause + " The run waits.")
		if err != nil {
			f.sink.note(core.AsFailure(err).Cause)
		}
		f.sink.note(refusal.Remedy)
		return
	}
	f.refusal = refusal
	f.cancel(life)
}

// showToolchain shows what an image would be made of.
func (a *app) showToolchain(t core.ProjectToolchain) {
	a.out.line("An image of the project's own waits, made of %s. Its build runs as root outside of the gate and gets all that is shown.",
		cmp.Or(toolchainWords[t.Kind], "this"))
	for _, n := range t.Notes {
		a.out.line("%s", n)
	}
}
