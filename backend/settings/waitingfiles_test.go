package settings

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loop/backend/config"
	"loop/backend/core"
)

// TestATrustRequestForEachText: a waiting text makes one request, for however many runs
// and channels. When it waits again later, it makes another.
func TestATrustRequestForEachText(t *testing.T) {
	times := 0
	tr := &Service{asked: map[string]asked{}, o: Options{Publish: func(e ...core.Event) { times += len(e) }}}
	x := core.SettingsPending{Path: "/p/.loop/config.json", SHA256: "x", Fields: []string{"mounts"}}
	y, other := x, x
	y.SHA256, other.Path = "y", "/q/.loop/config.json"
	for i, step := range []struct {
		pending []core.SettingsPending
		want    int
	}{
		{[]core.SettingsPending{x}, 1}, {[]core.SettingsPending{x}, 1}, {[]core.SettingsPending{y}, 2}, {[]core.SettingsPending{y}, 2}, {[]core.SettingsPending{x}, 3},
		{nil, 3},                       // approved, or corrected
		{[]core.SettingsPending{x}, 4}, // revoked, or written again
		{[]core.SettingsPending{other, x}, 5}, {nil, 5}, {[]core.SettingsPending{other}, 6},
	} {
		if tr.Waits("c", step.pending); times != step.want {
			t.Errorf("step %d: asked %d times, want %d", i, times, step.want)
		}
	}
}

// TestUndecided: a channel's run is told what its person has to decide on, and when it may be
// decided.
func TestUndecided(t *testing.T) {
	r := newSettingsRig(t)
	ch := r.list[0]
	if path, _ := r.Undecided(ch, core.Run{}); path != "" {
		t.Fatalf("nothing is there, and %s waits", path)
	}
	at := config.SetupPath(r.project)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte("true\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	path, changed := r.Undecided(ch, core.Run{})
	if path != at || len(r.told) != 1 {
		t.Fatalf("%q waits, asked in %v", path, r.told)
	}
	select {
	case <-changed:
		t.Fatal("changed already")
	default:
	}
	v, err := r.View(t.Context(), ch.ID)
	if err != nil || len(v.Toolchains) != 1 {
		t.Fatalf("%+v %v", v.Toolchains, err)
	}
	if err := r.Decline(t.Context(), ch.ID, at, strings.Repeat("0", 64)); !errors.Is(err, core.ErrConflict) {
		t.Errorf("another text: %v", err)
	}
	if err := r.Decline(t.Context(), ch.ID, "/etc/passwd", v.Toolchains[0].SHA256); err == nil {
		t.Error("a file of nobody was declined")
	}
	if err := r.Decline(t.Context(), ch.ID, at, v.Toolchains[0].SHA256); err != nil {
		t.Fatal(err)
	}
	<-changed
	for _, ch := range r.list {
		if path, _ := r.Undecided(ch, core.Run{}); path != "" {
			t.Errorf("%s still waits in %s", path, ch.ID)
		}
	}
	if err := r.Set(t.Context(), core.LayerGlobal, "", "agents.defaults.sandbox.mode", "off"); err != nil {
		t.Fatal(err)
	}
	if err := r.Revoke(t.Context(), ch.ID, at); err != nil {
		t.Fatal(err)
	}
	if path, _ := r.Undecided(ch, core.Run{}); path != "" {
		t.Errorf("on this computer itself %s waits", path)
	}
	// An agent's run has a container there, too.
	for _, run := range []core.Run{{Trigger: "agent"}, {AuthorID: core.AuthorAgent + "r"}} {
		if path, _ := r.Undecided(ch, run); path != at {
			t.Errorf("a run of an agent waits for %q", path)
		}
	}
}
