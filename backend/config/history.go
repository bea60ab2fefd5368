package config

import (
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

	"github.com/aymanbagabas/go-udiff"

	"loop/backend/atomicfile"
	"loop/backend/core"
)

// HistoryFolder is where revisions are kept, in Loop's folder.
const HistoryFolder = "config-history"

// maxRevisions of each file are kept. maxHistory bounds the bytes of their texts, for a
// file that is a megabyte and edited often, and maxHistoryFile the same texts as JSON.
const (
	maxRevisions   = 200
	maxHistory     = 8 << 20
	maxHistoryFile = 8 * maxHistory
)

// Sources of a revision; one that was restored has SourceRestore and its id.
const (
	SourceSettings = "settings" // a change made in Loop
	SourceExternal = "external" // a change made elsewhere, such as in an editor
	SourceInitial  = "initial"  // as it was when Loop first saw it
	SourceRestore  = "restore:"
)

// kept is a revision as it is stored. The revisions of a settings file are in one
// file, in order of time.
type kept struct {
	core.SettingsRevision
	Text string `json:"text"`
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
	key := keyOf(f.Path)
	list, err := h.load(key)
	if err != nil {
		return err
	}
	var last kept
	if len(list) > 0 {
		last = list[len(list)-1]
	} else if source == SourceExternal {
		source = SourceInitial
	}
	text := string(mask(data))
	if text == last.Text {
		return nil
	}
	_, seq, _ := splitID(last.ID)
	rev := core.SettingsRevision{ID: key + "-" + strconv.Itoa(seq+1), Path: f.Path, Source: source, At: h.now().UTC()}
	rev.Added, rev.Removed = Changed(last.Text, text)
	list = append(list, kept{rev, text})
	size := 0
	for i, rev := range slices.Backward(list) {
		size += len(rev.Text)
		if i < len(list)-1 && (len(list)-i > h.keep || size > maxHistory) {
			list = list[i+1:]
			break
		}
	}
	out, err := json.Marshal(list)
	if err == nil {
		err = atomicfile.Keep(h.file(key), out)
	}
	if err != nil {
		return fmt.Errorf("keep revision: %w", err)
	}
	return nil
}

// List returns the revisions of a file, the newest first.
func (h *History) List(f File) ([]core.SettingsRevision, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	list, err := h.load(keyOf(f.Path))
	var out []core.SettingsRevision
	for _, rev := range slices.Backward(list) {
		out = append(out, rev.SettingsRevision)
	}
	return out, err
}

// Revision returns one revision, its text and what it changed of the one
// before it that is still kept.
func (h *History) Revision(id string) (rev core.SettingsRevision, text, diff string, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var list []kept
	if key, _, ok := splitID(id); ok {
		list, err = h.load(key)
	}
	i := slices.IndexFunc(list, func(r kept) bool { return r.ID == id })
	if i < 0 {
		return rev, "", "", core.Fail(core.CodeNotFound, errors.Join(core.ErrNotFound, err), "That revision is not kept any more.",
			"Choose another one from the list.")
	}
	before := ""
	if i > 0 {
		before = list[i-1].Text
	}
	return list[i].SettingsRevision, list[i].Text, Diff(before, list[i].Text), nil
}

// load reads the revisions of one file. A damaged file is moved aside, and its
// history begins anew.
func (h *History) load(key string) (list []kept, err error) {
	data, _, err := atomicfile.Read(h.file(key), maxHistoryFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read revisions: %w", err)
	}
	if json.Unmarshal(data, &list) != nil {
		if err := os.Rename(h.file(key), h.file(key)+".damaged"); err != nil {
			return nil, fmt.Errorf("move damaged revisions aside: %w", err)
		}
		return nil, nil
	}
	return list, nil
}

// keyOf names the file of a settings file's revisions.
func keyOf(path string) string { return sumOf([]byte(path))[:16] }

func (h *History) file(key string) string { return filepath.Join(h.dir, key+".json") }

var revisionID = regexp.MustCompile(`^([0-9a-f]{16})-([1-9][0-9]{0,8})$`)

func splitID(id string) (key string, seq int, ok bool) {
	m := revisionID.FindStringSubmatch(id)
	if m == nil {
		return "", 0, false
	}
	seq, err := strconv.Atoi(m[2])
	return m[1], seq, err == nil
}

// Diff shows what makes b of a as hunks of a unified diff, without headers of
// files; the empty text when they are the same. In texts that differ in hundreds
// of places it shows more than the least change, so that it stays quick.
func Diff(a, b string) string {
	whole := udiff.Unified("a", "b", a, b)
	return strings.TrimPrefix(whole, "--- a\n+++ b\n")
}

// Changed counts the lines that were added and removed.
func Changed(a, b string) (added, removed int) {
	for line := range strings.Lines(Diff(a, b)) {
		switch line[0] {
		case '+':
			added++
		case '-':
			removed++
		}
	}
	return added, removed
}
