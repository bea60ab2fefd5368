package cli

import (
	"fmt"
	"strings"
	"testing"

	"loop/backend/core"
)

func TestExplain(t *testing.T) {
	r := newRig(t)
	r.fake.channels = []map[string]any{{"channel_id": "ch1", "name": "one", "dir": r.dir, "kind": "project"}}
	r.fake.answers["System.Explain"] = core.Explanation{
		Origins: []core.FieldOrigin{{Field: "network", Value: "none\x1b[2J", Layer: "project", Path: "/p/.loop/config.json", Line: 3,
			Overrode: &core.OverriddenSetting{Setting: "container_network", Value: "bridge\x1b[2J", Layer: "global", Path: "/g", Line: 2}}},
		Skipped: []core.SkippedMount{{Text: "/nowhere:/x", Reason: "it does not exist"}}, Notices: []string{"Something waits."},
	}
	if code := r.run("explain", "--channel", "one"); code != exitOK {
		t.Fatal(code)
	}
	for _, want := range []string{"FIELD", "network", "project /p/.loop/config.json:3", "container_network: bridge␛[2J (global /g:2)", "Left out: /nowhere:/x: it does not exist", "Something waits."} {
		if !strings.Contains(r.out.String(), want) {
			t.Errorf("no %q in %s", want, r.out.String())
		}
	}
	if strings.Contains(r.out.String(), "\x1b[2J") {
		t.Error("a value moved the cursor")
	}
	r.out.Reset()
	if code := r.run("explain", "--channel", "one", "--json"); code != exitOK || !strings.Contains(r.out.String(), `"origins"`) {
		t.Errorf("%d %s", code, r.out.String())
	}
	for _, plan := range []bool{false, true} {
		args := []string{"explain", "--channel", "one"}
		if plan {
			args = append(args, "--plan")
		}
		if code := r.run(args...); code != exitOK || fmt.Sprintf("%s", r.fake.last["System.Explain"]) != fmt.Sprintf(`["ch1" %v]`, plan) {
			t.Errorf("%d, asked with %s", code, r.fake.last["System.Explain"])
		}
	}
	if code := r.run("explain", "--channel", "nobody"); code == exitOK {
		t.Error("a channel that is not there was explained")
	}
}
