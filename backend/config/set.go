package config

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/tailscale/hujson"

	"loop/backend/core"
)

// findField returns the field that holds the value called name, and name cut
// into the names of nested objects: of mcp.servers.x the field mcp.servers and
// the three names.
func findField(name string) (Field, []string, error) {
	for _, f := range slices.Concat(leaves(), describe()) {
		parts := strings.Split(f.Name, ".")
		if f.Name == name {
			return f, parts, nil
		}
		if key, ok := strings.CutPrefix(name, f.Name+"."); ok && f.Merge == MergeKey && key != "" {
			return f, append(parts, key), nil
		}
	}
	return Field{}, nil, core.Fail(core.CodeInvalid, nil, fmt.Sprintf("“%s” is not a setting that Loop knows.", printable(name)),
		"Check the spelling.")
}

// edit gives the new text of the file. A value that is Hidden stays as it is.
func edit(path string, data []byte, field string, value any) ([]byte, error) {
	f, parts, err := findField(field)
	if err != nil {
		return nil, err
	}
	text := data
	if len(bytes.TrimSpace(bytes.TrimPrefix(data, bom))) == 0 {
		text = []byte("{\n}\n")
	}
	root, _, bad := parse(path, text)
	if bad != nil {
		return nil, core.Fail(core.CodeConfig, errors.New(bad.String()), "The settings file has an error: "+bad.Message,
			"Correct it first; Loop does not change a file that it cannot read.")
	}
	obj, ok := root.Value.(*hujson.Object)
	if !ok {
		return nil, core.Fail(core.CodeConfig, nil, "The settings file does not hold an object.", "Put the settings into { } first.")
	}
	if secret, ok := value.(Secret); ok {
		value = secret.Reveal()
	}
	var raw jsontext.Value // nil removes
	if value != nil {
		if raw, err = json.Marshal(value, json.Deterministic(true)); err != nil {
			return nil, core.Fail(core.CodeInvalid, err, "The new value of "+field+" cannot be written.", "")
		}
	}
	eol := "\n"
	if bytes.Contains(text, []byte("\r\n")) {
		eol = "\r\n"
	}
	if err := put(obj, parts, raw, eol, ""); err != nil {
		return nil, err
	}
	out := packed(root, data)
	if value == nil {
		return out, nil
	}
	if out, err = unmask(path, out, data, false); err != nil {
		return nil, err
	}
	for _, p := range decode(path, out).problems {
		if !p.Warning && (p.Field == f.Name || strings.HasPrefix(p.Field, f.Name+".")) {
			return nil, core.Fail(core.CodeInvalid, nil, p.Message, p.Remedy)
		}
	}
	return out, nil
}

// maxInline is how long a list or an object may be to stay on one line.
const maxInline = 80

// put makes raw the value at a path of names below obj; nil removes it.
func put(obj *hujson.Object, parts []string, raw jsontext.Value, eol, indent string) error {
	name := parts[0]
	at := slices.IndexFunc(obj.Members, func(m hujson.ObjectMember) bool { return memberName(&m) == name })
	switch {
	case at < 0 && raw == nil:
		return nil
	case len(parts) > 1:
		if at < 0 {
			insert(obj, name, &hujson.Object{}, eol, indent)
			at = len(obj.Members) - 1
		}
		inner, ok := obj.Members[at].Value.Value.(*hujson.Object)
		if !ok {
			return core.Fail(core.CodeConfig, nil, "“"+name+"” in the settings file is not an object.", "Correct it first.")
		}
		return put(inner, parts[1:], raw, eol, memberIndent(obj, indent))
	case raw == nil:
		remove(obj, at, eol)
		return nil
	}
	if len(raw) > maxInline && (raw.Kind() == '[' || raw.Kind() == '{') {
		if err := raw.Indent(jsontext.WithIndentPrefix(memberIndent(obj, indent)), jsontext.WithIndent("  ")); err == nil {
			raw = bytes.ReplaceAll(raw, []byte("\n"), []byte(eol))
		}
	}
	v, err := hujson.Parse(raw)
	if err != nil {
		return core.Fail(core.CodeInternal, err, "The new value cannot be written.", "")
	}
	if at < 0 {
		insert(obj, name, v.Value, eol, indent)
	} else {
		obj.Members[at].Value.Value = v.Value // the comments around it stay
	}
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
func remove(obj *hujson.Object, at int, eol string) {
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
		if !bytes.Contains(obj.AfterExtra, []byte("\n")) {
			obj.AfterExtra = append(obj.AfterExtra, eol...) // a comment may end with its line
		}
	}
}
