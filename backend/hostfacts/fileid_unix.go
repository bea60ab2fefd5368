//go:build !windows

package hostfacts

import (
	"fmt"
	"os"
	"syscall"
)

// fileID names a file for as long as it exists.
func fileID(_ string, f os.FileInfo) string {
	if st, ok := f.Sys().(*syscall.Stat_t); ok {
		return fmt.Sprintf("%d:%d", st.Dev, st.Ino)
	}
	return ""
}
