package config

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/tailscale/hujson"

	"loop/backend/core"
)

// ListAction is what is done to one entry of a list.
type ListAction string

const (
	ListInsert  ListAction = "insert"
	ListReplace ListAction = "replace"
	ListRemove  ListAction = "remove"
	ListMove    ListAction = "move"
)

// ListChange is a change of one entry of a list in a settings file.
type ListChange struct {
	Field  string
	Action ListAction
	Index  int // of the entry; with insert, where it comes to stand
	To     int // move: its new index
	Value  any // insert, replace
}

// List changes one entry of a list and keeps everything else of the file byte for byte,
// the comments at other entries included. Comments above an entry that is removed go to
// what follows.
func (e Editor) List(f File, c ListChange) error {
	return e.change(f, SourceSettings, true, func(data []byte) ([]byte, error) {
		if err := allowedIn(f, c.Field, c.Value); err != nil {
			return nil, err
		}
		return editList(f.Path, data, c)
	})
}

func editList(path string, data []byte, c ListChange) ([]byte, error) {
	field, parts, err := findField(c.Field)
	if err != nil {
		return nil, err
	}
	root, _, bad := parse(path, data)
	var list *hujson.Array
	if bad == nil {
		list = listAt(&root, parts)
	}
	if list == nil { // there is none yet, or the file has an error, which edit says
		if c.Action != ListInsert {
			return nil, noEntry(c.Field)
		}
		return edit(path, data, c.Field, []any{c.Value})
	}
	if err := c.apply(list, eolOf(data)); err != nil {
		return nil, err
	}
	out := packed(root, data)
	for _, p := range decode(path, out).problems {
		if !p.Warning && (p.Field == field.Name || p.Field == "") {
			return nil, core.Fail(core.CodeInvalid, nil, p.Message, p.Remedy)
		}
	}
	return out, nil
}

func noEntry(field string) error {
	return core.Fail(core.CodeConflict, core.ErrConflict, fmt.Sprintf("“%s” has no such entry any more.", field), "Look at it again.")
}

