//go:build !windows

package hostfacts

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loop/backend/core"
)

// TestUnmoved: the second look sees every change that an agent made to the paths since
// the first.
func TestUnmoved(t *testing.T) {
	for name, c := range map[string]struct {
		move func(project, state string) error
		says string
	}{
		"nothing":                 {func(string, string) error { return nil }, ""},
		"a mountpoint is missing": {func(_, state string) error { return os.Remove(filepath.Join(state, "home", "code", "proj")) }, ""},
		"the hooks are a link": {func(project, _ string) error {
			return errors.Join(os.Rename(project+"/.git/hooks", project+"/.git/h2"), os.Symlink("/etc", project+"/.git/hooks"))
		}, "became a link"},
		"the folder around the hooks is a link": {func(project, _ string) error {
			return errors.Join(os.Rename(project+"/.git", project+"/g2"), os.Symlink("g2", project+"/.git"))
		}, "became a link"},
		"the hooks are gone": {func(project, _ string) error { return os.Rename(project+"/.git/hooks", project+"/.git/h2") }, "went away"},
		"a link in the home": {func(_, state string) error {
			return errors.Join(os.Rename(state+"/home/code", state+"/home/w2"), os.Symlink("/opt", state+"/home/code"))
		}, "A link stands"},
		"a file in the home": {func(_, state string) error {
			return errors.Join(os.RemoveAll(state+"/home/code"), os.WriteFile(state+"/home/code", nil, 0o600))
		}, "in the way"},
	} {
		t.Run(name, func(t *testing.T) {
			spec, h, home := resolved(t, "~/.gitconfig:~/.gitconfig:ro")
			_, err := Computer{}.Prepare(spec, h)
			must(t, err)
			must(t, c.move(filepath.Join(home, "code", "proj"), filepath.Join(h.LoopHome, "channels", "chan1")))
			err = Unmoved(spec)
			if c.says == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if f, ok := errors.AsType[*core.Failure](err); !ok || f.Code != core.CodeMount || !strings.Contains(f.Cause, c.says) || f.Remedy == "" {
				t.Errorf("%v", err)
			}
		})
	}
}
