package settings

import (
	"testing"

	"loop/backend/config"
	"loop/backend/core"
)

// TestATrustRequestForEachText: a waiting text makes one request, for however many runs
// and channels. When it waits again later, it makes another.
func TestATrustRequestForEachText(t *testing.T) {
	times := 0
	tr := &Service{asked: map[string]asked{}, o: Options{Publish: func(e ...core.Event) { times += len(e) }}}
	x := config.Pending{Path: "/p/.loop/config.json", SHA256: "x", Fields: []string{"mounts"}}
	y, other := x, x
	y.SHA256, other.Path = "y", "/q/.loop/config.json"
	for i, step := range []struct {
		pending []config.Pending
		want    int
	}{
		{[]config.Pending{x}, 1}, {[]config.Pending{x}, 1}, {[]config.Pending{y}, 2}, {[]config.Pending{y}, 2}, {[]config.Pending{x}, 3},
		{nil, 3},                 // approved, or corrected
		{[]config.Pending{x}, 4}, // revoked, or written again
		{[]config.Pending{other, x}, 5}, {nil, 5}, {[]config.Pending{other}, 6},
	} {
		if tr.Waits("c", step.pending); times != step.want {
			t.Errorf("step %d: asked %d times, want %d", i, times, step.want)
		}
	}
}
