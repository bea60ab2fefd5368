package openeditor

import (
	"os"
	"syscall"

	"golang.org/x/sys/windows"
)

// apart has a program go on without Loop, and without a window of a console.
func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP, HideWindow: true}
}

// exited says without waiting how a program ended.
func exited(p *os.Process) (code int, ended bool) {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(p.Pid)) //nolint:gosec // a process id
	if err != nil {
		return 0, true
	}
	defer func() { _ = windows.CloseHandle(h) }()
	var status uint32
	if err := windows.GetExitCodeProcess(h, &status); err != nil || status == 259 { // STILL_ACTIVE
		return 0, false
	}
	return int(status), true
}
