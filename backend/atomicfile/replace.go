// Package atomicfile replaces a file of Loop's own in one step. Everything that
// keeps a file in Loop's folder may import it.
package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
)

// Replace makes parts the content of a file that only the person may read: a
// reader, and whoever comes after a crash, finds the old content or the new. The
// folder must be there. A failed replacement leaves nothing behind.
func Replace(name string, parts ...[]byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*") // 0600 by CreateTemp
	if err != nil {
		return err
	}
	for _, p := range parts {
		if err == nil {
			_, err = tmp.Write(p)
		}
	}
	if err = errors.Join(err, tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), name)
	}
	if err != nil {
		_ = os.Remove(tmp.Name())
	}
	return err
}
