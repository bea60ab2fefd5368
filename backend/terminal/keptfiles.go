package terminal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"loop/backend/atomicfile"
	"loop/backend/core"
)

// Files is a Keeper in a folder. Each terminal has one file there: a line of JSON, and
// its screen behind it. A file is replaced in one step. It holds what a program
// printed, hence mode 0600, and is Loop's own: no container sees the folder.
type Files struct{ Dir string }

var _ Keeper = Files{}

// Names and bounds of the files. A screen of 10000 full lines is some megabytes.
const (
	keptSuffix   = ".json"
	maxRowBytes  = 8 << 20 // a command comes in a message of 1 MiB, and JSON may write a byte as six
	maxKeptBytes = maxRowBytes + 64<<20
)

var keptID = regexp.MustCompile(`^[0-9a-f]{32}$`)

func (f Files) path(id core.TerminalID) string { return filepath.Join(f.Dir, string(id)+keptSuffix) }

// SaveTerminal implements Keeper.
func (f Files) SaveTerminal(s Saved) error {
	if !keptID.MatchString(string(s.Info.ID)) {
		return fmt.Errorf("keep terminal %q: not an id", s.Info.ID)
	}
	row, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("encode terminal: %w", err)
	}
	if err := os.MkdirAll(f.Dir, 0o700); err != nil {
		return fmt.Errorf("make terminals' folder: %w", err)
	}
	if err := atomicfile.Replace(f.path(s.Info.ID), row, []byte("\n"), s.Screen); err != nil {
		return fmt.Errorf("keep terminal: %w", err)
	}
	return nil
}

// DropTerminal implements Keeper.
func (f Files) DropTerminal(id core.TerminalID) error {
	if !keptID.MatchString(string(id)) {
		return nil
	}
	if err := os.Remove(f.path(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget terminal: %w", err)
	}
	return nil
}

// SavedTerminals reads what is there, oldest first. A file that cannot be used
// is left out and removed: the terminal it spoke of can still be ended by
// removing its container.
func (f Files) SavedTerminals() ([]Saved, error) {
	entries, err := os.ReadDir(f.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read terminals' folder: %w", err)
	}
	var out []Saved
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), keptSuffix)
		s, err := f.read(core.TerminalID(id))
		if !ok || err != nil {
			_ = os.Remove(filepath.Join(f.Dir, e.Name())) // a torn write, or damage
			continue
		}
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b Saved) int { return a.Info.CreatedAt.Compare(b.Info.CreatedAt) })
	return out, nil
}

func (f Files) read(id core.TerminalID) (s Saved, err error) {
	if !keptID.MatchString(string(id)) {
		return s, fmt.Errorf("read terminal %q: not an id", id)
	}
	b, _, err := atomicfile.Read(f.path(id), maxKeptBytes)
	whole := !errors.Is(err, atomicfile.ErrTooLarge)
	if err != nil && whole {
		return s, fmt.Errorf("read terminal: %w", err)
	}
	row, screen, _ := bytes.Cut(b, []byte("\n"))
	if len(row) > maxRowBytes {
		return s, errors.New("a terminal's file is too large")
	}
	if err := json.Unmarshal(row, &s); err != nil {
		return s, fmt.Errorf("decode terminal: %w", err)
	}
	if s.Info.ID != id || s.Info.ContainerID == "" && !comesBack(s.Info) || s.Info.Cols == 0 || s.Info.Rows == 0 || s.Offset < 0 {
		return s, errors.New("a terminal's file is incomplete")
	}
	if s.Screen = screen; len(screen) == 0 || !whole {
		s.Screen, s.Offset = nil, 0 // there is still the program's own ring
	}
	return s, nil
}
