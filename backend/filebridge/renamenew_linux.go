package filebridge

import "golang.org/x/sys/unix"

// renameNew renames where nothing is by then, either. Some file systems cannot promise that,
// which they say with EINVAL.
func renameNew(from int, name string, to int, newName string) error {
	return unix.Renameat2(from, name, to, newName, unix.RENAME_NOREPLACE)
}
