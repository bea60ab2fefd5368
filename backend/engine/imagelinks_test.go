package engine

import (
	"testing"

	"loop/backend/core"
)

// TestFirstProgramThatIsMounted: a program of the image itself may lie behind a link, as
// /bin/sh does in most images; no mount leads astray there.
func TestFirstProgramThatIsMounted(t *testing.T) {
	at := func(targets ...string) core.Spec {
		s := core.Spec{Entrypoint: []string{"/opt/loop/bin/loop", "init"}}
		for _, target := range targets {
			s.Mounts = append(s.Mounts, core.Mount{Target: target})
		}
		return s
	}
	for name, c := range map[string]struct {
		spec core.Spec
		want bool
	}{
		"the folder":         {at("/work", "/opt/loop/bin"), true},
		"the file":           {at("/opt/loop/bin/loop"), true},
		"a folder above":     {at("/opt/"), true},
		"everything":         {at("/"), true},
		"a name that begins": {at("/opt/loop/b"), false},
		"elsewhere":          {at("/work"), false},
		"no mount":           {at(), false},
		"no program":         {core.Spec{Mounts: []core.Mount{{Target: "/"}}}, false},
	} {
		if got := firstIsMounted(c.spec); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
