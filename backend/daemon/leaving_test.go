package daemon

import (
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"loop/backend/bind"
	"loop/backend/core"
	"loop/backend/terminal"
)

// TestWhatBecomesOfIt: for each kind of thing under way, what becomes of it when
// Loop ends, and whether Loop stays for it.
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

// TestLeavingOfALoop reads it from a Loop: names, order, times, and that a demo's
// model is in it.
func TestLeavingOfALoop(t *testing.T) {
	t.Setenv("LOOP_HOME", t.TempDir())
	t.Setenv("LOOP_KEYRING", "file")
	t.Setenv("DOCKER_HOST", "unix://"+filepath.Join(t.TempDir(), "none.sock"))
	d, err := New(t.Context(), Options{Frontend: fstest.MapFS{}, Command: true})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	ctx, later := t.Context(), time.Now().Add(time.Hour).Truncate(time.Millisecond)
	if l, err := d.Leaving(ctx); err != nil || !reflect.DeepEqual(l, bind.Leaving{}) {
		t.Fatalf("%+v, %v", l, err)
	}
	for id, kind := range map[core.ChannelID]core.ChannelKind{"a": core.KindProject, "b": core.KindDemo} {
		if err := d.store.AddChannel(ctx, core.Channel{ID: id, Kind: kind, Name: "channel " + string(id), Dir: t.TempDir(), CreatedAt: time.Now()}); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range []core.Run{
		{ID: "1", ChannelID: "a", Prompt: "works"}, {ID: "2", ChannelID: "a", Prompt: "later", NotBefore: later}, {ID: "3", ChannelID: "a", Prompt: "next"},
		{ID: "4", ChannelID: "b", Prompt: "shows", Demo: true},
	} {
		if _, _, _, err := d.store.Enqueue(ctx, r); err != nil {
			t.Fatal(err)
		}
	}
	for _, ch := range []core.ChannelID{"a", "b"} {
		r, ok, err := d.store.ClaimNext(ctx, ch)
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		r.State, r.SpawnID = core.RunRunning, core.SpawnID("s"+r.ID)
		if _, err := d.store.UpdateRun(ctx, r); err != nil {
			t.Fatal(err)
		}
	}
	l, err := d.Leaving(ctx)
	if err != nil || !l.Stays || len(l.Ends) != 0 {
		t.Fatalf("%+v, %v", l, err)
	}
	if len(l.GoesOn) != 1 || l.GoesOn[0].Name != "works" || l.GoesOn[0].Channel != "channel a" {
		t.Errorf("goes on: %+v", l.GoesOn)
	}
	var waits []string
	for _, i := range l.Waits {
		waits = append(waits, i.Name)
	}
	if !slices.Equal(waits, []string{"next", "shows", "later"}) || !l.Waits[2].At.Equal(later) {
		t.Errorf("waits: %+v", l.Waits)
	}
	if err := d.store.Close(); err != nil {
		t.Fatal(err)
	}
	if l, err := d.Leaving(ctx); err == nil || !l.Stays {
		t.Errorf("what cannot be read is as good as nothing: %+v, %v", l, err)
	}
}
