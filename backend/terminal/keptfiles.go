package terminal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"loop/backend/atomicfile"
	"loop/backend/core"
)

// Files is a Keeper in a folder. Each terminal has two files there: a small row, and
// its screen, which is large and changes often. Each is replaced in one step. The
// files hold what programs printed, hence mode 0600, and are Loop's own: no container
// sees the folder.
type Files struct{ Dir string }

var _ Keeper = Files{}

// Names and bounds of the files. A screen of 10000 full lines is some megabytes.
const (
	rowSuffix      = ".json"
	screenSuffix   = ".screen"
	maxRowBytes    = 8 << 20 // a command comes in a message of 1 MiB, and JSON may write a byte as six
	maxScreenBytes = 64 << 20
)

var keptID = regexp.MustCompile(`^[0-9a-f]{32}$`)

// screenHead is the first line of a screen's file.
type screenHead struct {
	Offset int64  `json:"offset"`
	Cols   uint16 `json:"cols"`
	Rows   uint16 `json:"rows"`
}

// SaveTerminal implements Keeper.
func (f Files) SaveTerminal(s Saved) error {
	s.Screen, s.Offset = nil, 0
	b, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("encode terminal: %w", err)
	}
	return f.replace(s.Info.ID, rowSuffix, b)
}

// SaveScreen implements Keeper.
func (f Files) SaveScreen(id core.TerminalID, screen []byte, offset int64, cols, rows uint16) error {
	head, err := json.Marshal(screenHead{offset, cols, rows})
	if err != nil {
		return fmt.Errorf("encode screen: %w", err)
	}
	return f.replace(id, screenSuffix, head, []byte("\n"), screen)
}

func (f Files) replace(id core.TerminalID, kind string, parts ...[]byte) error {
	if !keptID.MatchString(string(id)) {
		return fmt.Errorf("keep terminal %q: not an id", id)
	}
	if err := os.MkdirAll(f.Dir, 0o700); err != nil {
		return fmt.Errorf("make terminals' folder: %w", err)
	}
	if err := atomicfile.Replace(filepath.Join(f.Dir, string(id)+kind), parts...); err != nil {
		return fmt.Errorf("keep terminal: %w", err)
	}
	return nil
}

// DropTerminal implements Keeper.
func (f Files) DropTerminal(id core.TerminalID) error {
	if !keptID.MatchString(string(id)) {
		return nil
	}
	var errs []error
	for _, kind := range []string{rowSuffix, screenSuffix} {
		if err := os.Remove(filepath.Join(f.Dir, string(id)+kind)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, fmt.Errorf("forget terminal: %w", err))
		}
	}
	return errors.Join(errs...)
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
	for _, e := range entries { // in the order of names: a row comes before its screen
		id, kind, _ := strings.Cut(e.Name(), ".")
		if "."+kind == screenSuffix && len(out) > 0 && string(out[len(out)-1].Info.ID) == id {
			continue
		}
		s, err := f.read(core.TerminalID(id))
		if "."+kind != rowSuffix || err != nil {
			_ = os.Remove(filepath.Join(f.Dir, e.Name())) // a torn write, damage, or a screen without its row
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
	row, err := readBounded(filepath.Join(f.Dir, string(id)+rowSuffix), maxRowBytes)
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(row, &s); err != nil {
		return s, fmt.Errorf("decode terminal: %w", err)
	}
	if s.Info.ID != id || s.Info.ContainerID == "" || s.Info.Cols == 0 || s.Info.Rows == 0 {
		return s, errors.New("a terminal's file is incomplete")
	}
	s.Screen, s.Offset = nil, 0
	// Without a screen there is still the program's own ring.
	if head, screen, ok := f.screen(id); ok {
		s.Screen, s.Offset, s.Info.Cols, s.Info.Rows = screen, head.Offset, head.Cols, head.Rows
	}
	return s, nil
}

func (f Files) screen(id core.TerminalID) (head screenHead, screen []byte, ok bool) {
	data, err := readBounded(filepath.Join(f.Dir, string(id)+screenSuffix), maxScreenBytes)
	if err != nil {
		return head, nil, false
	}
	first, screen, _ := bytes.Cut(data, []byte("\n"))
	err = json.Unmarshal(first, &head)
	return head, screen, err == nil && head.Offset >= 0 && head.Cols != 0 && head.Rows != 0
}

func readBounded(path string, limit int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read terminal: %w", err)
	}
	defer file.Close()
	b, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = errors.New("too large")
	}
	if err != nil {
		return nil, fmt.Errorf("read terminal: %w", err)
	}
	return b, nil
}
