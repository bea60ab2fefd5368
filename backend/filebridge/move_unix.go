//go:build unix

package filebridge

import (
	"errors"

	"golang.org/x/sys/unix"
)

// move renames between the two folders that were opened, wherever they are by now. What an
// agent has put at the new name since is not replaced, where the file system can promise that.
func (p *place) move(to *place, _ bool) error {
	from, err := p.root.Open(".")
	if err != nil {
		return err
	}
	defer from.Close()
	dest, err := to.root.Open(".")
	if err != nil {
		return err
	}
	defer dest.Close()
	err = renameNew(int(from.Fd()), p.name, int(dest.Fd()), to.name)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		err = unix.Renameat(int(from.Fd()), p.name, int(dest.Fd()), to.name)
	}
	if errors.Is(err, unix.EINVAL) {
		return errInItself
	}
	return err
}
