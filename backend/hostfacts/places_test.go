package hostfacts

import (
	"os"
	"path/filepath"
	"testing"

	"loop/backend/core"
)

// TestPlaces: a replaced folder or file is another place, and one that was only changed is
// the same.
func TestPlaces(t *testing.T) {
	top := t.TempDir()
	dir, file := filepath.Join(top, "dir"), filepath.Join(top, "file")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.Mkdir(dir, 0o700))
	must(os.WriteFile(file, []byte("a"), 0o600))
	spec := core.Spec{Mounts: []core.Mount{
		{Kind: core.MountWorkspace, Source: dir, Target: "/dir"}, {Kind: core.MountExtra, Source: file, Target: "/file"},
		{Kind: core.MountState, Source: filepath.Join(top, "state"), Target: "/state"}, {Kind: core.MountVolume, Source: "v", Target: "/v", Volume: true},
	}}
	places := Computer{}.Places
	was := places(spec)
	for _, c := range []struct {
		name string
		do   func() error
		same bool
	}{
		{"a file in the folder", func() error { return os.WriteFile(filepath.Join(dir, "x"), nil, 0o600) }, true},
		{"other bytes in the file", func() error { return os.WriteFile(file, []byte("b"), 0o600) }, true},
		{"a state folder that was made", func() error { return os.Mkdir(filepath.Join(top, "state"), 0o700) }, true},
		{"an atomic save", func() error {
			if err := os.WriteFile(file+".new", nil, 0o600); err != nil {
				return err
			}
			return os.Rename(file+".new", file)
		}, false},
		{"another folder of that name", func() error {
			if err := os.Rename(dir, dir+".old"); err != nil {
				return err
			}
			return os.Mkdir(dir, 0o700)
		}, false},
		{"no folder any more", func() error { return os.Remove(dir) }, false},
	} {
		must(c.do())
		now := places(spec)
		if (now == was) != c.same {
			t.Errorf("%s: %q, and before %q", c.name, now, was)
		}
		was = now
	}
}
