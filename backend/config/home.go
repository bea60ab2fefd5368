package config

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"

	"loop/backend/core"
)

// FileName is the settings file in Loop's folder.
const FileName = "config.json"

// Home is Loop's folder: LOOP_HOME, else .loop in the home directory. A
// leading ~ is the home directory; a relative LOOP_HOME starts in the current
// one, so that it means the same for the whole life of the process.
func Home() (string, error) {
	home, err := os.UserHomeDir()
	return homeFrom(os.Getenv("LOOP_HOME"), home, err)
}

func homeFrom(value, home string, homeErr error) (string, error) {
	fail := func(err error, cause, remedy string) (string, error) {
		return "", core.Fail(core.CodeConfig, err, cause, remedy)
	}
	below, tilde := strings.CutPrefix(cmp.Or(value, filepath.Join("~", ".loop")), "~")
	if tilde {
		if below != "" && !os.IsPathSeparator(below[0]) {
			return fail(nil, "LOOP_HOME names another user's home directory.", "Set it to an absolute path.")
		}
		if homeErr != nil || !filepath.IsAbs(home) {
			return fail(homeErr, "Loop cannot tell where your home directory is.", "Set HOME, or set LOOP_HOME to an absolute path.")
		}
		value = filepath.Join(home, below)
	}
	dir, err := filepath.Abs(value)
	switch {
	case err != nil:
		return fail(err, "LOOP_HOME is relative and the current folder cannot be found.", "Set LOOP_HOME to an absolute path.")
	case filepath.Dir(dir) == dir:
		return fail(nil, "LOOP_HOME is the top of the file system.", "Set it to a folder of its own.")
	case homeErr == nil && dir == filepath.Clean(home):
		return fail(nil, "LOOP_HOME is your home directory itself.", "Set it to a folder of its own, such as ~/.loop.")
	}
	return dir, nil
}
