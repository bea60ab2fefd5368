package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/tailscale/hujson"

	"loop/backend/core"
)

// editing keeps two edits of this process apart.
var editing sync.Mutex

// Set writes one field into the file and keeps everything else of it byte for
// byte, comments included. field may name a part, as in font_sizes.chat. A nil
// value removes the field. The file is replaced as a whole (0600), so a reader
// sees the old text or the new one. A file with errors of syntax is left alone;
// so is one in which the new value would not be valid. Errors are *core.Failure.
func Set(path, field string, value any) error {
	editing.Lock()
	defer editing.Unlock()
	f, err := findField(field)
	if err != nil {
		return err
	}
	// A settings file is often a link into a folder of dotfiles; the link stays.
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	data, _, err := readFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		p := fileProblem(path, err)
		return core.Fail(core.CodeConfig, err, p.Message, p.Remedy)
	}
	out, err := edit(path, data, f.Name, value)
	if err != nil {
		return err
	}
	if bytes.Equal(out, data) {
		return nil
	}
	if err := writeFile(path, out); err != nil {
		return core.Fail(core.CodeConfig, fmt.Errorf("write %s: %w", path, err),
			"The settings file could not be written.", "Check that the disk is not full and that the folder is yours.")
	}
	return nil
}

func findField(name string) (Field, error) {
	for _, f := range describe() {
		if f.Name == name {
			return f, nil
		}
		for _, part := range f.Parts {
			if part.Name == name {
				return part, nil
			}
		}
	}
	return Field{}, core.Fail(core.CodeInvalid, nil, fmt.Sprintf("“%s” is not a setting that Loop knows.", printable(name)), "Check the spelling.")
}

// edit gives the new text of the file.
func edit(path string, data []byte, field string, value any) ([]byte, error) {
	head := []byte(nil)
	if bytes.HasPrefix(data, bom) {
		head = bom
	}
	text := data
	if len(bytes.TrimSpace(bytes.TrimPrefix(data, bom))) == 0 {
		text = []byte("{\n}\n")
	}
	root, _, bad := parse(path, text)
	if bad != nil {
		return nil, core.Fail(core.CodeConfig, errors.New(bad.String()), "The settings file has an error: "+bad.Message, "Correct it first; Loop does not change a file that it cannot read.")
	}
	obj, ok := root.Value.(*hujson.Object)
	if !ok {
		return nil, core.Fail(core.CodeConfig, nil, "The settings file does not hold an object.", "Put the settings into { } first.")
	}
	raw := []byte(nil)
	if value != nil {
		var err error
		if s, ok := value.(Secret); ok {
			value = s.Reveal()
		}
		if raw, err = encode(value); err != nil {
			return nil, core.Fail(core.CodeInvalid, err, "The new value of "+field+" cannot be written.", "")
		}
	}
	eol := "\n"
	if bytes.Contains(text, []byte("\r\n")) {
		eol = "\r\n"
	}
	parts := strings.SplitN(field, ".", 2)
	if err := put(obj, parts, raw, eol, ""); err != nil {
		return nil, err
	}
	out := slices.Concat(head, root.Pack())
	out = bytes.TrimSuffix(out, []byte("\n")) // the one that parse added
	if doc := decode(path, out); value != nil {
		for _, p := range doc.problems {
			if p.Field == field && !p.Warning {
				return nil, core.Fail(core.CodeInvalid, nil, p.Message, p.Remedy)
			}
		}
	}
	return out, nil
}

// encode writes JSON as a person would: no escapes for <, > and &.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

func put(obj *hujson.Object, parts []string, raw []byte, eol, indent string) error {
	name := parts[0]
	at := -1
	for i := range obj.Members {
		if memberName(&obj.Members[i]) != name {
			continue
		}
		if at >= 0 {
			return core.Fail(core.CodeConfig, nil, "“"+name+"” is in the settings file twice.", "Keep one of them first.")
		}
		at = i
	}
	if len(parts) > 1 {
		if at < 0 {
			if raw == nil {
				return nil
			}
			insert(obj, name, &hujson.Object{}, eol, indent)
			at = len(obj.Members) - 1
		}
		inner, ok := obj.Members[at].Value.Value.(*hujson.Object)
		if !ok {
			return core.Fail(core.CodeConfig, nil, "“"+name+"” in the settings file is not an object.", "Correct it first.")
		}
		return put(inner, parts[1:], raw, eol, memberIndent(obj, indent))
	}
	if raw == nil {
		if at >= 0 {
			remove(obj, at)
		}
		return nil
	}
	v, err := hujson.Parse(raw)
	if err != nil {
		return core.Fail(core.CodeInternal, err, "The new value cannot be written.", "")
	}
	if at >= 0 {
		obj.Members[at].Value.Value = v.Value // the comments around it stay
		return nil
	}
	insert(obj, name, v.Value, eol, indent)
	return nil
}

