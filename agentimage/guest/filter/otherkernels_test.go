//go:build linux

package filter

import (
	"errors"
	"maps"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"loop/agentimage/guest/kernel"
)

// TestInstallOnOtherKernels is what becomes of a start on kernels that this computer is
// not: each answer to the question for the flags, and to the filter, is a refused start
// with its reason. WAIT_KILLABLE_RECV came last, with Linux 5.19; a kernel that knows it
// can also give a descriptor and answer in one step (5.14).
func TestInstallOnOtherKernels(t *testing.T) {
	const known = unix.EFAULT // no program is the only fault
	for name, c := range map[string]struct {
		asked, put unix.Errno
		want       error
	}{
		"Linux 5.19 or newer":               {known, 0, nil},
		"without WAIT_KILLABLE_RECV (5.18)": {unix.EINVAL, 0, ErrKernel},
		"without ADDFD_SEND (5.13)":         {unix.EINVAL, 0, ErrKernel},
		"without a listener (4.19)":         {unix.EINVAL, 0, ErrKernel},
		"without CONFIG_SECCOMP_FILTER":     {unix.EINVAL, 0, ErrKernel},
		"without the call":                  {unix.ENOSYS, 0, ErrKernel},
		"an engine's profile refuses it":    {unix.EPERM, 0, unix.EPERM},
		"another listener":                  {known, unix.EBUSY, ErrListener},
		"no memory":                         {known, unix.ENOMEM, unix.ENOMEM},
		"a profile that takes no filter":    {known, unix.EACCES, unix.EACCES},
	} {
		t.Run(name, func(t *testing.T) {
			got := make(chan error)
			go func() {
				runtime.LockOSThread() // for good: no_new_privs ends with the thread
				if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
					got <- err
					return
				}
				listener, err := install(Agent, func(_ uintptr, prog *unix.SockFprog) (uintptr, unix.Errno) {
					if prog == nil {
						return 0, c.asked
					}
					return 77, c.put
				})
				if want := map[bool]int{true: 77, false: -1}[err == nil]; listener != want {
					t.Errorf("listener %d, %v", listener, err)
				}
				got <- err
			}()
			if err := <-got; !errors.Is(err, c.want) || c.want == nil && err != nil {
				t.Errorf("%v, want %v", err, c.want)
			}
		})
	}
}

// TestCountOnOtherKernels: where the kernel does not count filters (before Linux 5.9),
// nobody can attest that one is there.
func TestCountOnOtherKernels(t *testing.T) {
	for said, want := range map[string]error{"": ErrKernel, "many": ErrKernel, "2": nil} {
		if n, err := count(kernel.Status{"Seccomp_filters": said}); !errors.Is(err, want) || err == nil && n != 2 {
			t.Errorf("%q: %d, %v", said, n, err)
		}
	}
}

// TestAttestWantsAll: each of what a confined thread has is wanted by itself.
func TestAttestWantsAll(t *testing.T) {
	const none = "0000000000000000"
	good := kernel.Status{"Seccomp": "2", "NoNewPrivs": "1", "Seccomp_filters": "3", "CapInh": none, "CapPrm": none, "CapEff": none, "CapAmb": none}
	if err := confinedBy(good, 3); err != nil {
		t.Error(err)
	}
	for name, bad := range map[string][]string{"Seccomp": {"0", "1", ""}, "NoNewPrivs": {"0", ""}, "Seccomp_filters": {"2", "4", ""},
		"CapInh": {"0000000000000001", ""}, "CapPrm": {"0000000000080000"}, "CapEff": {"0000000000080000"}, "CapAmb": {"0000000000000001"}} {
		for _, value := range bad {
			st := maps.Clone(good)
			st[name] = value
			if confinedBy(st, 3) == nil {
				t.Errorf("%s of %q is taken for confined", name, value)
			}
		}
	}
}

// TestStaticLayer: the program for containers that have no supervisor holds no call, on
// either architecture, and refuses whatever an agent's refuses by number alone.
func TestStaticLayer(t *testing.T) {
	calls := readCalls(t)
	for _, a := range architectures {
		refused := 0
		for _, c := range calls {
			n := c.node(t, Static, a)
			if notifies(n) {
				t.Errorf("%s on %s would wait for a supervisor that is not there", c.name, a.name)
			}
			if c.what == "EPERM" || c.what == "ENOSYS" || c.what == "debug" {
				refused++
				if n != c.node(t, Agent, a) {
					t.Errorf("%s on %s is refused for an agent only", c.name, a.name)
				}
			}
		}
		if refused < 50 {
			t.Errorf("only %d calls are refused on %s", refused, a.name)
		}
	}
}
