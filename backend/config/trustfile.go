package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"loop/backend/atomicfile"
	"loop/backend/core"
)

// TrustFileName is the file in Loop's folder that remembers approvals.
const TrustFileName = "project-trust.json"

// maxTrust bounds that file, in bytes: 64 files of the largest size, or thousands of
// the usual one, are more than a person approves by reading.
const maxTrust = 64 << 20

// Trust remembers which settings files, and which images, of projects a person approved: for each
// directory the SHA-256 of the file, so that one changed byte asks again, and
// its text without credentials, for the diff. The zero value trusts nothing. All
// methods may be called from any goroutine.
type Trust struct {
	path string
	now  func() time.Time

	mu      sync.Mutex
	entries map[string]trusted // by clean directory
	problem error
}

type trusted struct {
	SHA256     string    `json:"sha256"`
	Text       string    `json:"text"` // credentials hidden
	ApprovedAt time.Time `json:"approved_at"`
	// Fields are those of the text that this Loop knew. A later Loop may know more
	// of its names, which the person read as doing nothing. Empty means all, in a
	// file that was written before fields were noted.
	Fields []string `json:"fields,omitempty"`
	// Declined is the SHA-256 of a text without which the person chose to work.
	Declined string `json:"declined,omitempty"`
}

type trustFile struct {
	Version  int                `json:"version"`
	Projects map[string]trusted `json:"projects"`
}

const trustVersion = 1

// OpenTrust reads the approvals at path. A file that cannot be read, or that somebody
// else could have written, trusts nothing; Problem says so.
func OpenTrust(path string) *Trust {
	t := &Trust{path: path, now: time.Now, entries: map[string]trusted{}}
	entries, err := readTrust(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.problem = core.Fail(core.CodeConfig, fmt.Errorf("read %s: %w", path, err),
			"Loop cannot read which projects' settings were approved, so none is.", "Approve them again; the file "+path+" is then written anew.")
		return t
	}
	if entries != nil {
		t.entries = entries
	}
	return t
}

func readTrust(path string) (map[string]trusted, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, atomicfile.ErrNotRegular
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0 {
		return nil, fmt.Errorf("others may write to it (mode %04o)", info.Mode().Perm())
	}
	data, _, err := atomicfile.Read(path, maxTrust)
	if err != nil {
		return nil, err
	}
	var file trustFile
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, err
	}
	if file.Version != trustVersion {
		return nil, fmt.Errorf("it is of version %d", file.Version)
	}
	return file.Projects, nil
}

// Problem is why nothing is trusted although there is a file; nil otherwise.
func (t *Trust) Problem() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.problem
}

func (t *Trust) get(dir string) (trusted, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e, ok := t.entries[filepath.Clean(dir)]
	return e, ok
}

func (t *Trust) approved(dir, sum string) bool {
	e, ok := t.get(dir)
	return ok && sum != "" && e.SHA256 == sum
}

func (t *Trust) declined(dir, sum string) bool {
	e, ok := t.get(dir)
	return ok && sum != "" && e.Declined == sum
}

// covers reports whether an approval is one of a field, too.
func (e trusted) covers(f Field) bool { return len(e.Fields) == 0 || slices.Contains(e.Fields, f.Name) }

// whole reports whether an approval is one of every field of its text.
func (e trusted) whole(path string, data []byte) bool {
	doc := decode(path, data)
	return !slices.ContainsFunc(leaves(), func(f Field) bool { return doc.has(f.Name) && !e.covers(f) })
}

// approval of a text that was read.
func (t *Trust) approval(path string, data []byte) *trusted {
	doc := decode(path, data)
	e := &trusted{SHA256: sumOf(data), Text: string(mask(doc.text)), ApprovedAt: t.now().UTC()}
	for _, f := range leaves() {
		if doc.has(f.Name) {
			e.Fields = append(e.Fields, f.Name)
		}
	}
	return e
}

// diff shows the file against what was approved last; whole, when it is that
// and this Loop knows more of it.
func (t *Trust) diff(dir, sum string, doc *document) string {
	e, _ := t.get(dir)
	if e.SHA256 == sum {
		e.Text = ""
	}
	now := string(mask(doc.text))
	d := Diff(visible(e.Text), visible(now))
	if d == "" {
		return " A hidden value or white space at the start of the file changed.\n"
	}
	return d
}

// Approve trusts the settings file or the image of a project as it is, provided that it still has
// the SHA-256 sum of the text that the person was shown. A file that has changed is
// ErrConflict.
func (t *Trust) Approve(f File, sum string) error {
	data, err := f.still(sum)
	if err != nil {
		return err
	}
	if f.source != "" {
		return t.put(f.key(), &trusted{SHA256: sum, Text: string(data), ApprovedAt: t.now().UTC()})
	}
	if err := failure(decode(f.Path, data).problems); err != nil {
		return err
	}
	return t.put(f.key(), t.approval(f.Path, data))
}

// Decline remembers that runs go without what a project's own image is built from, as long as it
// has this SHA-256 sum. What was approved before counts again when it is that again.
func (t *Trust) Decline(f File, sum string) error {
	if f.source == "" {
		return core.Fail(core.CodeInvalid, nil, "Settings that are not approved do not count; there is nothing to decline.", "")
	}
	if _, err := f.still(sum); err != nil {
		return err
	}
	e, _ := t.get(f.key())
	if e.Declined = sum; e.SHA256 == sum {
		e.SHA256 = ""
	}
	return t.put(f.key(), &e)
}

// still reads the file, which has to have the sum of the text that the person was shown.
func (f File) still(sum string) ([]byte, error) {
	data, err := f.read()
	if err != nil {
		return nil, f.unreadable(err)
	}
	if sumOf(data) != sum {
		return nil, core.Fail(core.CodeConflict, fmt.Errorf("decide on %s: %w", f.Path, core.ErrConflict),
			"The project's file has changed since it was shown.", "Look at it again.")
	}
	return data, nil
}

// Revoke takes an approval back; one that is not there is no error.
// So it does with a choice to go without.
func (t *Trust) Revoke(f File) error { return t.put(f.key(), nil) }

func (t *Trust) put(dir string, e *trusted) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	dir = filepath.Clean(dir)
	if _, had := t.entries[dir]; e == nil && !had {
		return nil
	}
	if t.problem != nil {
		// Whatever it holds is not lost to a person who wants to look.
		if err := os.Rename(t.path, t.path+".damaged"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return core.Fail(core.CodeConfig, err, "The file of approved project settings can neither be read nor moved away.", "Remove "+t.path+".")
		}
		t.problem = nil
	}
	next := maps.Clone(t.entries)
	if delete(next, dir); e != nil {
		next[dir] = *e
	}
	data, err := json.MarshalIndent(trustFile{Version: trustVersion, Projects: next}, "", "  ")
	if err == nil {
		err = atomicfile.Keep(t.path, append(data, '\n'))
	}
	if err != nil {
		return core.Fail(core.CodeConfig, fmt.Errorf("write %s: %w", t.path, err), "The approval could not be stored.",
			"Check that the disk is not full and that Loop's folder is yours.")
	}
	t.entries = next
	return nil
}
