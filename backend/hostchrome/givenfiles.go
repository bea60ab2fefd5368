package hostchrome

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"loop/backend/core"
)

const (
	givenPrefix = "loop-files-"
	maxGiven    = 1 << 30 // bytes of all files while Loop takes part in a Chrome
	// givenAge is when a folder counts as left behind by a Loop that was killed.
	givenAge = 24 * time.Hour
)

// givenFiles are the files that a person gives to pages of their Chrome. They lie in
// Chrome's own folder, because a Chrome in a package of its own sees little else.
type givenFiles struct {
	in string // Chrome's folder

	mu    sync.Mutex
	root  string // made with the first file
	size  int64
	paths map[string]bool
}

// newGivenFiles returns an empty one, and removes what a Loop that was killed has left in the folder.
func newGivenFiles(in string, now time.Time) *givenFiles {
	left, _ := filepath.Glob(filepath.Join(in, givenPrefix+"*")) // the pattern is valid
	for _, at := range left {
		if info, err := os.Lstat(at); err == nil && info.IsDir() && now.Sub(info.ModTime()) > givenAge {
			_ = os.RemoveAll(at) // it stays for the next time
		}
	}
	return &givenFiles{in: in, paths: map[string]bool{}}
}

// put keeps a file where Chrome reads it, and says where that is. Errors are *core.Failure.
func (h *givenFiles) put(_ context.Context, name string, r io.Reader) (string, error) {
	fail := func(err error) (string, error) {
		return "", core.Fail(core.CodeDir, err, "The file could not be put where your Chrome reads it.", "Check that the disk is not full.")
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.root == "" {
		root, err := os.MkdirTemp(h.in, givenPrefix)
		if err != nil {
			return fail(fmt.Errorf("make a folder: %w", err))
		}
		h.root = root
	}
	dir := filepath.Join(h.root, core.NewID())
	if err := os.Mkdir(dir, 0o700); err != nil {
		return fail(fmt.Errorf("make a folder: %w", err))
	}
	at := filepath.Join(dir, core.PlainFileName(name))
	n, err := write(at, io.LimitReader(r, maxGiven-h.size+1))
	if err == nil && h.size+n > maxGiven {
		err = core.Fail(core.CodeTooMany, nil, "More than 1 GiB of files were given to pages.", "“Restart the browser” begins anew.")
	}
	if err != nil {
		_ = os.RemoveAll(dir)
		if core.AsFailure(err).Code == core.CodeTooMany {
			return "", err
		}
		return fail(err)
	}
	h.size += n
	h.paths[at] = true
	return at, nil
}

func write(at string, r io.Reader) (int64, error) {
	f, err := os.OpenFile(at, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, fmt.Errorf("make the file: %w", err)
	}
	n, err := io.Copy(f, r)
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return n, fmt.Errorf("write the file: %w", err)
	}
	return n, nil
}

// given reports whether a file was put at a path.
func (h *givenFiles) given(at string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.paths[at]
}

// close removes them.
func (h *givenFiles) close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.root == "" {
		return nil
	}
	if err := os.RemoveAll(h.root); err != nil {
		return fmt.Errorf("remove the files for Chrome: %w", err)
	}
	h.root, h.paths = "", map[string]bool{}
	return nil
}
