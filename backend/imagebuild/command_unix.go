//go:build unix

package imagebuild

import (
	"os/exec"
	"syscall"
)

// ownGroup gives the command a process group, so that what it started ends with it.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func interrupt(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }

// killGroup ends what is left of the command's group. The group's number cannot
// have been taken by another while a member lives, and with none left the signal
// goes nowhere.
func killGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
}
