//go:build linux

package spawn

import (
	"syscall"
	"testing"

	"loop/backend/wire"
)

// TestLostSupervisorEndsTheContainer: only a keeper that supervised, and that neither ran
// to its end nor said why nothing runs, takes the container with it.
func TestLostSupervisorEndsTheContainer(t *testing.T) {
	var ended []string
	m := newTable(t, func(c *Config) { c.Unsupervised = func(id string) { ended = append(ended, id) } })
	for _, c := range []struct {
		status   syscall.WaitStatus
		filtered bool
		ends     bool
	}{
		{0, true, false}, {notStarted << 8, true, false}, {0, false, false},
		{unable << 8, true, true}, {2 << 8, true, true}, {syscall.WaitStatus(syscall.SIGKILL), true, true},
		{syscall.WaitStatus(syscall.SIGKILL), false, false},
	} {
		ended = nil
		newProc(m, "a", [32]byte{}, wire.Spawn{}).lost(c.status, c.filtered)
		if (len(ended) == 1) != c.ends {
			t.Errorf("%+v: %v", c, ended)
		}
	}
}
