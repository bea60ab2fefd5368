//go:build unix

package vt

import (
	"syscall"
	"time"
)

// cpuTime is the processor time of this process. It is steadier than a clock while
// other programs run.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
