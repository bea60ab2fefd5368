package supervise

import (
	"maps"

	"golang.org/x/sys/unix"
)

// table adds the calls that only old architectures have.
var table = func() map[int]disposition {
	t := map[int]disposition{
		unix.SYS_OPEN:      {"open", shared, decodeOpen},
		unix.SYS_CREAT:     {"creat", shared, decodeCreat},
		unix.SYS_RENAME:    {"rename", alone, decodeRename(only(0), only(1), 0)},
		unix.SYS_UNLINK:    {"unlink", shared, decodeUnlink(only(0), 0)},
		unix.SYS_RMDIR:     {"rmdir", shared, decodeUnlink(only(0), unix.AT_REMOVEDIR)},
		unix.SYS_MKDIR:     {"mkdir", shared, decodeMkdir(only(0), 1)},
		unix.SYS_MKNOD:     {"mknod", shared, decodeMknod(only(0), 1)},
		unix.SYS_LINK:      {"link", shared, decodeLink},
		unix.SYS_SYMLINK:   {"symlink", shared, decodeSymlink(0, only(1))},
		unix.SYS_CHMOD:     {"chmod", free, decodeChmod(only(0), 1, 0)},
		unix.SYS_CHOWN:     {"chown", free, decodeChown(only(0), 1, 0, false)},
		unix.SYS_LCHOWN:    {"lchown", free, decodeChown(only(0), 1, 0, true)},
		unix.SYS_UTIME:     {"utime", free, decodeUtime},
		unix.SYS_UTIMES:    {"utimes", free, decodeUtimes(only(0), 1, 1000)},
		unix.SYS_FUTIMESAT: {"futimesat", free, decodeUtimes(0, 2, 1000)},
	}
	maps.Copy(t, common)
	return t
}()
