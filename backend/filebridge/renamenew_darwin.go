package filebridge

import (
	"errors"

	"golang.org/x/sys/unix"
)

// renameNew renames where nothing is by then, either. Some file systems cannot promise that,
// which it says with EINVAL.
func renameNew(from int, name string, to int, newName string) error {
	err := unix.RenameatxNp(from, name, to, newName, unix.RENAME_EXCL)
	if errors.Is(err, unix.ENOTSUP) {
		return unix.EINVAL
	}
	return err
}
