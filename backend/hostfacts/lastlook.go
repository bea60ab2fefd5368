package hostfacts

import (
	"path/filepath"
	"runtime"

	"loop/backend/core"
	"loop/backend/sandbox"
)

// LastLook validates a spec and looks whether anything its mounts lean on was moved
// since it was resolved (Unmoved). Nothing stands between it and the making of the
// container. loopHome is an absolute path. Errors are *core.Failure.
func LastLook(spec core.Spec, loopHome string) error {
	home, err := homeDir()
	if err != nil {
		return err
	}
	host := sandbox.Host{OS: runtime.GOOS, Home: home, LoopHome: filepath.Clean(loopHome), Look: looker()}
	if err := sandbox.Validate(spec, host); err != nil {
		return err
	}
	return Unmoved(spec)
}
