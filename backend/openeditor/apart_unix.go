//go:build unix

package openeditor

import (
	"os"
	"syscall"
)

// apart has a program go on when the terminal that Loop was started in is interrupted.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// exited says without waiting how a program ended.
func exited(p *os.Process) (code int, ended bool) {
	var status syscall.WaitStatus
	pid, err := syscall.Wait4(p.Pid, &status, syscall.WNOHANG, nil)
	switch {
	case err == nil && pid == 0, err == syscall.EINTR:
		return 0, false
	case err != nil:
		return 0, true // it is no child of this process any more
	case status.Signaled():
		return 128 + int(status.Signal()), true
	}
	return status.ExitStatus(), true
}
