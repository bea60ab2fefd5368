package hostfacts

import (
	"os"
	"path/filepath"
	"runtime"

	"loop/backend/core"
	"loop/backend/sandbox"
)

// LastLook validates a spec and looks whether anything its mounts lean on was moved
// since it was resolved (Unmoved). Nothing stands between it and the making of the
// container. loopHome is an absolute path. Errors are *core.Failure.
func LastLook(spec core.Spec, loopHome string) error {
	home, err := os.UserHomeDir()
	if err != nil || !filepath.IsAbs(home) {
		return core.Fail(core.CodeInvalid, err, "Loop cannot tell where your home directory is.", "Set HOME to an absolute path.")
	}
	host := sandbox.Host{OS: runtime.GOOS, Home: filepath.Clean(home), LoopHome: filepath.Clean(loopHome), Look: looker()}
	if err := sandbox.Validate(spec, host); err != nil {
		return err
	}
	return Unmoved(spec)
}
