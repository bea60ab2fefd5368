package core_test

import (
	"slices"
	"testing"

	"loop/backend/core"
)

func TestMountTable(t *testing.T) {
	table := core.NewMountTable([]core.Mount{
		{Source: "/p", Target: "/p"},
		{Source: "/p/.loop", Target: "/p/.loop", ReadOnly: true},
		{Source: "/empty", Target: "/p/.git/hooks", ReadOnly: true},
		{Source: "vol", Target: "/p/node_modules", Volume: true},
	}, "linux")
	for _, tc := range []struct {
		inside, source, rest string
		ok, twin             bool
	}{
		{"/p", "/p", "", true, false},
		{"/p/", "/p", "", true, false},
		{"/p/a/b", "/p", "a/b", true, false},
		{"/p2", "", "", false, false},
		{"/", "", "", false, false},
		{"/p/.loop", "/p/.loop", "", true, false},
		{"/p/.loop/x", "/p/.loop", "x", true, false},
		{"/p/.loop2/x", "/p", ".loop2/x", true, false},
		{"/p/.LOOP/x", "/p", ".LOOP/x", true, true},
		{"/p/.git/hoo\u212as/x", "/p", ".git/hoo\u212as/x", true, true},
		{"/P/x", "", "", false, true},
		{"/p/a/../.loop/x", "/p/.loop", "x", true, false},
		{"/p/node_modules/x", "vol", "x", true, false},
	} {
		m, rest, ok := table.At(tc.inside)
		if m.Source != tc.source || rest != tc.rest || ok != tc.ok || table.Twin(tc.inside) != tc.twin {
			t.Errorf("%s: %q %q %v %v", tc.inside, m.Source, rest, ok, table.Twin(tc.inside))
		}
	}
	if got := table.Below("/p"); !slices.Equal(got, []string{"/p/.loop", "/p/.git/hooks", "/p/node_modules"}) {
		t.Errorf("below: %q", got)
	}
	if got := table.Below("/"); len(got) != 4 {
		t.Errorf("below the root: %q", got)
	}
	if got, err := core.NewMountTable([]core.Mount{{Source: "/data", Target: "/"}}, "linux").Inside("/data/x"); got != "/x" || err != nil {
		t.Errorf("over the root: %q %v", got, err)
	}
}

// TestTwinsOfMounts: what some file system takes for a mount's name leads into the mount there.
func TestTwinsOfMounts(t *testing.T) {
	mounts := []core.Mount{{Source: "/p", Target: "/p"}, {Source: "/p/Caf\u00e9 Secrets", Target: "/p/Caf\u00e9 Secrets", ReadOnly: true}}
	unix, windows := core.NewMountTable(mounts, "darwin"), core.NewMountTable(mounts, "windows")
	for _, tc := range []struct {
		name          string
		unix, onlyWin bool
	}{
		{"Caf\u00e9 Secrets", false, false},
		{"Cafe Secrets", false, false},
		{"Cafe\u0301 Secrets", true, false},
		{"CAFE\u0301 SECRETS", true, false},
		{"cafe\u0301 secrets", true, false},
		{"Caf\u00e9 \uff33ecrets", true, false}, // wide for some only, refused for all
		{"CAF\u00c9SE~1", false, true},
		{"AB12C~1.TXT", false, true},
		{"notes~1 and more", false, false},
		{"notes~", false, false},
		{"Caf\u00e9 Secrets. .", false, true},
		{"Caf\u00e9 Secrets:$I30:$INDEX_ALLOCATION", false, true},
	} {
		at := "/p/" + tc.name + "/x"
		if unix.Twin(at) != tc.unix || windows.Twin(at) != (tc.unix || tc.onlyWin) {
			t.Errorf("%q: %v, on Windows %v", tc.name, unix.Twin(at), windows.Twin(at))
		}
	}
	if windows.Twin("/q/A~1/x") || !windows.Twin("/P~1/x") {
		t.Error("a short name is taken for a mount's only where one is")
	}
	if got := windows.Below("/P~1"); len(got) != 1 {
		t.Errorf("below a short name: %q", got)
	}
}
