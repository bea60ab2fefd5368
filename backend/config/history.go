package config

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"loop/backend/core"
)

// HistoryFolder is where revisions are kept, in Loop's folder.
const HistoryFolder = "config-history"

// maxRevisions of each file are kept; the number is the original's.
// maxHistory bounds the bytes of their texts, for a file that is a megabyte
// and edited often.
const (
	maxRevisions = 200
	maxHistory   = 32 << 20
)

// Sources of a revision; one that was restored has SourceRestore and its id.
const (
	SourceSettings = "settings" // a change made in Loop
	SourceExternal = "external" // a change made elsewhere, such as in an editor
	SourceInitial  = "initial"  // as it was when Loop first saw it
	SourceRestore  = "restore:"
)

// Revision is one text that a settings file had.
type Revision struct {
	ID      string    `json:"id"`
	Path    string    `json:"path"`
	Source  string    `json:"source"`
	At      time.Time `json:"at"`
	Added   int       `json:"added"`   // lines, against the revision before
	Removed int       `json:"removed"` // lines
}

// History keeps what settings files said, with credentials hidden. All methods
// may be called from any goroutine.
type History struct {
	dir  string
	keep int // revisions of each file
	now  func() time.Time
	mu   sync.Mutex
}

// OpenHistory uses the folder at dir, which is made when it is needed.
func OpenHistory(dir string) *History { return &History{dir: dir, keep: maxRevisions, now: time.Now} }

// Record keeps the present text of a file as a revision made by source, unless
// it is that of the last one. The first of a file is SourceInitial whatever
// source says. A text that is not whole is not kept: it is somebody's edit
// half-way.
func (h *History) Record(f File, source string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.record(f, source)
}

func (h *History) record(f File, source string) error {
	data, err := f.read()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil // the settings themselves say so where they are shown
	}
	if _, _, bad := parse(f.Path, data); bad != nil && len(data) > 0 {
		return nil
	}
	text := string(mask(data))
	list, err := h.list(f.Path)
	if err != nil {
		return err
	}
	before, seq := "", 1
	if n := len(list); n > 0 {
		last := list[n-1]
		if before, err = h.text(last.ID); err != nil {
			return err
		}
		if before == text {
			return nil
		}
		_, seq, _ = splitID(last.ID)
		seq++
	} else {
		if text == "" {
			return nil
		}
		if source == SourceExternal {
			source = SourceInitial
		}
	}
	rev := Revision{ID: keyOf(f.Path) + "-" + strconv.Itoa(seq), Path: f.Path, Source: source, At: h.now().UTC()}
	rev.Added, rev.Removed = Changed(before, text)
	meta, err := json.Marshal(rev)
	if err != nil {
		return fmt.Errorf("encode revision: %w", err)
	}
	// The text first: a revision is there once its description is.
	if err := writeFile(h.file(rev.ID, ".txt"), []byte(text)); err != nil {
		return fmt.Errorf("keep revision: %w", err)
	}
	if err := writeFile(h.file(rev.ID, ".json"), meta); err != nil {
		return fmt.Errorf("keep revision: %w", err)
	}
	h.trim(append(list, rev))
	return nil
}

// trim removes the oldest revisions past what is kept.
func (h *History) trim(list []Revision) {
	size := int64(0)
	for i, rev := range slices.Backward(list) {
		if info, err := os.Stat(h.file(rev.ID, ".txt")); err == nil {
			size += info.Size()
		}
		if last := i == len(list)-1; !last && (len(list)-i > h.keep || size > maxHistory) {
			_ = os.Remove(h.file(rev.ID, ".json"))
			_ = os.Remove(h.file(rev.ID, ".txt"))
		}
	}
}

// List returns the revisions of a file, the newest first.
func (h *History) List(f File) ([]Revision, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	list, err := h.list(f.Path)
	slices.Reverse(list)
	return list, err
}

// Revision returns one revision, its text and what it changed of the one
// before it that is still kept.
func (h *History) Revision(id string) (rev Revision, text, diff string, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.revision(id)
}

func (h *History) revision(id string) (rev Revision, text, diff string, err error) {
	if _, _, ok := splitID(id); !ok {
		return rev, "", "", unknownRevision(nil)
	}
	rev, err = h.meta(id)
	if err != nil {
		return rev, "", "", unknownRevision(err)
	}
	if text, err = h.text(id); err != nil {
		return rev, "", "", unknownRevision(err)
	}
	list, err := h.list(rev.Path)
	if err != nil {
		return rev, "", "", err
	}
	before := ""
	if i := slices.IndexFunc(list, func(r Revision) bool { return r.ID == id }); i > 0 {
		if before, err = h.text(list[i-1].ID); err != nil {
			return rev, "", "", unknownRevision(err)
		}
	}
	return rev, text, Diff(before, text), nil
}

func unknownRevision(err error) error {
	return core.Fail(core.CodeNotFound, errors.Join(core.ErrNotFound, err), "That revision is not kept any more.",
		"Choose another one from the list.")
}

// list is in order of time.
func (h *History) list(path string) ([]Revision, error) {
	names, err := os.ReadDir(filepath.Join(h.dir, keyOf(path)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list revisions: %w", err)
	}
	var out []Revision
	for _, n := range names {
		num, ok := strings.CutSuffix(n.Name(), ".json")
		if !ok {
			continue
		}
		if rev, err := h.meta(keyOf(path) + "-" + num); err == nil && rev.Path == path {
			out = append(out, rev)
		}
	}
	slices.SortFunc(out, func(a, b Revision) int {
		_, x, _ := splitID(a.ID)
		_, y, _ := splitID(b.ID)
		return x - y
	})
	return out, nil
}

func (h *History) meta(id string) (Revision, error) {
	var rev Revision
	data, _, err := readFile(h.file(id, ".json"))
	if err != nil {
		return rev, err
	}
	if err := json.Unmarshal(data, &rev); err != nil {
		return rev, fmt.Errorf("decode revision: %w", err)
	}
	if rev.ID != id {
		return rev, errors.New("decode revision: it is another one's")
	}
	return rev, nil
}

func (h *History) text(id string) (string, error) {
	data, _, err := readFile(h.file(id, ".txt"))
	return string(data), err
}

// keyOf is the folder of a file's revisions.
func keyOf(path string) string {
	sum := sha256.Sum256([]byte(path))
	return hex.EncodeToString(sum[:8])
}

var revisionID = regexp.MustCompile(`^([0-9a-f]{16})-([1-9][0-9]{0,8})$`)

func splitID(id string) (key string, seq int, ok bool) {
	m := revisionID.FindStringSubmatch(id)
	if m == nil {
		return "", 0, false
	}
	seq, err := strconv.Atoi(m[2])
	return m[1], seq, err == nil
}

func (h *History) file(id, ending string) string {
	key, seq, _ := splitID(id)
	return filepath.Join(h.dir, key, strconv.Itoa(seq)+ending)
}