// memberIndent is the white space in front of the members of obj.
func memberIndent(obj *hujson.Object, outer string) string {
	if len(obj.Members) > 0 {
		extra := string(obj.Members[0].Name.BeforeExtra)
		if i := strings.LastIndexByte(extra, '\n'); i >= 0 && strings.TrimLeft(extra[i+1:], " \t") == "" {
			return extra[i+1:]
		}
	}
	return outer + "  "
}

// insert appends a member on a line of its own. Comments that stood before the
// closing bracket stay where they are, above the new line.
func insert(obj *hujson.Object, name string, value hujson.ValueTrimmed, eol, outer string) {
	indent := memberIndent(obj, outer)
	before := strings.TrimRight(string(obj.AfterExtra), " \t\r\n") + eol + indent
	if n := len(obj.Members); n > 0 {
		// A trailing comma is recorded on the last value; the new member's own
		// comma takes its place.
		if last := &obj.Members[n-1].Value; last.AfterExtra != nil && len(last.AfterExtra) == 0 {
			last.AfterExtra = nil
		}
	}
	obj.Members = append(obj.Members, hujson.ObjectMember{
		Name:  hujson.Value{BeforeExtra: hujson.Extra(before), Value: hujson.String(name)},
		Value: hujson.Value{BeforeExtra: hujson.Extra(" "), Value: value},
	})
	obj.AfterExtra = hujson.Extra(eol + outer)
}

// remove deletes a member; comments before it go to what follows.
func remove(obj *hujson.Object, at int) {
	extra := obj.Members[at].Name.BeforeExtra
	trailing := at == len(obj.Members)-1 && obj.Members[at].Value.AfterExtra != nil
	obj.Members = slices.Delete(obj.Members, at, at+1)
	if at < len(obj.Members) {
		if next := &obj.Members[at].Name; bytes.Contains(extra, []byte("/")) {
			next.BeforeExtra = slices.Concat(bytes.TrimRight(extra, " \t\r\n"), next.BeforeExtra)
		}
		return
	}
	if trailing && len(obj.Members) > 0 {
		last := &obj.Members[len(obj.Members)-1].Value
		if last.AfterExtra == nil {
			last.AfterExtra = hujson.Extra{}
		}
	}
	if bytes.Contains(extra, []byte("/")) {
		obj.AfterExtra = slices.Concat(bytes.TrimRight(extra, " \t\r\n"), obj.AfterExtra)
	}
}

// writeFile replaces path by data: a temporary file beside it, flushed to
// disk, then renamed.
func writeFile(path string, data []byte) (err error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	tmp, err := os.CreateTemp(dir, ".config-*.tmp") // 0600
	if err != nil {
		return fmt.Errorf("make temporary file: %w", err)
	}
	defer func() {
		if err != nil {
			tmp.Close() // closing twice is harmless here
			os.Remove(tmp.Name())
		}
	}()
	if _, err := tmp.Write(data); err != nil {
		return fmt.Errorf("write temporary file: %w", err)
	}
	if err := tmp.Sync(); err != nil {
		return fmt.Errorf("flush temporary file: %w", err)
	}
	if err := tmp.Close(); err != nil {
		return fmt.Errorf("close temporary file: %w", err)
	}
	if err := os.Rename(tmp.Name(), path); err != nil {
		return fmt.Errorf("replace file: %w", err)
	}
	if runtime.GOOS != "windows" {
		// Makes the rename itself survive a power cut; without it the old text
		// would come back, which is still a whole file.
		if d, derr := os.Open(dir); derr == nil {
			_ = d.Sync()
			d.Close()
		}
	}
	return nil
}
