package hostfacts

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"loop/backend/atomicfile"
	"loop/backend/core"
)

// MaxCopySize bounds one file that is copied into containers. Copies are for
// settings of programs; what is larger is data, which can be mounted.
const MaxCopySize = 1 << 20

// copyInto puts a copy into the state folder that its target lies in, and says
// why it could not. The folder is written by agents: nothing in it is followed.
func copyInto(spec core.Spec, c core.FileCopy) (reason string) {
	var in core.Mount
	for _, m := range spec.Mounts {
		if m.Kind == core.MountState && strings.HasPrefix(c.Target, m.Target+"/") {
			in = m
		}
	}
	data, mode, err := readOrdinary(c.Source)
	if err != nil {
		return copyReason(err)
	}
	root, err := os.OpenRoot(in.Source)
	if err != nil {
		return copyReason(err)
	}
	defer root.Close()
	if err := putFile(root, strings.TrimPrefix(c.Target, in.Target+"/"), data, mode); err != nil {
		return copyReason(err)
	}
	return ""
}

var (
	errNotOrdinary = errors.New("it is not an ordinary file, or a link leads to it")
	errTooLarge    = fmt.Errorf("it is larger than %d MiB", MaxCopySize>>20)
	errInTheWay    = errors.New("a link or a folder that an agent may have made is in its place")
)

func copyReason(err error) string {
	if errors.Is(err, fs.ErrNotExist) {
		return "it does not exist any more"
	}
	if errors.Is(err, errNotOrdinary) {
		return errNotOrdinary.Error()
	}
	return reason(err)
}

// readOrdinary reads the file at a path whose links were resolved: there is none
// by now, on the way or at its end, and no pipe and no device. The owner's
// permissions go along; nobody else gets any.
func readOrdinary(name string) ([]byte, fs.FileMode, error) {
	seen, err := os.Lstat(name)
	if err != nil {
		return nil, 0, err
	}
	if !seen.Mode().IsRegular() {
		return nil, 0, errNotOrdinary
	}
	f, err := openUnlinked(name)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission):
		return nil, 0, err
	case err != nil: // it can be looked at, and yet not be opened without a link
		return nil, 0, errors.Join(errNotOrdinary, err)
	}
	data, info, err := atomicfile.ReadOpened(f, MaxCopySize)
	switch {
	case errors.Is(err, atomicfile.ErrTooLarge):
		return nil, 0, errTooLarge
	case err != nil:
		return nil, 0, err
	case !os.SameFile(seen, info):
		return nil, 0, errNotOrdinary
	}
	return data, info.Mode().Perm()&0o700 | 0o600, nil
}

// putFile writes rel below root, making its folders. A file that is right
// already keeps its inode, and one that is replaced is never seen half.
func putFile(root *os.Root, rel string, data []byte, mode fs.FileMode) error {
	at := ""
	for part := range strings.SplitSeq(path.Dir(rel), "/") {
		if at = path.Join(at, part); at == "." {
			continue // rel is a name alone
		}
		info, err := root.Lstat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			err = root.Mkdir(at, 0o700)
		case err == nil && !info.IsDir():
			err = errInTheWay
		}
		if err != nil {
			return err
		}
	}
	info, err := root.Lstat(rel)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case info.IsDir():
		return errInTheWay
	case info.Mode().Perm() == mode:
		if old, err := readPlain(root, rel, int64(len(data))); err == nil && bytes.Equal(old, data) {
			return nil
		}
	}
	return atomicfile.Writer{Root: root, Mode: mode}.Replace(rel, data) // takes the place of a link, and does not follow it
}
