package daemon

import (
	"bytes"
	"context"
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
	"loop/backend/terminal"
)

// terminalFiles keep what the next launch needs of terminals: for each a small
// row, and apart from it the screen, which changes often and is large. Both are
// replaced in one step. They hold what programs printed, hence mode 0600, and
// are Loop's own: no container sees the folder.
type terminalFiles struct{ dir string }

var _ terminal.Keeper = terminalFiles{}

// Names and bounds of the files. A screen of 10000 full lines is some megabytes.
const (
	terminalRow    = ".json"
	terminalScreen = ".screen"
	maxRowBytes    = 8 << 20 // a command comes in a message of 1 MiB, and JSON may write a byte as six
	maxScreenBytes = 64 << 20
)

var terminalID = regexp.MustCompile(`^[0-9a-f]{32}$`)

// screenHead is the first line of a screen's file.
type screenHead struct {
	Offset int64  `json:"offset"`
	Cols   uint16 `json:"cols"`
	Rows   uint16 `json:"rows"`
}

func (f terminalFiles) SaveTerminal(_ context.Context, s terminal.Saved) error {
	s.Screen, s.Offset = nil, 0
	b, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("encode terminal: %w", err)
	}
	return f.replace(s.Info.ID, terminalRow, b)
}

func (f terminalFiles) SaveScreen(_ context.Context, id core.TerminalID, screen []byte, offset int64, cols, rows uint16) error {
	head, err := json.Marshal(screenHead{offset, cols, rows})
	if err != nil {
		return fmt.Errorf("encode screen: %w", err)
	}
	return f.replace(id, terminalScreen, head, []byte("\n"), screen)
}

func (f terminalFiles) replace(id core.TerminalID, kind string, parts ...[]byte) error {
	if !terminalID.MatchString(string(id)) {
		return fmt.Errorf("keep terminal %q: not an id", id)
	}
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return fmt.Errorf("make terminals' folder: %w", err)
	}
	if err := atomicfile.Replace(filepath.Join(f.dir, string(id)+kind), parts...); err != nil {
		return fmt.Errorf("keep terminal: %w", err)
	}
	return nil
}

func (f terminalFiles) DropTerminal(_ context.Context, id core.TerminalID) error {
	if !terminalID.MatchString(string(id)) {
		return nil
	}
	var errs []error
	for _, kind := range []string{terminalRow, terminalScreen} {
		if err := os.Remove(filepath.Join(f.dir, string(id)+kind)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, fmt.Errorf("forget terminal: %w", err))
		}
	}
	return errors.Join(errs...)
}

// SavedTerminals reads what is there, oldest first. A file that cannot be used
// is left out and removed: the terminal it spoke of can still be ended by
// removing its container.
func (f terminalFiles) SavedTerminals(ctx context.Context) ([]terminal.Saved, error) {
	entries, err := os.ReadDir(f.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read terminals' folder: %w", err)
	}
	var out []terminal.Saved
	for _, e := range entries {
		id, kind, _ := strings.Cut(e.Name(), ".")
		if "."+kind == terminalScreen && terminalID.MatchString(id) {
			continue // read with its row
		}
		s, err := f.read(core.TerminalID(id))
		if "."+kind != terminalRow || !terminalID.MatchString(id) || err != nil {
			_ = os.Remove(filepath.Join(f.dir, e.Name())) // a torn write, or damage
			continue
		}
		out = append(out, s)
	}
	for _, e := range entries { // screens whose row is gone
		id, kind, _ := strings.Cut(e.Name(), ".")
		if "."+kind == terminalScreen && !slices.ContainsFunc(out, func(s terminal.Saved) bool { return string(s.Info.ID) == id }) {
			_ = os.Remove(filepath.Join(f.dir, e.Name()))
		}
	}
	slices.SortFunc(out, func(a, b terminal.Saved) int { return a.Info.CreatedAt.Compare(b.Info.CreatedAt) })
	return out, ctx.Err()
}

func (f terminalFiles) read(id core.TerminalID) (s terminal.Saved, err error) {
	row, err := readBounded(filepath.Join(f.dir, string(id)+terminalRow), maxRowBytes)
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

func (f terminalFiles) screen(id core.TerminalID) (head screenHead, screen []byte, ok bool) {
	data, err := readBounded(filepath.Join(f.dir, string(id)+terminalScreen), maxScreenBytes)
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
