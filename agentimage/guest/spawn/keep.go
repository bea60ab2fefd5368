//go:build linux

package spawn

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Descriptors of the keeper. 0 and 1 are /dev/null, 2 is loop init's log.
const (
	keepEvents = 3 + iota // JSON lines to loop init
	keepIn
	keepOut
	keepErr
	keepConfig // handed to the stage unread
	keepStatus
)

// Keep is the keeper's whole life: start the stage, report its pid and its end,
// reap whatever is left below, and end when nothing is.
func Keep(terminal bool) int {
	for fd := keepEvents; fd <= keepStatus; fd++ {
		syscall.CloseOnExec(fd)
	}
	events := json.NewEncoder(os.NewFile(keepEvents, "events"))
	pid, err := keepStart(terminal)
	if err != nil {
		_ = events.Encode(keepEvent{Error: err.Error(), Limit: errors.Is(err, syscall.EAGAIN)})
		return 1
	}
	_ = events.Encode(keepEvent{Pid: pid})
	for {
		var ws syscall.WaitStatus
		got, err := syscall.Wait4(-1, &ws, 0, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil: // ECHILD: nothing is left
			return 0
		case got == pid:
			status := int(ws)
			_ = events.Encode(keepEvent{Status: &status})
		}
	}
}

func keepStart(terminal bool) (int, error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return 0, fmt.Errorf("become subreaper: %w", err)
	}
	attr := &syscall.ProcAttr{
		Env:   os.Environ(),
		Files: []uintptr{keepIn, keepOut, keepErr, keepConfig, keepStatus},
		Sys:   &syscall.SysProcAttr{Setsid: true, Setctty: terminal},
	}
	pid, err := syscall.ForkExec("/proc/self/exe", []string{"loop", "spawn"}, attr)
	if err != nil {
		return 0, fmt.Errorf("start stage: %w", err)
	}
	// The program's own ends must be the last ones, or its output would never end.
	for fd := keepIn; fd <= keepStatus; fd++ {
		_ = syscall.Close(fd)
	}
	return pid, nil
}
