//go:build !windows

package hostfacts

import (
	"errors"
	"syscall"
)

// noWait keeps an open from waiting for the other end of a named pipe that was
// put where an ordinary file had just been.
const noWait = syscall.O_NONBLOCK

// noFollow makes an open fail when the last part of the path is a link.
const noFollow = syscall.O_NOFOLLOW

// isNotDir reports whether a file stands where a folder of the path should be.
func isNotDir(err error) bool { return errors.Is(err, syscall.ENOTDIR) }
