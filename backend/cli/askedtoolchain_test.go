package cli

import (
	"strings"
	"testing"

	"loop/backend/bind"
	"loop/backend/core"
)

func undecidedView(sum string) bind.SettingsView {
	p := core.SettingsPending{Path: "/p/.loop/setup.sh", SHA256: sum, Fields: []string{"setup"}, Diff: "@@ -0,0 +1 @@\n+apt-get update\n"}
	return bind.SettingsView{Pending: []core.SettingsPending{p}, Toolchains: []core.ProjectToolchain{
		{SettingsPending: p, Kind: core.ToolchainSetup, State: core.ToolchainUndecided, Text: "apt-get update\n", Notes: []string{"A note of it."}},
	}}
}

// TestRunWithoutATerminalDoesNotWaitForADecision: it says how to decide, and stops the run.
func TestRunWithoutATerminalDoesNotWaitForADecision(t *testing.T) {
	for _, args := range [][]string{nil, {"--json"}} {
		r := newRig(t)
		sum := strings.Repeat("ab", 32)
		r.fake.answers["Settings.Get"] = undecidedView(sum)
		r.fake.prompt = func(f *fake, req bind.PromptRequest) error {
			f.publish(core.EventStatus, core.RunID(req.ClientID), true, core.Status{State: core.RunStarting, Step: core.StepToolchain})
			return nil
		}
		r.fake.cancel = func(f *fake, id core.RunID) error {
			f.publish(core.EventStatus, id, true, core.Status{State: core.RunCancelled})
			return nil
		}
		if code := r.run(append([]string{"run", "--dir", r.dir, "x"}, args...)...); code != exitFailed {
			t.Fatalf("exit %d: %s", code, r.err.String())
		}
		r.wantIn("err", "The project brings a set-up script for an image of its own, and nobody has decided on it: /p/.loop/setup.sh.")
		r.wantIn("err", " --approve "+sum)
		r.wantIn("err", " --decline "+sum)
		if args == nil {
			continue
		}
		lines := r.lines()
		last := lines[len(lines)-1]
		outcome, _ := last["outcome"].(map[string]any)
		failure, _ := outcome["failure"].(map[string]any)
		if last["type"] != "result" || failure["code"] != string(core.CodeToolchain) {
			t.Errorf("last line %v", last)
		}
	}
}

// TestRunThatCannotSayWhatItWaitsFor ends as well, and names the reason.
func TestRunThatCannotSayWhatItWaitsFor(t *testing.T) {
	r := newRig(t)
	r.fake.fails["Settings.Get"] = core.Fail(core.CodeConfig, nil, "The settings are damaged.", "Correct them.")
	r.fake.prompt = func(f *fake, req bind.PromptRequest) error {
		f.publish(core.EventStatus, core.RunID(req.ClientID), true, core.Status{State: core.RunStarting, Step: core.StepToolchain})
		return nil
	}
	r.fake.cancel = func(f *fake, id core.RunID) error {
		f.publish(core.EventStatus, id, true, core.Status{State: core.RunCancelled})
		return nil
	}
	if code := r.run("run", "--dir", r.dir, "x"); code != exitFailed {
		t.Fatalf("exit %d: %s", code, r.err.String())
	}
	for _, want := range []string{"Nobody has decided on the project's own image", "The settings are damaged.", "loop config trust --channel "} {
		r.wantIn("err", want)
	}
}

// TestRunNamesWhatItsWorktreeWaitsFor, and not what waits in the project.
func TestRunNamesWhatItsWorktreeWaitsFor(t *testing.T) {
	r := newRig(t)
	sum := strings.Repeat("ef", 32)
	v := undecidedView(strings.Repeat("ab", 32))
	of := v.Toolchains[0]
	of.Path, of.SHA256 = "/p/.worktrees/x/.loop/setup.sh", sum
	v.Toolchains = append(v.Toolchains, of)
	r.fake.answers["Settings.Get"] = v
	r.fake.prompt = func(f *fake, req bind.PromptRequest) error {
		f.publish(core.EventStatus, core.RunID(req.ClientID), true, core.Status{State: core.RunStarting, Step: core.StepToolchain})
		return nil
	}
	r.fake.cancel = func(f *fake, id core.RunID) error {
		f.publish(core.EventStatus, id, true, core.Status{State: core.RunCancelled})
		return nil
	}
	if code := r.run("run", "--dir", r.dir, "x"); code != exitFailed {
		t.Fatalf("exit %d: %s", code, r.err.String())
	}
	r.wantIn("err", "nobody has decided on it: /p/.worktrees/x/.loop/setup.sh.")
	r.wantIn("err", " --approve "+sum)
}

// TestConfigTrustOfAToolchain: the text is shown with what is left out of it, approved or declined.
func TestConfigTrustOfAToolchain(t *testing.T) {
	r := settingsRig(t)
	sum := strings.Repeat("cd", 32)
	v := undecidedView(sum)
	r.fake.answers["Settings.Get"] = v
	if code := r.run("config", "trust", "--channel", "ch1"); code != exitOK {
		t.Fatalf("exit %d", code)
	}
	for _, want := range []string{"made of a set-up script", "A note of it.", "+apt-get update", "--approve " + sum, "--decline " + sum} {
		r.wantIn("out", want)
	}
	if code := r.run("config", "trust", "--channel", "ch1", "--decline", sum); code != exitOK || r.gave("Settings.Decline") != `"ch1" "/p/.loop/setup.sh" "`+sum+`"` {
		t.Errorf("exit %d, %s", code, r.gave("Settings.Decline"))
	}
	if code := r.run("config", "trust", "--channel", "ch1", "--decline", sum[:12]); code != exitUsage {
		t.Errorf("a part of a sum: exit %d", code)
	}
	v.Pending, v.Toolchains[0].State = nil, core.ToolchainDeclined
	r.fake.answers["Settings.Get"] = v
	if code := r.run("config", "trust", "--channel", "ch1"); code != exitOK {
		t.Fatalf("exit %d", code)
	}
	r.wantIn("out", "You chose to work without /p/.loop/setup.sh.")
	if code := r.run("config", "trust", "--channel", "ch1", "--approve", sum); code != exitOK || r.gave("Settings.Approve") != `"ch1" "/p/.loop/setup.sh" "`+sum+`"` {
		t.Errorf("exit %d, %s", code, r.gave("Settings.Approve"))
	}
}
