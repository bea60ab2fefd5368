//go:build linux

package probe

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"loop/agentimage/guest/filter"
	"loop/backend/wire"
)

// Files that tell about the kernel's security modules, and where control groups are.
const (
	yamaFile     = "/proc/sys/kernel/yama/ptrace_scope"
	profileFile  = "/proc/self/attr/current"
	cgroupFolder = "/sys/fs/cgroup"
)

// facts fills in what the kernel says of itself and of this process.
func facts(t *wire.GateTrial) error {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return fmt.Errorf("ask for the kernel: %w", err)
	}
	t.Kernel, t.Machine = unix.ByteSliceToString(u.Release[:]), unix.ByteSliceToString(u.Machine[:])
	t.Arch = runtime.GOARCH
	t.Filters = -1
	if n, err := filter.Filters(unix.Gettid()); err == nil {
		t.Filters = n
	}
	var err error
	if t.Landlock, err = filter.LandlockABI(); err != nil {
		return err
	}
	if t.Fences, err = room(); err != nil {
		return err
	}
	t.Cgroup = cgroup(cgroupFolder)
	t.Yama, t.Profile = yamaScope(yamaFile), profile(profileFile)
	return nil
}

// room counts fences on a thread that then ends.
func room() (n int, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never given back
		if err = unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err == nil {
			n, err = filter.RoomForFences()
		}
	}()
	<-done
	return n, err
}

// cgroup is the version of the control groups that are mounted at a folder.
func cgroup(folder string) int {
	var fs unix.Statfs_t
	switch err := unix.Statfs(folder, &fs); {
	case err != nil:
		return 0
	case fs.Type == unix.CGROUP2_SUPER_MAGIC:
		return 2
	case fs.Type == unix.TMPFS_MAGIC: // with a folder for each controller
		return 1
	}
	return 0
}

func yamaScope(file string) int {
	text, err := os.ReadFile(file)
	if err != nil {
		return -1
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return -1
	}
	return n
}

// profile is what AppArmor or SELinux confines this process by; without either the file
// cannot be read.
func profile(file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	return strings.TrimRight(string(text), "\x00\n")
}

// install puts the production filter on a thread that then ends, and says what kept it.
func install() string {
	why := make(chan error)
	go func() {
		runtime.LockOSThread() // and never given back: the thread ends with this goroutine
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			why <- fmt.Errorf("give up new privileges: %w", err)
			return
		}
		listener, err := filter.Install(filter.Agent)
		if err == nil {
			err = unix.Close(listener) // the thread's held calls are ENOSYS from here on; it makes none
		}
		why <- err
	}()
	switch err := <-why; {
	case err == nil:
		return ""
	case errors.Is(err, filter.ErrKernel):
		return wire.InstallKernel
	case errors.Is(err, filter.ErrListener):
		return wire.InstallListener
	default:
		return err.Error()
	}
}
