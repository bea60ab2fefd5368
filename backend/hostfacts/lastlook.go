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

// Unmoved looks once more at the places that the mounts of a spec lean on: each
// source is what it was resolved to, and no link stands where something is
// mounted over another mount; what is missing there is made. It is worth as much
// as the agents that can write those places are held still from before the call
// until the container runs (sandbox.Disturbs). Errors are *core.Failure.
func Unmoved(spec core.Spec) error {
	look := looker()
	for _, source := range sandbox.MountSources(spec) {
		switch f := look(source); {
		case f.Kind == sandbox.PathMissing || f.Kind == sandbox.PathDenied:
			return core.Fail(core.CodeMount, nil, "“"+source+"” went away while the container was made.",
				"Check that it is there and that you may open it, then try again.")
		case f.Target != source:
			return core.Fail(core.CodeMount, nil, "“"+source+"” became a link to “"+f.Target+"” while the container was made.",
				"Look at what stands there, an agent may have made it; then try again.")
		}
	}
	for _, p := range sandbox.Mountpoints(spec, sandbox.Host{OS: runtime.GOOS, Look: look}) {
		if err := MakeMountpoint(p); err != nil {
			if f := core.AsFailure(err); f.Code != core.CodeInternal {
				return f
			}
			return core.Fail(core.CodeMount, err, "“"+p.Rel+"” in “"+p.Root+"”, where something is to be mounted, cannot be used.",
				"Look at what stands there, then try again.")
		}
	}
	return nil
}
