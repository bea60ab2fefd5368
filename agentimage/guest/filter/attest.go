//go:build linux

package filter

import (
	"errors"
	"fmt"
	"strconv"

	"loop/agentimage/guest/kernel"
)

// ErrAttest says that a thread is not confined as it should be.
var ErrAttest = errors.New("the program is not confined")

// Filters is how many filters are on a thread: in a container those of its engine are
// there before any of Install's. The supervisor counts its own, which it shares with
// every stage before Install. The error says when the kernel does not tell (older than
// Linux 5.9).
func Filters(tid int) (int, error) {
	st, err := readStatus(tid)
	if err != nil {
		return 0, err
	}
	return count(st)
}

// Attest checks from outside that a thread has exactly as many filters as it should,
// which is one more than Filters said of the caller, that it cannot gain privileges and
// that it has none. It is for a thread between Install and its first foreign code, with
// the listener in hand: the thread must not run on until it is said to be good, and since
// it has not been waited for, its id cannot be another's. What the filter says is not
// asked; Probe and the supervisor's own trap tell whether it works.
func Attest(tid, filters int) error {
	st, err := readStatus(tid)
	if err != nil {
		return err
	}
	return confinedBy(st, filters)
}

func confinedBy(st kernel.Status, filters int) error {
	for _, want := range []struct{ name, value string }{{"Seccomp", "2"}, {"NoNewPrivs", "1"}} {
		if have := st[want.name]; have != want.value {
			return fmt.Errorf("%w: %s is %q, not %s", ErrAttest, want.name, have, want.value)
		}
	}
	n, err := count(st)
	if err != nil {
		return err
	}
	if n != filters {
		return fmt.Errorf("%w: it has %d filters, not %d", ErrAttest, n, filters)
	}
	for _, set := range []string{"CapInh", "CapPrm", "CapEff", "CapAmb"} {
		if v, err := strconv.ParseUint(st[set], 16, 64); err != nil || v != 0 {
			return fmt.Errorf("%w: %s is %q, not empty", ErrAttest, set, st[set])
		}
	}
	return nil
}

// readStatus knows any thread by its id, not only a process.
func readStatus(tid int) (kernel.Status, error) {
	return kernel.ReadStatus("/proc/" + strconv.Itoa(tid) + "/status")
}

func count(st kernel.Status) (int, error) {
	n, err := strconv.Atoi(st["Seccomp_filters"])
	if err != nil {
		return 0, fmt.Errorf("count filters: %w: the kernel says %q", ErrKernel, st["Seccomp_filters"])
	}
	return n, nil
}
