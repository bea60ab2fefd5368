package channels

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"loop/backend/core"
)

// CheckDir resolves what a person chose to an absolute, existing directory, or
// says what is wrong with it. Links are resolved, so that two names of one
// directory are one channel. Whether an agent may be given it is for Options.Fit
// to say.
func CheckDir(dir string) (string, error) {
	fail := func(err error, cause, remedy string) (string, error) {
		return "", core.Fail(core.CodeDir, err, cause, remedy)
	}
	if strings.TrimSpace(dir) == "" {
		return fail(nil, "No directory was given.", "Choose the folder of your project.")
	}
	if !utf8.ValidString(dir) || strings.ContainsRune(dir, utf8.RuneError) {
		// As what a page or a command sent, which cannot name other bytes.
		return fail(nil, fmt.Sprintf("The name of the folder %q is not UTF-8 text.", dir), "Rename the folder, then choose it again.")
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
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return fail(err, fmt.Sprintf("%q is a file.", abs), "Choose the folder it is in.")
	}
	// Seeing that it is there takes no right on the folder itself; working in it does.
	d, err := os.Open(real)
	if err != nil {
		return fail(err, fmt.Sprintf("You may not open %q.", abs), "Choose a folder that belongs to you.")
	}
	return real, d.Close()
}
