package settings

import (
	"testing"

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
