package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/tailscale/hujson"
)

type decoder struct {
	path     string
	data     []byte
	set      map[string]int
	problems []Problem
	strange  bool // a name that is no field's
	failed   bool // one of the problems is no warning
}

// full says that another problem would not be kept: past the bound only the
// first error is. The file is read to its end nevertheless.
func (d *decoder) full(warning bool) bool {
	return len(d.problems) >= maxProblems && (warning || d.failed)
}

func (d *decoder) add(offset int, field string, warning bool, msg, remedy string) {
	if d.full(warning) {
		return
	}
	d.failed = d.failed || !warning
	line, col := position(d.data, offset)
	d.problems = append(d.problems, Problem{Path: d.path, Line: line, Col: col, Field: field, Message: msg, Remedy: remedy, Warning: warning})
}

// document is one settings file as it was read.
type document struct {
	path   string
	text   []byte // offsets count in it
	config Config
	// written is config before relative paths in it were made absolute.
	written Config
	// set has the offset of every name that the file gives a value to: fields,
	// parts (font_sizes.chat), entries of lists (mounts[0]) and of objects
	// (envs.NAME, mcp.servers.NAME).
	set      map[string]int
	problems []Problem
	unknown  bool // it has a name that is no field's
}

func (doc *document) has(name string) bool {
	if doc == nil {
		return false
	}
	_, ok := doc.set[name]
	return ok
}

func decode(path string, data []byte) *document {
	doc := &document{path: path, config: Defaults(), set: map[string]int{}}
	root, text, bad := parse(path, data)
	doc.text = text
	if bad != nil {
		doc.problems = []Problem{*bad}
		return doc
	}
	d := &decoder{path: path, data: text, set: doc.set}
	if obj, ok := root.Value.(*hujson.Object); ok {
		d.object(reflect.ValueOf(&doc.config).Elem(), describe(), obj, "")
	} else {
		d.add(root.StartOffset, "", false, "The file does not hold an object.", "Put the settings into { }.")
	}
	doc.problems, doc.written, doc.unknown = d.problems, doc.config, d.strange
	return doc
}

// maxProblems bounds the list; past it more of the same helps nobody.
const maxProblems = 100

func (d *decoder) object(v reflect.Value, fields []Field, obj *hujson.Object, prefix string) {
	seen := map[string]int{}
	for i := range obj.Members {
		m := &obj.Members[i]
		name := prefix + memberName(m)
		if first, dup := seen[name]; dup {
			if d.full(false) {
				continue
			}
			line, _ := position(d.data, first)
			d.add(m.Name.StartOffset, name, false, fmt.Sprintf("“%s” is there twice; the first is in line %d.", printable(name), line),
				"Keep one of them.")
			continue
		}
		seen[name] = m.Name.StartOffset
		if name == schemaField {
			continue
		}
		n := slices.IndexFunc(fields, func(f Field) bool { return f.Name == name })
		if n < 0 {
			d.unknown(m.Name.StartOffset, name, fields)
			continue
		}
		f := fields[n]
		if inner, isObject := m.Value.Value.(*hujson.Object); isObject && f.Parts != nil {
			d.object(v.Field(f.index), f.Parts, inner, f.Name+".")
			continue
		}
		if lit, isLit := m.Value.Value.(hujson.Literal); isLit && lit.Kind() == 'n' {
			continue // null is “not set”
		}
		if err := assign(v.Field(f.index), f, m.Value); err != nil {
			offset, remedy := m.Value.StartOffset, remedyFor(f)
			var at *placed
			if errors.As(err, &at) {
				offset = at.offset
				if at.remedy != "" {
					remedy = at.remedy
				}
			}
			d.add(offset, f.Name, false, fmt.Sprintf("“%s” %v.", f.Name, err), remedy)
			continue
		}
		d.note(f, m)
	}
}

// note remembers where a value and its entries stand.
func (d *decoder) note(f Field, m *hujson.ObjectMember) {
	d.set[f.Name] = m.Name.StartOffset
	switch v := m.Value.Value.(type) {
	case *hujson.Array:
		for i := range v.Elements {
			d.set[entryName(f.Name, i)] = v.Elements[i].StartOffset
		}
	case *hujson.Object:
		for i := range v.Members {
			d.set[f.Name+"."+memberName(&v.Members[i])] = v.Members[i].Name.StartOffset
		}
	}
}

func entryName(field string, i int) string { return field + "[" + strconv.Itoa(i) + "]" }

