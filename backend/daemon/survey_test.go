package daemon

import (
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"testing/fstest"
	"time"

	"loop/backend/bind"
	"loop/backend/core"
)

// TestLeavingOfALoop reads from a Loop what is under way: names, order, times, and
// whether a demo's model takes part.
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
	if l, err := d.survey().Leaving(ctx); err != nil || !reflect.DeepEqual(l, bind.Leaving{}) {
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
	l, err := d.survey().Leaving(ctx)
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
	if l, err := d.survey().Leaving(ctx); err == nil || !l.Stays {
		t.Errorf("what cannot be read is as good as nothing: %+v, %v", l, err)
	}
}
