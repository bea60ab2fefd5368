package imagebuild

import "os/exec"

func ownGroup(*exec.Cmd) {}

// interrupt kills: Windows has no interrupt for a process without a console.
func interrupt(cmd *exec.Cmd) error { return cmd.Process.Kill() }

func killGroup(*exec.Cmd) {}
