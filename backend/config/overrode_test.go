package config

import (
	"fmt"
	"testing"
)

// TestOverridden: each setting, each entry of what is merged by key or place, and each field
// that only agents have says what it took the place of. A credential never does.
func TestOverridden(t *testing.T) {
	g := global(t, `{
		"container_pids": 100, "mounts": ["a:/a", "b:/b"], "envs": {"A": "flat", "B": "flat", "MY_TOKEN": "x", "AT": "http://u:p@h", "OFF": null},
		"agents": {
			"defaults": {"sandbox": {"docker": {
				"pidsLimit": 200, "binds": ["d:/b", "d:/d"], "env": {"B": "all", "C": 1, "MY_TOKEN": "y", "AT": "", "OFF": 1}, "dns": ["9.9.9.9", "1.1.1.1"],
				"user": "1000"
			}}},
			"list": [{"id": "dev", "sandbox": {"docker": {"binds": ["e:/d:ro"], "env": {"C": "own"}, "dns": ["8.8.8.8"], "user": "1001"}}}]
		}}`)
	if len(g.Problems) > 0 {
		t.Fatalf("%+v", g.Problems)
	}
	e := ofAgentID(t, g, "dev", "")
	for name, want := range map[string]string{
		"container_pids": "100, global, 2", "mounts[/a]": "", "mounts[/b]": "b:/b, global, 2", "mounts[/d]": "d:/d, agents.defaults, 5",
		"envs.A": "", "envs.B": "flat, global, 2", "envs.C": "1, agents.defaults, 5", "envs.MY_TOKEN": "", "envs.AT": "", "envs.OFF": "",
		"sandbox.docker.dns": "9.9.9.9, 1.1.1.1, agents.defaults, 5", "sandbox.docker.user": "1000, agents.defaults, 6",
	} {
		got := ""
		if o := e.origin(name).Overrode; o != nil {
			got = fmt.Sprintf("%s, %s, %d", o.Value, o.Layer, o.Line)
		}
		if got != want {
			t.Errorf("%s took the place of %q, want %q", name, got, want)
		}
	}
	if o := e.Container().User.From.Overrode; o == nil || o.Value != "1000" {
		t.Errorf("the user's origin has %+v", o)
	}
}