func (d *decoder) unknown(offset int, name string, fields []Field) {
	d.strange = true
	if d.full(true) {
		return
	}
	if why, ok := later[name]; ok {
		msg := fmt.Sprintf("“%s” is not acted on in this version", name)
		if why != "" {
			msg += ": " + why
		}
		d.add(offset, name, true, msg+".", "It can stay in the file.")
		return
	}
	remedy := "Remove it, or check the spelling."
	if near := nearest(name, fields); near != "" {
		remedy = "Did you mean “" + near + "”?"
	}
	d.add(offset, name, true, fmt.Sprintf("“%s” is not a setting that Loop knows.", printable(name)), remedy)
}

// printable bounds a name out of the file for use in a message.
func printable(s string) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, s)
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return s
}

// placed is an error at a place inside the value, or with a better remedy.
type placed struct {
	offset int
	msg    string
	remedy string
}

func (p *placed) Error() string { return p.msg }

// assign puts a value into the field, or says in a phrase that follows the
// field's name why not. The value itself is never repeated: it may be secret.
func assign(v reflect.Value, f Field, val hujson.Value) error {
	lit, isLit := val.Value.(hujson.Literal)
	wrong := &placed{offset: val.StartOffset, msg: "must be " + f.Kind}
	switch v.Kind() {
	case reflect.String:
		if !isLit || lit.Kind() != '"' {
			return wrong
		}
		s := lit.String()
		if err := checkText(f, s, val.StartOffset); err != nil {
			return err
		}
		v.SetString(s)
	case reflect.Bool:
		if !isLit || (lit.Kind() != 't' && lit.Kind() != 'f') {
			return wrong
		}
		v.SetBool(lit.Bool())
	case reflect.Int:
		if !isLit || lit.Kind() != '0' {
			return wrong
		}
		n, ok := unquoteInt(string(lit))
		if !ok {
			return wrong
		}
		if err := inRange(f, float64(n), val.StartOffset); err != nil {
			return err
		}
		v.SetInt(int64(n))
	case reflect.Float64:
		if !isLit || lit.Kind() != '0' {
			return wrong
		}
		x, err := strconv.ParseFloat(string(lit), 64)
		if err != nil {
			return wrong // 1e999
		}
		if err := inRange(f, x, val.StartOffset); err != nil {
			return err
		}
		v.SetFloat(x)
	case reflect.Slice:
		arr, ok := val.Value.(*hujson.Array)
		if !ok {
			return wrong
		}
		list := make([]string, 0, len(arr.Elements))
		for i, e := range arr.Elements {
			l, ok := e.Value.(hujson.Literal)
			if !ok || l.Kind() != '"' {
				return &placed{offset: e.StartOffset, msg: fmt.Sprintf("must be a list of texts, and entry %d is something else", i)}
			}
			if f.check != "" {
				if err := checkText(f, l.String(), e.StartOffset); err != nil {
					return err
				}
			}
			list = append(list, l.String())
		}
		v.Set(reflect.ValueOf(list))
	case reflect.Map:
		obj, ok := val.Value.(*hujson.Object)
		if !ok {
			return wrong
		}
		var m any
		var err error
		if v.Type() == reflect.TypeFor[map[string]MCPServer]() {
			m, err = servers(obj)
		} else {
			m, err = freeObject(obj)
		}
		if err != nil {
			return err
		}
		v.Set(reflect.ValueOf(m))
	default:
		return wrong
	}
	return nil
}

// memberName is the unescaped name. A name that is no literal, which the parser
// does not make, is empty and so an unknown field.
func memberName(m *hujson.ObjectMember) string {
	name, _ := m.Name.Value.(hujson.Literal)
	return name.String()
}

// freeObject reads an object with names of the person's own. Numbers stay as
// they were written.
func freeObject(obj *hujson.Object) (map[string]any, error) {
	out := map[string]any{}
	for _, m := range obj.Members {
		name := memberName(&m)
		if _, dup := out[name]; dup {
			return nil, &placed{offset: m.Name.StartOffset, msg: fmt.Sprintf("has “%s” twice", printable(name)), remedy: "Keep one of them."}
		}
		if lit, ok := m.Value.Value.(hujson.Literal); ok {
			out[name] = literalValue(lit)
			continue
		}
		raw := m.Value.Clone()
		raw.Standardize()
		dec := json.NewDecoder(strings.NewReader(string(raw.Pack())))
		dec.UseNumber()
		var v any
		if err := dec.Decode(&v); err != nil {
			return nil, &placed{offset: m.Value.StartOffset, msg: "has a value that cannot be read", remedy: "Correct it."}
		}
		out[name] = v
	}
	return out, nil
}

// literalValue is what encoding/json would decode, with numbers as written.
func literalValue(lit hujson.Literal) any {
	switch lit.Kind() {
	case '"':
		return lit.String()
	case 't', 'f':
		return lit.Bool()
	case 'n':
		return nil
	}
	return json.Number(lit)
}
