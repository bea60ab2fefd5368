//go:build unix

package atomicfile

import (
	"io/fs"
	"os"
	"syscall"
)

// giveTo makes the owner of f that of another file.
func giveTo(f *os.File, like fs.FileInfo) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	now, ok1 := info.Sys().(*syscall.Stat_t)
	want, ok2 := like.Sys().(*syscall.Stat_t)
	if !ok1 || !ok2 || now.Uid == want.Uid && now.Gid == want.Gid {
		return nil
	}
	return f.Chown(int(want.Uid), int(want.Gid))
}
