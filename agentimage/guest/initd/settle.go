//go:build linux

package initd

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"loop/backend/wire"
)

// settle puts the directories right while this process is still 0:0 with CHOWN.
//
// /run/loop itself goes to the supervisor too: on a root host the agent is uid 0,
// and whoever owns a directory may rename what is in it, private included.
func settle(who identity, chownPaths []string, log *slog.Logger) error {
	for _, d := range []struct {
		path     string
		uid, gid int
		mode     fs.FileMode
	}{
		{wire.RunDir, wire.SupervisorID, wire.SupervisorID, 0o755},
		{wire.PrivateDir, wire.SupervisorID, wire.SupervisorID, 0o700},
		{wire.RunsDir, who.uid, who.gid, 0o700},
		// What is made in it gets the agent's group, which may read what it knows the name
		// of, and sees nothing of other spawns.
		{wire.GateDir, wire.SupervisorID, who.gid, fs.ModeSetgid | 0o710},
	} {
		if err := ownDir(d.path, d.uid, d.gid, d.mode); err != nil {
			return err
		}
	}
	if err := sweep(wire.GateDir); err != nil {
		return err
	}
	// The spool is a bind mount of a directory of the person's; its owner stays.
	if err := os.Mkdir(wire.SpoolDir, 0o700); err == nil {
		if err := os.Lchown(wire.SpoolDir, wire.SupervisorID, wire.SupervisorID); err != nil {
			return fmt.Errorf("own %s: %w", wire.SpoolDir, err)
		}
	} else if !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("make %s: %w", wire.SpoolDir, err)
	}
	for _, p := range chownPaths {
		if err := chownTree(p, who.uid, who.gid); err != nil {
			// A volume that stays root's is the run's trouble, not the container's.
			log.Warn("CHOWN_PATHS", "path", p, "err", err)
		}
	}
	return nil
}

// sweep removes what is in a directory: policies of spawns that are gone.
func sweep(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("sweep: %w", err)
	}
	defer func() { _ = root.Close() }()
	left, err := fs.ReadDir(root.FS(), ".")
	for _, e := range left {
		err = errors.Join(err, root.RemoveAll(e.Name()))
	}
	if err != nil {
		return fmt.Errorf("sweep %s: %w", dir, err)
	}
	return nil
}

// ownDir makes path a directory with exactly this owner and mode. The mode is
// set before the owner changes, while this process still owns it.
func ownDir(path string, uid, gid int, mode fs.FileMode) error {
	if err := os.Mkdir(path, mode); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("make %s: %w", path, err)
	}
	info, err := os.Lstat(path)
	if err != nil {
		return fmt.Errorf("look at %s: %w", path, err)
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a directory", path)
	}
	if err = os.Lchown(path, 0, 0); err == nil { // a container started again has it as it shall be
		err = os.Chmod(path, mode)
	}
	if err == nil {
		err = os.Lchown(path, uid, gid)
	}
	if err != nil {
		return fmt.Errorf("own %s: %w", path, err)
	}
	return nil
}

// offLimits are places CHOWN_PATHS can never name, nor anything below them.
var offLimits = []string{"/proc", "/sys", "/dev", "/run/loop", "/opt/loop"}

// checkChownPath refuses what could only be a mistake or an attack.
func checkChownPath(path string) error {
	if !filepath.IsAbs(path) || path != filepath.Clean(path) || path == "/" {
		return fmt.Errorf("%q is not a clean absolute path below /", path)
	}
	for _, no := range offLimits {
		if path == no || strings.HasPrefix(path, no+"/") || strings.HasPrefix(no, path+"/") {
			return fmt.Errorf("%q belongs to the container", path)
		}
	}
	return nil
}

// chownTree gives path to the agent. A tree whose top is right already is left
// alone: walking a large volume at every start would cost seconds. Links are
// never followed, and nothing outside the tree can be reached by swapping one in.
func chownTree(path string, uid, gid int) error {
	if err := checkChownPath(path); err != nil {
		return err
	}
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) == uid && int(st.Gid) == gid {
		return nil
	}
	if !info.IsDir() {
		return os.Lchown(path, uid, gid)
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	err = fs.WalkDir(root.FS(), ".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name == "." {
			return nil // last, so that a walk that was cut short is done again
		}
		return root.Lchown(name, uid, gid)
	})
	if err != nil {
		return fmt.Errorf("walk: %w", err)
	}
	return root.Lchown(".", uid, gid)
}
