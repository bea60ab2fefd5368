package bind

import (
	"bytes"
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
	maxReadFile  = 16 << 20 // of which the lines are counted
	linesAround  = 1000     // before and behind the one asked for
	maxLineBytes = 2000
)

// FilePart is the part of a text file around a line.
type FilePart struct {
	Path  string   `json:"path"`  // on this computer
	First int      `json:"first"` // number of the first of Lines, from 1
	Lines []string `json:"lines"`
	More  bool     `json:"more"` // the file goes on behind them
}

// ReadFile returns the lines around one of a file that a terminal's output names. The
// name is the program's: relative to dir unless it is a full path. A file of a
// container is found by the folders that this computer shares with the container. No
// link out of those is followed: an agent may have made it.
func (t *Terminals) ReadFile(channelID string, target core.TerminalTarget, dir, name string, line int) (FilePart, error) {
	if strings.ContainsFunc(dir+name, unicode.IsControl) || name == "" {
		return FilePart{}, core.Fail(core.CodeInvalid, nil, "That is no name of a file.", "Look at the file in the terminal.")
	}
	f, at, err := t.open(core.ChannelID(channelID), target, dir, name)
	if err != nil {
		return FilePart{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return FilePart{}, unreadable(at, err)
	}
	if !info.Mode().IsRegular() {
		return FilePart{}, core.Fail(core.CodeInvalid, nil, fmt.Sprintf("%s is a folder or a device.", core.CleanTitle(at)),
			"Look at it in the terminal.")
	}
	data, err := io.ReadAll(io.LimitReader(f, maxReadFile))
	if err != nil {
		return FilePart{}, unreadable(at, err)
	}
	if bytes.IndexByte(data, 0) >= 0 {
		return FilePart{}, core.Fail(core.CodeInvalid, nil, fmt.Sprintf("%s is no text.", core.CleanTitle(at)),
			"Open it with a program that knows its kind.")
	}
	part := around(data, line)
	part.Path, part.More = at, part.More || info.Size() > int64(len(data))
	return part, nil
}

// open finds the file on this computer.
func (t *Terminals) open(ch core.ChannelID, target core.TerminalTarget, dir, name string) (f *os.File, at string, err error) {
	const how = os.O_RDONLY | syscall.O_NONBLOCK // a pipe would be waited for
	isAbs, join := path.IsAbs, path.Join
	if target == core.TargetHost {
		isAbs, join = filepath.IsAbs, filepath.Join
	}
	if at = name; !isAbs(at) {
		at = join(dir, name)
	}
	if !isAbs(at) {
		return nil, "", core.Fail(core.CodeInvalid, nil, fmt.Sprintf("Loop does not know the folder of %s.", core.CleanTitle(name)),
			"Use a shell that marks its prompts, as those do that Loop starts, or a full path.")
	}
	if target == core.TargetHost {
		f, err = os.OpenFile(at, how, 0)
	} else {
		mounts, merr := t.Shared.Mounts(t.Ctx, ch)
		if merr != nil {
			return nil, "", merr
		}
		folder, rest, ok := hostPlace(mounts, path.Clean(at))
		if !ok {
			return nil, "", core.Fail(core.CodeMount, nil, fmt.Sprintf("%s is in the container only.", core.CleanTitle(at)),
				"Look at it in the terminal.")
		}
		rest = filepath.FromSlash(rest)
		at = filepath.Join(folder, rest)
		var root *os.Root
		if root, err = os.OpenRoot(folder); err == nil {
			defer root.Close()
			f, err = root.OpenFile(rest, how, 0)
		}
	}
	if err != nil {
		return nil, "", unreadable(at, err)
	}
	return f, at, nil
}

// hostPlace is the inverse of containerPath: the shared folder that a path of the
// container is in, and the rest of it, which is never empty.
func hostPlace(mounts []core.Mount, seen string) (folder, rest string, ok bool) {
	i := owner(mounts, seen)
	if i < 0 || mounts[i].Volume {
		return "", "", false
	}
	m := mounts[i]
	rest, ok = below(path.Clean(m.Target), seen, false)
	if ok && rest == "" { // a single file that is shared
		return filepath.Dir(m.Source), filepath.Base(m.Source), true
	}
	return m.Source, rest, ok
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
		"A link that leads out of the shared folder is not followed; the detail says more.")
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
