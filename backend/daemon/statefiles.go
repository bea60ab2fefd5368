package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"loop/backend/core"
)

// channelDirs makes the folders of a channel that containers mount. They are
// 0700: what an agent keeps there is the person's alone.
func channelDirs(home string, id core.ChannelID) error {
	for _, name := range []string{"home", "claude", "spool"} {
		if err := os.MkdirAll(filepath.Join(home, "channels", string(id), name), 0o700); err != nil {
			return core.Fail(core.CodeDiskFull, err, "Loop could not make the channel's folders.", fmt.Sprintf("Check that you may write in %s and that the disk is not full.", home))
		}
	}
	return nil
}

// replaceFile writes a file in one step.
func replaceFile(path string, data []byte, mode fs.FileMode) error {
	if old, err := os.ReadFile(path); err == nil && string(old) == string(data) {
		return nil
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(data)
	err = errors.Join(err, tmp.Chmod(mode), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	return nil
}

// readBounded reads a file an agent may have written: a plain file, never
// through a link, never more than max bytes.
func readBounded(dir, name string, max int64) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	info, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > max {
		return nil, fmt.Errorf("%s is not a plain file of at most %d bytes", name, max)
	}
	return root.ReadFile(name)
}
