package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"loop/backend/atomicfile"
)

// ImageFolder is the folder in a project's ProjectFolder that its own image is built from.
// Everything in it is shown to a person before it counts, so there is not much of it.
const (
	ImageFolder   = "container"
	dockerfile    = "Dockerfile"
	MaxImageFiles = 64      // files and folders
	MaxImageBytes = 1 << 20 // of all files
	maxImageDepth = 8       // folders in folders
)

// ImagePath is where the Dockerfile of the project at dir is.
func ImagePath(dir string) string { return filepath.Join(dir, ProjectFolder, ImageFolder, dockerfile) }

// imageError is what is wrong with the folder, in a sentence.
type imageError string

func (e imageError) Error() string { return string(e) }

// imageReader reads the folder, to its bounds.
type imageReader struct {
	files   map[string][]byte
	entries int
	bytes   int
}

// readImageFolder reads what the project's own image is built from. No link is followed, as in
// readProjectFile, and whatever is neither a file nor a folder is an error. An error that wraps
// fs.ErrNotExist means that the project has no Dockerfile.
func readImageFolder(dir, parent string) (map[string][]byte, error) {
	root, err := openProject(dir, parent)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	own, err := enter(root, ProjectFolder, errLink)
	if err != nil {
		return nil, err
	}
	defer own.Close()
	folder, err := enter(own, ImageFolder, errLink)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	seen, err := folder.Lstat(dockerfile)
	if err != nil {
		return nil, err
	}
	files, err := readFiles(folder)
	_, there := files[dockerfile]
	switch {
	case err != nil:
		return nil, err
	case there:
		return files, nil
	case seen.Mode().IsRegular():
		return nil, errSwapped
	}
	return nil, imageError("Its Dockerfile is not a file.")
}

// readFiles reads a folder that is there. What vanishes meanwhile is errSwapped and none of the
// errors that mean that the project has no such folder.
func readFiles(folder *os.Root) (map[string][]byte, error) {
	r := &imageReader{files: map[string][]byte{}}
	err := r.folder(folder, "")
	if absent(err) {
		return nil, fmt.Errorf("%w: %s", errSwapped, err.Error())
	}
	return r.files, err
}

// absent reports whether an error of reading a file means that it is not there.
func absent(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) }

func (r *imageReader) folder(root *os.Root, at string) error {
	list, err := r.list(root)
	if err != nil {
		return err
	}
	for _, entry := range list {
		name := path.Join(at, entry)
		seen, err := root.Lstat(entry)
		if err != nil {
			return err
		}
		switch {
		case !utf8.ValidString(name):
			return imageError(fmt.Sprintf("The name %q is not valid UTF-8.", name))
		case seen.Mode().IsRegular():
			err = r.file(root, entry, name, seen)
		case seen.IsDir() && strings.Count(name, "/") < maxImageDepth:
			var below *os.Root
			if below, err = enter(root, entry, errLink); err == nil {
				err = errors.Join(r.folder(below, name), below.Close())
			}
		case seen.IsDir():
			err = imageError(fmt.Sprintf("Its folders are nested more than %d deep.", maxImageDepth))
		default:
			err = imageError(fmt.Sprintf("%q is neither a file nor a folder. Links are not followed.", name))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *imageReader) list(root *os.Root) ([]string, error) {
	f, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	list, err := f.Readdirnames(MaxImageFiles + 1 - r.entries)
	if r.entries += len(list); r.entries > MaxImageFiles {
		return nil, imageError(fmt.Sprintf("It has more than %d files and folders.", MaxImageFiles))
	}
	if len(list) == 0 { // which Readdirnames calls the end of the file
		return nil, nil
	}
	slices.Sort(list)
	return list, err
}

func (r *imageReader) file(root *os.Root, entry, name string, seen fs.FileInfo) error {
	f, err := root.OpenFile(entry, os.O_RDONLY|atomicfile.NoWait, 0)
	if err != nil {
		return err
	}
	data, info, err := atomicfile.ReadOpened(f, int64(MaxImageBytes-r.bytes))
	switch {
	case errors.Is(err, atomicfile.ErrTooLarge):
		return imageError(fmt.Sprintf("Its files are larger than %d MiB together.", MaxImageBytes>>20))
	case err != nil:
		return err
	case !os.SameFile(seen, info):
		return errSwapped
	}
	r.bytes += len(data)
	r.files[name] = data
	return nil
}

// imageText is all of the folder as one text, which is what a person sees and approves. No two
// contents have the same one: each file's length comes before it, and what is not text is there
// by its hash.
func imageText(files map[string][]byte) []byte {
	var b bytes.Buffer
	names := slices.Sorted(maps.Keys(files))
	names = append([]string{dockerfile}, slices.DeleteFunc(names, func(n string) bool { return n == dockerfile })...)
	for _, name := range names {
		data := files[name]
		if !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
			fmt.Fprintf(&b, "=== %q: %d bytes that are not text, SHA-256 %s\n", name, len(data), sumOf(data))
			continue
		}
		fmt.Fprintf(&b, "=== %q: %d bytes\n%s\n", name, len(data), data)
	}
	return b.Bytes()
}
