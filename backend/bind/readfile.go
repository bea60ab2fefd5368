package bind

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"unicode"

	"loop/backend/core"
)

// Bounds of the part of a file that the page gets.
const (
	maxReadFile  = 8 << 20 // of which the lines are counted
	linesAround  = 1000    // before and behind the one asked for
	maxLineBytes = 2000
)

// FilePart is the part of a text file around a line.
type FilePart struct {
	Path  string   `json:"path"`  // on this computer, or in the container, which alone has it then
	First int      `json:"first"` // number of the first of Lines, from 1
	Lines []string `json:"lines"`
	More  bool     `json:"more"` // the file goes on behind them
}

// ReadFile returns the lines around one of a file that a terminal's output names. The
// name is the program's: relative to dir unless it is a full path.
func (t *Terminals) ReadFile(channelID string, target core.TerminalTarget, dir, name string, line int) (FilePart, error) {
	if strings.ContainsFunc(dir+name, unicode.IsControl) || name == "" {
		return FilePart{}, core.Fail(core.CodeInvalid, nil, "That is no name of a file.", "Look at the file in the terminal.")
	}
	isAbs, join, read := path.IsAbs, path.Join, t.readInside
	if target == core.TargetHost {
		isAbs, join, read = filepath.IsAbs, filepath.Join, t.readHere
	}
	at := name
	if !isAbs(at) {
		at = join(dir, name)
	}
	if !isAbs(at) {
		return FilePart{}, core.Fail(core.CodeInvalid, nil, fmt.Sprintf("Loop does not know the folder of %s.", core.CleanTitle(name)),
			"Use a shell that marks its prompts, as those do that Loop starts, or a full path.")
	}
	at, data, whole, err := read(core.ChannelID(channelID), at)
	if err != nil {
		return FilePart{}, err
	}
	if bytes.IndexByte(data, 0) >= 0 {
		return FilePart{}, core.Fail(core.CodeInvalid, nil, fmt.Sprintf("%s is no text.", core.CleanTitle(at)),
			"Open it with a program that knows its kind.")
	}
	part := around(data, line)
	part.Path, part.More = at, part.More || !whole
	return part, nil
}

// readInside reads a file as the channel's container has it, and says where it is on this
// computer, or in the container where that alone has it.
func (t *Terminals) readInside(ch core.ChannelID, at string) (place string, data []byte, whole bool, err error) {
	c, err := t.Files.Read(t.Ctx, ch, at, maxReadFile)
	return cmp.Or(c.HostPath, c.Path), c.Data, c.Whole, err
}

// readHere reads a file of this computer, which the person's own shell has named.
func (t *Terminals) readHere(_ core.ChannelID, at string) (place string, data []byte, whole bool, err error) {
	f, err := os.OpenFile(at, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe would be waited for
	if err != nil {
		return at, nil, false, unreadable(at, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return at, nil, false, unreadable(at, err)
	}
	if !info.Mode().IsRegular() {
		return at, nil, false, core.Fail(core.CodeInvalid, nil, fmt.Sprintf("%s is a folder or a device.", core.CleanTitle(at)),
			"Look at it in the terminal.")
	}
	if data, err = io.ReadAll(io.LimitReader(f, maxReadFile)); err != nil {
		return at, nil, false, unreadable(at, err)
	}
	return at, data, info.Size() <= int64(len(data)), nil
}

func unreadable(at string, err error) error {
	shown := core.CleanTitle(at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return core.Fail(core.CodeNotFound, err, fmt.Sprintf("%s is not there.", shown),
			"It may have been moved, or be meant from another folder.")
	case errors.Is(err, fs.ErrPermission):
		return core.Fail(core.CodeDir, err, fmt.Sprintf("You may not read %s.", shown), "Change its permissions.")
	}
	return core.Fail(core.CodeDir, err, fmt.Sprintf("%s cannot be read.", shown),
		"The detail says more.")
}

// around cuts out the lines near one.
func around(data []byte, line int) FilePart {
	lines := bytes.Split(data, []byte("\n"))
	if len(lines) > 1 && len(lines[len(lines)-1]) == 0 {
		lines = lines[:len(lines)-1]
	}
	line = max(1, min(line, len(lines)))
	from, to := max(0, line-1-linesAround), min(len(lines), line+linesAround)
	part := FilePart{First: from + 1, Lines: make([]string, 0, to-from), More: to < len(lines)}
	for _, l := range lines[from:to] {
		l = bytes.TrimSuffix(l, []byte("\r"))
		if len(l) > maxLineBytes {
			l = append(bytes.Clone(l[:maxLineBytes]), "…"...)
		}
		part.Lines = append(part.Lines, strings.ToValidUTF8(string(l), "\ufffd"))
	}
	return part
}
