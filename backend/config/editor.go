package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"loop/backend/core"
)

// Editor changes settings files for their owner. Every change is a revision. A
// project's file that was approved, or that held nothing to approve, is approved as
// the owner left it; a file that waits for approval goes on waiting. Restoring a
// revision approves nothing: somebody else may have written its text, and nobody
// approved it. Methods may be called from any goroutine. Errors are *core.Failure.
type Editor struct {
	History *History
	Trust   *Trust
}

// Set writes one field into the file and keeps everything else of it byte for
// byte, comments included. field may name a part, as in font_sizes.chat, or an
// entry of an object, as in envs.NAME. A nil value removes the field. The file
// is replaced as a whole, so a reader sees the old text or the new one.
// A file with errors of syntax is left alone; so is one in which the new value
// would not be valid.
func (e Editor) Set(f File, field string, value any) error {
	return e.change(f, SourceSettings, true, func(data []byte) ([]byte, error) {
		if err := allowedIn(f, field, value); err != nil {
			return nil, err
		}
		return edit(f.Path, data, field, value)
	})
}

// Change is Set for somebody who saw the value that the file had, or nil where it had none. A
// file that says something else by now is ErrConflict.
func (e Editor) Change(f File, field string, value, was any) error {
	return e.change(f, SourceSettings, true, func(data []byte) ([]byte, error) {
		if err := allowedIn(f, field, value); err != nil {
			return nil, err
		}
		leaf, _, err := findField(field)
		if err != nil {
			return nil, err
		}
		if leaf.Name != field || leaf.Parts != nil {
			return nil, core.Fail(core.CodeInvalid, nil, "“"+printable(field)+"” is no field that holds a value itself.", "Name one that does.")
		}
		var now any
		if doc := decode(f.Path, data); doc.has(field) {
			now = leaf.Shown(doc.written)
		}
		if !sameJSON(now, was) {
			return nil, core.Fail(core.CodeConflict, fmt.Errorf("write %s: %w", field, core.ErrConflict),
				"The settings file has another value by now.", "Look at it, and save yours once more if it is still the right one.")
		}
		return edit(f.Path, data, field, value)
	})
}

// sameJSON compares what two values are in JSON, however their numbers are written.
func sameJSON(a, b any) bool {
	var said [2][]byte
	for i, v := range []any{a, b} {
		raw, err := json.Marshal(v)
		var plain any
		if err != nil || json.Unmarshal(raw, &plain) != nil {
			return false
		}
		said[i], _ = json.Marshal(plain) // it was read from JSON
	}
	return bytes.Equal(said[0], said[1])
}

// Check reads a text as the file would be read; nothing is changed.
func Check(f File, text string) ([]core.SettingsProblem, error) {
	if len(text) > f.most() {
		return nil, core.Fail(core.CodeInvalid, nil, "The text is too large for a settings file.", "Shorten it.")
	}
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	return decode(f.Path, []byte(text)).problems, nil
}

// allowedIn refuses a field that would do nothing in the file; removing it is
// always right.
func allowedIn(f File, name string, value any) error {
	field, _, err := findField(name)
	if err != nil || value == nil {
		return err
	}
	own := field.Project == ProjectNever || len(field.Parts) > 0 && field.Parts[0].Project == ProjectNever
	switch {
	case f.dir != "" && own:
		return core.Fail(core.CodeInvalid, nil, fmt.Sprintf("“%s” is a setting of Loop itself; a project's file does not change it.", name),
			"Set it in Loop's own settings.")
	case f.dir == "" && field.only:
		return core.Fail(core.CodeInvalid, nil, fmt.Sprintf("“%s” is for a project's own settings.", name), "Choose a project to set it for.")
	}
	return nil
}

// Raw is the text of a file with credentials hidden, and the SHA-256 of the
// file itself; both are empty for a file that is not there.
func (e Editor) Raw(f File) (text, sum string, err error) {
	data, err := f.read()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", "", nil
	case err != nil:
		return "", "", f.unreadable(err)
	}
	return string(mask(data)), sumOf(data), nil
}

