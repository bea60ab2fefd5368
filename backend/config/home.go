package config

import (
	"errors"
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
	home, homeErr := os.UserHomeDir()
	cwd, cwdErr := os.Getwd()
	return homeFrom(os.Getenv("LOOP_HOME"), home, homeErr, cwd, cwdErr)
}

func homeFrom(value, home string, homeErr error, cwd string, cwdErr error) (string, error) {
	fail := func(err error, cause, remedy string) (string, error) {
		return "", core.Fail(core.CodeConfig, err, cause, remedy)
	}
	needHome := value == "" || value == "~" || strings.HasPrefix(value, "~/") || strings.HasPrefix(value, `~`+string(filepath.Separator))
	if needHome && (homeErr != nil || !filepath.IsAbs(home)) {
		return fail(homeErr, "Loop cannot tell where your home directory is.", "Set HOME, or set LOOP_HOME to an absolute path.")
	}
	dir := value
	switch {
	case value == "":
		dir = filepath.Join(home, ".loop")
	case needHome:
		dir = filepath.Join(home, value[1:])
	case value[0] == '~':
		return fail(errors.New("LOOP_HOME begins with ~ and a name"), "LOOP_HOME names another user's home directory.",
			"Set it to an absolute path.")
	case !filepath.IsAbs(value):
		if cwdErr != nil {
			return fail(cwdErr, "LOOP_HOME is relative and the current folder cannot be found.", "Set LOOP_HOME to an absolute path.")
		}
		dir = filepath.Join(cwd, value)
	}
	dir = filepath.Clean(dir)
	if filepath.Dir(dir) == dir {
		return fail(nil, "LOOP_HOME is the top of the file system.", "Set it to a folder of its own.")
	}
	if homeErr == nil && dir == filepath.Clean(home) {
		return fail(nil, "LOOP_HOME is your home directory itself.", "Set it to a folder of its own, such as ~/.loop.")
	}
	return dir, nil
}
