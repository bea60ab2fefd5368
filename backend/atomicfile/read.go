package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// Reasons of Read to refuse a file.
var (
	ErrTooLarge   = errors.New("file is too large")
	ErrNotRegular = errors.New("not a regular file")
	ErrFolder     = errors.New("is a directory")
)

// NoWait has an open of a named pipe not wait for somebody who writes into it.
const NoWait = syscall.O_NONBLOCK

// Read reads an ordinary file of most bytes at most. Links are followed.
func Read(name string, most int64) ([]byte, fs.FileInfo, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|NoWait, 0)
	if err != nil {
		return nil, nil, err
	}
	return ReadOpened(f, most)
}

// ReadIn reads an ordinary file below a root whose content may be somebody else's: one that
// is a link, or is exchanged meanwhile, is ErrNotRegular.
func ReadIn(root *os.Root, name string, most int64) ([]byte, error) {
	seen, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !seen.Mode().IsRegular() {
		return nil, ErrNotRegular
	}
	f, err := root.OpenFile(name, os.O_RDONLY|NoWait, 0)
	if err != nil {
		return nil, err
	}
	data, opened, err := ReadOpened(f, most)
	if opened != nil && !os.SameFile(seen, opened) {
		return nil, ErrNotRegular
	}
	return data, err
}

// ReadOpened is Read of a file that was opened with NoWait. It closes the file.
func ReadOpened(f *os.File, most int64) ([]byte, fs.FileInfo, error) {
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, nil, err
	case info.IsDir():
		return nil, nil, ErrFolder
	case !info.Mode().IsRegular():
		return nil, nil, ErrNotRegular
	}
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = ErrTooLarge
	}
	return data, info, err
}
