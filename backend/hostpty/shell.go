package hostpty

import (
	"os/exec"
	"path/filepath"
	"runtime"
)

// DefaultShell is the command of a host terminal that was asked for without one:
// the person's shell as a login shell, which on macOS is the only way to get the
// PATH that other terminals have. getenv is os.Getenv.
func DefaultShell(getenv func(string) string) []string {
	return defaultShell(runtime.GOOS, getenv, func(name string) bool {
		_, err := exec.LookPath(name)
		return err == nil
	})
}

func defaultShell(system string, getenv func(string) string, there func(string) bool) []string {
	if system == "windows" {
		for _, s := range []string{getenv("COMSPEC"), "powershell.exe"} {
			if s != "" && there(s) {
				return []string{s}
			}
		}
		return []string{"cmd.exe"}
	}
	if s := getenv("SHELL"); filepath.IsAbs(s) && there(s) {
		return []string{s, "-l"}
	}
	if there("/bin/zsh") {
		return []string{"/bin/zsh", "-l"}
	}
	return []string{"/bin/sh", "-l"}
}