func eolOf(data []byte) string {
	if bytes.Contains(data, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// listAt is the list at a path of names; nil where there is none.
func listAt(root *hujson.Value, parts []string) *hujson.Array {
	at := root
	for _, name := range parts {
		obj, ok := at.Value.(*hujson.Object)
		if !ok {
			return nil
		}
		i := slices.IndexFunc(obj.Members, func(m hujson.ObjectMember) bool { return memberName(&m) == name })
		if i < 0 {
			return nil
		}
		at = &obj.Members[i].Value
	}
	list, _ := at.Value.(*hujson.Array)
	return list
}

func (c ListChange) apply(list *hujson.Array, eol string) error {
	n := len(list.Elements)
	last := n
	if c.Action != ListInsert {
		last--
	}
	if c.Index < 0 || c.Index > last || c.Action == ListMove && (c.To < 0 || c.To >= n) {
		return noEntry(c.Field)
	}
	// A trailing comma is recorded on the last entry.
	trailing := n > 0 && list.Elements[n-1].AfterExtra != nil
	if trailing && len(list.Elements[n-1].AfterExtra) == 0 {
		list.Elements[n-1].AfterExtra = nil
	}
	var one hujson.Value
	if c.Action == ListInsert || c.Action == ListReplace {
		raw, err := json.Marshal(c.Value, json.Deterministic(true))
		if err != nil {
			return core.Fail(core.CodeInvalid, err, "The new entry of "+c.Field+" cannot be written.", "")
		}
		if one, err = hujson.Parse(raw); err != nil {
			return core.Fail(core.CodeInternal, err, "The new entry cannot be written.", "")
		}
	}
	switch c.Action {
	case ListInsert:
		one.BeforeExtra = spaceOf(list, eol)
		if c.Index > 0 && one.BeforeExtra == nil {
			one.BeforeExtra = hujson.Extra(" ")
		}
		if n > 0 && c.Index == 0 && !bytes.Contains(list.Elements[0].BeforeExtra, []byte("\n")) {
			list.Elements[0].BeforeExtra = append(hujson.Extra(" "), bytes.TrimLeft(list.Elements[0].BeforeExtra, " ")...)
		}
		list.Elements = slices.Insert(list.Elements, c.Index, one)
	case ListReplace:
		list.Elements[c.Index].Value = rewritten(list.Elements[c.Index].Value, one.Value, eol)
	case ListMove:
		moved := list.Elements[c.Index]
		list.Elements = slices.Insert(slices.Delete(list.Elements, c.Index, c.Index+1), c.To, moved)
	case ListRemove:
		gone := list.Elements[c.Index].BeforeExtra
		list.Elements = slices.Delete(list.Elements, c.Index, c.Index+1)
		if bytes.Contains(gone, []byte("/")) {
			comments := bytes.TrimRight(gone, " \t\r\n")
			if c.Index < len(list.Elements) {
				next := &list.Elements[c.Index]
				next.BeforeExtra = slices.Concat(comments, next.BeforeExtra)
			} else {
				list.AfterExtra = slices.Concat(comments, list.AfterExtra)
			}
			if bytes.HasPrefix(bytes.TrimLeft(gone, " \t\r\n"), []byte("//")) && !bytes.Contains(list.AfterExtra, []byte("\n")) {
				list.AfterExtra = append(list.AfterExtra, eol...) // such a comment ends with its line
			}
		}
	}
	if n := len(list.Elements); trailing && n > 0 && list.Elements[n-1].AfterExtra == nil {
		list.Elements[n-1].AfterExtra = hujson.Extra{}
	}
	return nil
}

// rewritten is the new value of an entry. Of an object what is the same in both stays as it is
// written, with its comments.
func rewritten(old, next hujson.ValueTrimmed, eol string) hujson.ValueTrimmed {
	was, ok := old.(*hujson.Object)
	is, ok2 := next.(*hujson.Object)
	if !ok || !ok2 {
		return next
	}
	for i := len(was.Members) - 1; i >= 0; i-- {
		if memberOf(is, memberName(&was.Members[i])) < 0 {
			remove(was, i, eol)
		}
	}
	for _, m := range is.Members {
		switch at := memberOf(was, memberName(&m)); {
		case at < 0:
			addMember(was, m, eol)
		case !bytes.Equal(plainText(was.Members[at].Value), plainText(m.Value)):
			was.Members[at].Value.Value = m.Value.Value
		}
	}
	return was
}

func memberOf(obj *hujson.Object, name string) int {
	return slices.IndexFunc(obj.Members, func(m hujson.ObjectMember) bool { return memberName(&m) == name })
}

// plainText is a value without white space and comments.
func plainText(v hujson.Value) []byte {
	v = v.Clone()
	v.Minimize()
	return v.Pack()
}

// addMember appends a member, on a line of its own where the others have one.
func addMember(obj *hujson.Object, m hujson.ObjectMember, eol string) {
	if len(obj.Members) > 0 && !bytes.Contains(obj.Members[0].Name.BeforeExtra, []byte("\n")) && !bytes.Contains(obj.AfterExtra, []byte("/")) {
		last := &obj.Members[len(obj.Members)-1].Value
		if last.AfterExtra != nil && len(last.AfterExtra) == 0 { // a trailing comma
			m.Value.AfterExtra, last.AfterExtra = last.AfterExtra, nil
		}
		m.Name.BeforeExtra, m.Value.BeforeExtra = hujson.Extra(" "), obj.Members[0].Value.BeforeExtra
		obj.Members = append(obj.Members, m)
		return
	}
	outer := string(obj.AfterExtra)
	insert(obj, memberName(&m), m.Value.Value, eol, outer[strings.LastIndexByte(outer, '\n')+1:])
}

// spaceOf is the white space in front of a new entry.
func spaceOf(list *hujson.Array, eol string) hujson.Extra {
	if len(list.Elements) == 0 {
		return nil
	}
	extra := string(list.Elements[0].BeforeExtra)
	if i := strings.LastIndexByte(extra, '\n'); i >= 0 {
		return hujson.Extra(eol + extra[i+1:])
	}
	return nil
}
