package hostfacts

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"loop/backend/atomicfile"
	"loop/backend/core"
	"loop/backend/wire"
)

// onceKept is how long the empty folder of a set-up stays whose container serves once.
const onceKept = time.Hour

// StageSetup has the folder of a container's set-up hold the command, or not any more. loop
// init runs what it finds there. Errors are *core.Failure.
func StageSetup(s core.ContainerSetup, due bool) error {
	err := stageSetup(s, due)
	if err != nil {
		return core.Fail(core.CodeDir, err, "The folder “"+s.Dir+"”, from which a container gets its set-up, cannot be used.",
			"Check that the disk is not full and that the folder belongs to you.")
	}
	return nil
}

func stageSetup(s core.ContainerSetup, due bool) error {
	if due {
		sweepOnce(filepath.Dir(s.Dir), time.Now().Add(-onceKept))
		if err := os.MkdirAll(s.Dir, 0o700); err != nil {
			return err
		}
	}
	root, err := os.OpenRoot(s.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if due {
		return atomicfile.Writer{Root: root}.Replace(wire.SetupFile, []byte(s.Command))
	}
	if err := root.Remove(wire.SetupFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// sweepOnce removes what is left of set-ups whose containers served once. What cannot be
// removed is a small folder, and is tried again.
func sweepOnce(dir string, before time.Time) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return
	}
	defer root.Close()
	entries, _ := fs.ReadDir(root.FS(), ".")
	for _, e := range entries {
		if info, err := e.Info(); err == nil && strings.HasPrefix(e.Name(), "once-") && info.ModTime().Before(before) {
			_ = root.RemoveAll(e.Name())
		}
	}
}