// SetRaw replaces the text of a file. Credentials that are hidden in the text
// stay. sum is what Raw gave with the text that was edited: a file that has
// changed since is ErrConflict. A text with errors is refused.
func (e Editor) SetRaw(f File, text, sum string) error {
	return e.change(f, SourceSettings, true, func(data []byte) ([]byte, error) {
		if now := sumOf(data); sum != now && !(sum == "" && data == nil) {
			return nil, core.Fail(core.CodeConflict, fmt.Errorf("write %s: %w", f.Path, core.ErrConflict),
				"The settings file has changed since it was shown.", "Look at it again; your text is still in the editor.")
		}
		out, err := unmask(f.Path, []byte(text), data, false)
		if err != nil {
			return nil, err
		}
		if len(out) > f.most() {
			return nil, core.Fail(core.CodeInvalid, nil, "The text is too large for a settings file.", "Shorten it.")
		}
		if err := failure(decode(f.Path, out).problems); err != nil {
			return nil, err
		}
		return out, nil
	})
}

// Restore gives a file the text of one of its revisions. Credentials stay as
// they are now; one that is no longer there does not come back. file says
// which files of the caller the revision may be of.
func (e Editor) Restore(id string, file func(path string) (File, bool)) (File, error) {
	rev, text, _, err := e.History.Revision(id)
	if err != nil {
		return File{}, err
	}
	f, ok := file(rev.Path)
	if !ok {
		return File{}, core.Fail(core.CodeNotFound, nil, "The project of that revision is no longer in Loop.", "Add its folder first.")
	}
	return f, e.change(f, SourceRestore+id, false, func(data []byte) ([]byte, error) {
		out, err := unmask(f.Path, []byte(text), data, true)
		if err == nil && len(out) > 0 {
			err = failure(decode(f.Path, out).problems)
		}
		if len(out) == 0 {
			out = []byte("{\n}\n") // it was missing; an empty file is an error
		}
		return out, err
	})
}

// change writes what to makes of the file. own says that it is the owner's text.
func (e Editor) change(f File, source string, own bool, to func([]byte) ([]byte, error)) error {
	// Held over writing and keeping: it keeps two edits apart, and nobody who notices
	// the change keeps it as somebody else's.
	e.History.mu.Lock()
	defer e.History.mu.Unlock()
	if err := e.History.record(f, SourceExternal); err != nil {
		return keeping(err)
	}
	data, err := f.read()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return f.unreadable(err)
	}
	out, err := to(data)
	if err != nil || bytes.Equal(out, data) {
		return err
	}
	before, _ := e.Trust.get(f.dir)
	mayTrust := own && f.dir != "" && (before.SHA256 == sumOf(data) && before.whole(f.Path, data) || harmless(f.Path, data))
	if mayTrust {
		// Approved before it is written: nobody else can have made this text.
		if err := e.Trust.put(f.dir, e.Trust.approval(f.Path, out)); err != nil {
			return err
		}
	}
	if err := f.write(out); err != nil {
		err = core.Fail(core.CodeConfig, fmt.Errorf("write %s: %w", f.Path, err),
			"The settings file could not be written.", "Check that the disk is not full and that the folder is yours.")
		if mayTrust && before.SHA256 != "" {
			err = errors.Join(err, e.Trust.put(f.dir, &before)) // the file is still that one
		}
		return err
	}
	if err := e.History.record(f, source); err != nil {
		return keeping(err)
	}
	return nil
}

func keeping(err error) error {
	return core.Fail(core.CodeConfig, err, "The history of the settings could not be written.",
		"Check that the disk is not full and that Loop's folder is yours.")
}

// harmless reports that a project's file holds nothing that could ever need
// approval. A name that this Loop does not know could, with a later one.
func harmless(path string, data []byte) bool {
	if len(bytes.TrimSpace(data)) == 0 {
		return true
	}
	doc := decode(path, data)
	if failure(doc.problems) != nil || doc.unknown {
		return false
	}
	for _, f := range leaves() {
		if doc.has(f.Name) && (f.Project == ProjectTrust || f.Project == ProjectTighten && f.Merge != MergeAppend) {
			return false
		}
	}
	return true
}
