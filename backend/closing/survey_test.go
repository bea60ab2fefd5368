package closing

import (
	"slices"
	"strings"
	"testing"
	"time"

	"loop/backend/bind"
	"loop/backend/core"
	"loop/backend/terminal"
)

// TestWhatBecomesOfIt checks each kind of work under way: what happens to it when Loop
// ends, and whether Loop stays for it.
func TestWhatBecomesOfIt(t *testing.T) {
	const here, box = core.TargetHost, core.TargetAgent
	run := func(st core.RunState, spawn core.SpawnID) underWay {
		return underWay{runs: []core.Run{{ID: "r", ChannelID: "c", Prompt: "Fix it", State: st, SpawnID: spawn}}}
	}
	term := func(target core.TerminalTarget, st terminal.Standing) underWay {
		st.ChannelID, st.Target, st.Title = "c", target, "pane"
		return underWay{terminals: []terminal.Standing{st}}
	}
	recorded := core.TerminalInfo{Recording: "a.cast"}
	at := time.Date(2026, 3, 1, 17, 30, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		under              underWay
		ends, goesOn, wait string // kinds
		stays              bool
	}{
		"nothing":                            {},
		"a run with its agent":               {under: run(core.RunRunning, "s"), goesOn: "run", stays: true},
		"a run that starts":                  {under: run(core.RunStarting, ""), wait: "run", stays: true},
		"a run between two tries":            {under: run(core.RunRunning, ""), wait: "run", stays: true},
		"a run whose model Loop is":          {under: with(run(core.RunRunning, "s"), func(u *underWay) { u.fed = map[core.RunID]bool{"r": true} }), wait: "run", stays: true},
		"a prompt that is next":              {under: run(core.RunQueued, ""), wait: "prompt", stays: true},
		"a prompt for later":                 {under: with(run(core.RunQueued, ""), func(u *underWay) { u.runs[0].NotBefore = at }), wait: "prompt", stays: true},
		"a prompt behind a question":         {under: with(run(core.RunQueued, ""), func(u *underWay) { u.parked = map[core.ChannelID]bool{"c": true} }), wait: "prompt"},
		"a question elsewhere":               {under: with(run(core.RunQueued, ""), func(u *underWay) { u.parked = map[core.ChannelID]bool{"d": true} }), wait: "prompt", stays: true},
		"a program on this computer":         {under: term(here, terminal.Standing{Runs: "vim"}), ends: "program", stays: true},
		"an idle shell on this computer":     {under: term(here, terminal.Standing{Idle: true})},
		"a program in a foreign container":   {under: term(box, terminal.Standing{Runs: "make"}), ends: "program", stays: true},
		"a program in a container of Loop's": {under: term(box, terminal.Standing{Outlives: true, Runs: "make"}), goesOn: "terminal"},
		"an idle shell there":                {under: term(box, terminal.Standing{Outlives: true, Idle: true})},
		"a recording of an idle shell":       {under: term(box, terminal.Standing{Outlives: true, Idle: true, TerminalInfo: recorded}), ends: "recording", stays: true},
		"a recording of a program":           {under: term(here, terminal.Standing{Runs: "vim", TerminalInfo: recorded}), ends: "program recording", stays: true},
		"a build of the image":               {under: underWay{building: true}, ends: "image", stays: true},
	} {
		t.Run(name, func(t *testing.T) {
			c.under.names = map[core.ChannelID]string{"c": "shop"}
			l := leavingOf(c.under)
			if kindsOf(l.Ends) != c.ends || kindsOf(l.GoesOn) != c.goesOn || kindsOf(l.Waits) != c.wait || l.Stays != c.stays {
				t.Errorf("%+v", l)
			}
			for _, i := range slices.Concat(l.Ends, l.GoesOn, l.Waits) {
				if i.Kind != bind.LeavingImage && i.Channel != "shop" {
					t.Errorf("%+v", i)
				}
			}
		})
	}
}

func with(u underWay, change func(*underWay)) underWay {
	change(&u)
	return u
}

func kindsOf(list []bind.LeavingItem) string {
	var out []string
	for _, i := range list {
		out = append(out, string(i.Kind))
	}
	return strings.Join(out, " ")
}

func TestPromptsInALine(t *testing.T) {
	for prompt, want := range map[string]string{
		"": "", "  Fix it \n": "Fix it", "Fix it\nand more": "Fix it…", strings.Repeat("ä", 81): strings.Repeat("ä", 80) + "…", strings.Repeat("ä", 80): strings.Repeat("ä", 80),
	} {
		if got := firstLine(prompt); got != want {
			t.Errorf("%q: %q", prompt, got)
		}
	}
}
