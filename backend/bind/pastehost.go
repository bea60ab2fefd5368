package bind

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"syscall"

	"loop/backend/core"
)

// PasteHostFile keeps a copy of a file of this computer that the channel's
// container does not see, and returns its path there as PasteFile does. No link
// is followed: another channel's agent may have made it in a folder of its own.
func (t *Terminals) PasteHostFile(channelID, hostPath string) (string, error) {
	if _, ok := hostName(hostPath, t.OS == "windows"); !ok {
		return "", errNoFullPath
	}
	data, err := readToPaste(hostPath)
	if err != nil {
		return "", err
	}
	return t.paste(channelID, path.Base(hostPath), data)
}

func readToPaste(at string) ([]byte, error) {
	shown := core.CleanTitle(at)
	named, err := os.Lstat(at)
	if err != nil {
		return nil, unreadable(at, err)
	}
	switch {
	case named.IsDir():
		return nil, core.Fail(core.CodeMount, nil, fmt.Sprintf("The container does not see the folder %s.", shown),
			"Add it to “mounts” in the settings, or drop the files in it.")
	case !named.Mode().IsRegular():
		return nil, core.Fail(core.CodeInvalid, nil, fmt.Sprintf("%s is a link, or no ordinary file.", shown),
			"Drop the file that it leads to, or copy its content into one.")
	}
	f, err := os.OpenFile(at, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe would be waited for
	if err != nil {
		return nil, unreadable(at, err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !os.SameFile(named, info) {
		return nil, unreadable(at, errors.Join(err, errors.New("another file has taken its place")))
	}
	data, err := io.ReadAll(io.LimitReader(f, maxPaste+1)) // one more shows that it is too large
	if err != nil {
		return nil, unreadable(at, err)
	}
	return data, nil
}
