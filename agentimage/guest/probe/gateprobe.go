//go:build linux

package probe

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"loop/backend/wire"
)

// Main is “loop gate-probe MODE DIR”: it tries everything in a new folder at DIR, removes
// that again, and prints a wire.GateTrial. It returns the exit code.
func Main(args []string) int {
	if len(args) != 2 || args[0] != wire.TrialFree && args[0] != wire.TrialHeld {
		_, _ = fmt.Fprintln(os.Stderr, "usage: loop gate-probe free|held DIR")
		return 2
	}
	self, err := os.Executable()
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "loop gate-probe: find own program:", err)
		return 1
	}
	t, err := perform(args[0], args[1], self, "version")
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(t)
	}
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "loop gate-probe:", err)
		return 1
	}
	return 0
}

// perform tries everything. program is one that ends well at once.
func perform(mode, dir string, program ...string) (t wire.GateTrial, err error) {
	if err := facts(&t); err != nil {
		return t, err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return t, fmt.Errorf("make the trial's folder: %w", err)
	}
	defer func() {
		if rerr := os.RemoveAll(dir); err == nil && rerr != nil {
			err = fmt.Errorf("remove the trial's folder: %w", rerr)
		}
	}()
	t.Refused = write(filepath.Join(dir, wire.TrialRefused))
	t.Asked = write(filepath.Join(dir, wire.TrialAsked))
	t.Allowed = write(filepath.Join(dir, wire.TrialAllowed))
	t.IoUring, t.Ptrace = ioUring(), ptrace()
	if mode == wire.TrialHeld {
		t.Outside = outside()
	}
	t.Signals = interrupted(filepath.Join(dir, "signals"))
	t.Programs = start(program, patience)
	if mode == wire.TrialFree { // last: the thread that tries it is of no use afterwards
		t.Install = install()
	}
	return t, nil
}

// name is the kernel's name of an error, empty for none.
func name(err error) string {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[unix.Errno](err); ok {
		if n := unix.ErrnoName(e); n != "" {
			return n
		}
	}
	return err.Error()
}
