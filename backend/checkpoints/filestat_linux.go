package checkpoints

import (
	"io/fs"
	"syscall"
)

// stat adds what only the system knows of a file.
func (e *Entry) stat(info fs.FileInfo) {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		e.Inode, e.CTime = s.Ino, s.Ctim.Nano()
	}
}
