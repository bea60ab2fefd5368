package daemon

import (
	"errors"
	"os"
	"path/filepath"
)

// replaceFile makes parts the content of a file that only the person may read, in
// one step: a reader, and whoever comes after a crash, finds the old one or the
// new one.
func replaceFile(name string, parts ...[]byte) error {
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
