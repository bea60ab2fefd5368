// Package atomicfile replaces a file of Loop's own in one step, reads one of a bounded
// size, and removes folders. Everything that keeps a file in Loop's folder may import it.
package atomicfile

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Writer replaces files. A reader finds the old content or the new, after a crash too.
type Writer struct {
	// Root confines names, whatever links are made meanwhile; nil is the whole file
	// system.
	Root *os.Root
	// Mode is that of a new file, less the umask; 0 is 0600.
	Mode fs.FileMode
	// Like has a new file get mode and owner of this one, which it takes the place of.
	Like fs.FileInfo
	// Durable makes the new content survive a power cut, which takes some
	// milliseconds. Without it the old content may come back.
	Durable bool
}

// Replace makes parts the content of a file that only the person may read.
func Replace(name string, parts ...[]byte) error { return Writer{}.Replace(name, parts...) }

// Keep durably makes data the content of a file that only the person may read, and
// makes its folder where that is missing.
func Keep(name string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	return Writer{Durable: true}.Replace(name, data)
}

// Replace makes parts the content of a file. Its folder must be there. A failed
// replacement leaves nothing behind.
func (w Writer) Replace(name string, parts ...[]byte) error {
	if w.Root == nil {
		root, err := os.OpenRoot(filepath.Dir(name))
		if err != nil {
			return err
		}
		defer root.Close()
		w.Root, name = root, filepath.Base(name)
	}
	fresh := name + "." + rand.Text() + ".tmp"
	tmp, err := w.Root.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_EXCL, cmp.Or(w.Mode, 0o600))
	if err != nil {
		return fmt.Errorf("make temporary file: %w", err)
	}
	for _, p := range parts {
		if err == nil {
			_, err = tmp.Write(p)
		}
	}
	if err == nil && w.Like != nil {
		err = errors.Join(tmp.Chmod(w.Like.Mode().Perm()), giveTo(tmp, w.Like))
	}
	if err == nil && w.Durable {
		err = tmp.Sync()
	}
	if err = errors.Join(err, tmp.Close()); err == nil {
		err = w.Root.Rename(fresh, name)
	}
	if err != nil {
		_ = w.Root.Remove(fresh)
		return err
	}
	if w.Durable {
		w.syncFolder(filepath.Dir(name))
	}
	return nil
}

// syncFolder makes the rename itself last, on systems that can. Without it the old
// content would come back, which is still a whole file.
func (w Writer) syncFolder(dir string) {
	if d, err := w.Root.Open(dir); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}

// RemoveIn removes a file or an empty folder below root. One that is not there is no error.
func RemoveIn(root *os.Root, name string) error {
	if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// RemoveTree removes a folder with all that is in it, also in folders without write
// permission, as Go's module cache has them. No link is followed out of it.
func RemoveTree(dir string) error {
	if err := os.RemoveAll(dir); !errors.Is(err, fs.ErrPermission) {
		return err
	}
	_ = os.Chmod(dir, 0o700) // what does not help, the end says
	if root, err := os.OpenRoot(dir); err == nil {
		defer root.Close()
		_ = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				_ = root.Chmod(name, 0o700)
			}
			return nil
		})
	}
	return os.RemoveAll(dir)
}
