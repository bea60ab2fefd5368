package sessions

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// errNotRegular: an agent may put a pipe, a device or a link where a transcript
// is expected.
var errNotRegular = errors.New("not a regular file")

// openFile opens a transcript for reading. The kind is looked at on the open
// descriptor; opening a pipe does not wait for a writer.
func openFile(root *os.Root, name string) (*os.File, fs.FileInfo, error) {
	before, err := root.Lstat(name)
	if err != nil {
		return nil, nil, err
	}
	if !before.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("open %q: %w", name, errNotRegular)
	}
	f, err := root.OpenFile(name, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("open %q: %w", name, errNotRegular)
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

// openDir opens a folder that is one; a link to another folder is refused.
func openDir(root *os.Root, name string) (*os.File, error) {
	before, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !before.IsDir() {
		return nil, fmt.Errorf("open %q: not a folder", name)
	}
	f, err := root.OpenFile(name, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("open %q: not a folder", name)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func isEOF(err error) bool { return errors.Is(err, io.EOF) }
