package channels

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"loop/backend/core"
)

// CheckDir resolves what a person chose to an absolute, existing directory, or
// says what is wrong with it. Links are resolved, so that two names of one
// directory are one channel.
func CheckDir(dir, home string) (string, error) {
	fail := func(err error, cause, remedy string) (string, error) {
		return "", core.Fail(core.CodeDir, err, cause, remedy)
	}
	if strings.TrimSpace(dir) == "" {
		return fail(nil, "No directory was given.", "Choose the folder of your project.")
	}
	if strings.ContainsRune(dir, 0) {
		return fail(nil, "The path holds a NUL character.", "Choose the folder in the dialog instead of pasting it.")
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return fail(err, fmt.Sprintf("Loop could not work out the full path of %q.", dir), "Give the full path.")
	}
	real, err := filepath.EvalSymlinks(abs)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fail(err, fmt.Sprintf("%q does not exist.", abs), "Check the spelling, or create the folder first.")
	case errors.Is(err, fs.ErrPermission):
		return fail(err, fmt.Sprintf("You may not open %q.", abs), "Choose a folder that belongs to you.")
	case err != nil:
		return fail(err, fmt.Sprintf("Loop could not open %q.", abs), "Choose another folder.")
	}
	info, err := os.Stat(real)
	if err != nil {
		return fail(err, fmt.Sprintf("Loop could not open %q.", abs), "Choose another folder.")
	}
	if !info.IsDir() {
		return fail(nil, fmt.Sprintf("%q is a file.", abs), "Choose the folder it is in.")
	}
	// Seeing that it is there takes no right on the folder itself; working in it does.
	d, err := os.Open(real)
	if err != nil {
		return fail(err, fmt.Sprintf("You may not open %q.", abs), "Choose a folder that belongs to you.")
	}
	_ = d.Close()
	if filepath.Dir(real) == real {
		return fail(nil, "The whole file system cannot be a project.", "Choose the folder of one project.")
	}
	if user, err := os.UserHomeDir(); err == nil {
		if h, err := filepath.EvalSymlinks(user); err == nil && h == real {
			return fail(nil, "Your home folder cannot be a project: it holds your keys and Loop's own data.", "Choose a folder inside it.")
		}
	}
	if home != "" {
		if h, err := filepath.EvalSymlinks(home); err == nil && (real == h || inside(h, real)) {
			return fail(nil, fmt.Sprintf("%q holds Loop's own data, which no agent may write.", abs), "Choose the folder of one project.")
		}
	}
	return real, nil
}

// inside reports whether child lies under parent.
func inside(child, parent string) bool {
	rel, err := filepath.Rel(parent, child)
	return err == nil && rel != "." && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
