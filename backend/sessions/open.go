package sessions

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// An agent may put a pipe, a device or a link where a transcript is expected.
var (
	errNotRegular = errors.New("not a regular file")
	errNotFolder  = errors.New("not a folder")
)

// openFile opens a transcript for reading.
func openFile(root *os.Root, name string) (*os.File, fs.FileInfo, error) {
	return open(root, name, errNotRegular, fs.FileMode.IsRegular)
}

// open opens what is of a kind, and no link to it. The kind is looked at again on
// the open descriptor; opening a pipe does not wait for a writer.
func open(root *os.Root, name string, other error, is func(fs.FileMode) bool) (*os.File, fs.FileInfo, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return nil, nil, err
	}
	if !is(info.Mode()) {
		return nil, nil, fmt.Errorf("open %q: %w", name, other)
	}
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	if info, err = f.Stat(); err == nil && !is(info.Mode()) {
		err = fmt.Errorf("open %q: %w", name, other)
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}
