package config

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/tailscale/hujson"

	"loop/backend/core"
	"loop/backend/policy"
)

// document is one settings file as it was read.
type document struct {
	path   string
	text   []byte
	config Config
	// written is config before relative paths in it were made absolute.
	written Config
	// set has the place of every name that the file gives a value to: fields,
	// parts (font_sizes.chat), entries of lists (mounts[0]) and of objects
	// (envs.NAME, mcp.servers.NAME).
	set      map[string]place
	problems []core.SettingsProblem
	unknown  bool // it has a name that is no field's
	places   places
}

func (doc *document) has(name string) bool {
	if doc == nil {
		return false
	}
	_, ok := doc.set[name]
	return ok
}

// maxProblems bounds the list; past it more of the same helps nobody. Only the first
// error is added then, and the file is read to its end nevertheless.
const maxProblems = 100

func (doc *document) add(at place, field string, warning bool, msg, remedy string) {
	if len(doc.problems) >= maxProblems && (warning || firstError(doc.problems) != nil) {
		return
	}
	doc.problems = append(doc.problems,
		core.SettingsProblem{Path: doc.path, Line: at.line, Col: at.col, Field: field, Message: msg, Remedy: remedy, Warning: warning})
}

func decode(path string, data []byte) *document {
	doc := &document{path: path, config: Defaults(), set: map[string]place{}}
	root, text, bad := parse(path, data)
	doc.text, doc.places.text = text, text
	if bad != nil {
		doc.problems = []core.SettingsProblem{*bad}
		return doc
	}
	root.Standardize() // white space for comments and trailing commas, so that offsets stay
	plain := root.Pack()
	if obj, ok := root.Value.(*hujson.Object); !ok {
		doc.add(doc.places.of(root.StartOffset), "", false, "The file does not hold an object.", "Put the settings into { }.")
	} else if doc.strict(plain) {
		doc.object(plain, describe(), obj, "")
	}
	doc.written = doc.config
	return doc
}

// strict looks for what the parser of comments lets pass, names that are there twice
// above all.
func (doc *document) strict(plain []byte) bool {
	_, err := jsontext.NewDecoder(bytes.NewBuffer(plain)).ReadValue()
	bad, ok := errors.AsType[*jsontext.SyntacticError](err)
	if !ok {
		return true
	}
	name, msg, remedy := "", "Syntax error: "+bad.Err.Error()+".", "Correct it."
	if errors.Is(err, jsontext.ErrDuplicateName) {
		name = strings.Join(slices.Collect(bad.JSONPointer.Tokens()), ".")
		msg, remedy = fmt.Sprintf("“%s” is there twice.", printable(name)), "Keep one of them."
	}
	doc.add(doc.places.of(int(bad.ByteOffset)), name, false, msg, remedy)
	return false
}

func (doc *document) object(plain []byte, fields []Field, obj *hujson.Object, prefix string) {
	for i := range obj.Members {
		m := &obj.Members[i]
		name := prefix + memberName(m)
		n := slices.IndexFunc(fields, func(f Field) bool { return f.Name == name })
		switch {
		case name == schemaField:
		case n < 0:
			doc.unknownName(doc.places.of(m.Name.StartOffset), name, fields)
		case fields[n].Parts != nil && m.Value.Value.Kind() == '{':
			parts, _ := m.Value.Value.(*hujson.Object) // its kind says so
			doc.object(plain, fields[n].Parts, parts, name+".")
		case m.Value.Value.Kind() == 'n': // null is “not set”
		case fields[n].typ == reflect.TypeFor[[]Agent]():
			doc.agents(plain, fields[n], m)
		case fields[n].check == "keys":
			doc.keyBindings(plain, fields[n], m)
		default:
			doc.member(fields[n], m, plain[m.Value.StartOffset:m.Value.EndOffset])
		}
	}
}

// member reads the value of a field and notes where it and its entries stand.
func (doc *document) member(f Field, m *hujson.ObjectMember, raw []byte) {
	if err := assign(&doc.config, f, raw); err != nil {
		at, w := m.Value.StartOffset, &wrongError{}
		errors.As(err, &w)
		if list, ok := m.Value.Value.(*hujson.Array); ok && w.entry > 0 {
			at = list.Elements[w.entry-1].StartOffset
		}
		remedy := w.remedy
		switch {
		case remedy == "" && (f.Default == "" || f.Secret):
			remedy = "Correct it, or remove the line."
		case remedy == "":
			remedy = "Correct it, or remove the line to use the default, " + f.Default + "."
		}
		doc.add(doc.places.of(at), f.Name, false, fmt.Sprintf("“%s” %v.", f.Name, err), remedy)
		return
	}
	doc.set[f.Name] = doc.places.of(m.Name.StartOffset)
	switch v := m.Value.Value.(type) {
	case *hujson.Array:
		for i := range v.Elements {
			doc.set[f.Name+"["+strconv.Itoa(i)+"]"] = doc.places.of(v.Elements[i].StartOffset)
		}
	case *hujson.Object:
		for i := range v.Members {
			doc.set[f.Name+"."+memberName(&v.Members[i])] = doc.places.of(v.Members[i].Name.StartOffset)
		}
	}
}

func (doc *document) unknownName(at place, name string, fields []Field) {
	doc.unknown = true
	if len(doc.problems) >= maxProblems {
		return
	}
	if why, ok := later[name]; ok {
		if why != "" {
			why = ": " + why
		}
		doc.add(at, name, true, fmt.Sprintf("“%s” is not acted on in this version%s.", name, why), "It can stay in the file.")
		return
	}
	remedy := "Remove it, or check the spelling."
	if near := nearest(name, fields); near != "" {
		remedy = "Did you mean “" + near + "”?"
	}
	doc.add(at, name, true, fmt.Sprintf("“%s” is not a setting that Loop knows.", printable(name)), remedy)
}

// printable bounds a name out of the file for use in a message. What cannot be seen is
// shown by its number.
func printable(s string) string { return core.Shortened(strings.Trim(strconv.Quote(s), `"`), 60) }

// wrongError is why a value cannot be a field's, in a phrase that follows the name
// of the field. The value itself is never repeated: it may be secret.
type wrongError struct {
	msg    string
	remedy string // empty is the field's usual one
	entry  int    // of a list, counted from 1; 0 is the value as a whole
}

func (w *wrongError) Error() string { return w.msg }

// freeValue is a value with a name of the person's own. A number stays as it was
// written.
func freeValue(raw jsontext.Value) (v any) {
	switch raw.Kind() {
	case '0':
		return stdjson.Number(raw)
	case '"':
		text, _ := jsontext.AppendUnquote(nil, raw)
		return string(text)
	}
	_ = json.Unmarshal(raw, &v) // it is whole, since what it is in was read
	return v
}

// assign puts a value into the field of c, or returns a *wrongError.
func assign(c *Config, f Field, raw []byte) error {
	fresh := reflect.New(f.typ)
	var err error
	switch v := fresh.Interface().(type) {
	case *int: // however it was written: 2048, 2e3, 2048.0
		var x float64
		if err = json.Unmarshal(raw, &x); err == nil && (x != math.Trunc(x) || math.Abs(x) > 1<<53) {
			err = strconv.ErrRange
		}
		*v = int(x)
	case *map[string]MCPServer:
		if *v, err = servers(raw); err != nil {
			return err
		}
	case *map[string]any:
		var parts map[string]jsontext.Value
		err = json.Unmarshal(raw, &parts)
		*v = make(map[string]any, len(parts))
		for name, part := range parts {
			(*v)[name] = freeValue(part)
		}
	case *[]policy.PathRule, *[]policy.CommandRule, *[]policy.FileRule:
		if err = rules(raw, v); err != nil {
			return err
		}
	default:
		err = json.Unmarshal(raw, v)
	}
	if err != nil {
		w := &wrongError{msg: "must be " + f.Kind}
		if at, ok := errors.AsType[*json.SemanticError](err); ok && f.typ.Kind() == reflect.Slice && at.JSONPointer != "" {
			entry, _ := strconv.Atoi(at.JSONPointer.LastToken())
			w.msg, w.entry = fmt.Sprintf("%s, and entry %d is something else", w.msg, entry), entry+1
		}
		return w
	}
	if err := checkValue(f, fresh.Elem()); err != nil {
		return err
	}
	f.in(c).Set(fresh.Elem())
	return nil
}

// checkValue looks at the rules of the field that its type does not say.
func checkValue(f Field, v reflect.Value) error {
	switch v.Kind() {
	case reflect.String:
		return checkText(f, v.String(), 0)
	case reflect.Int:
		return inRange(f, float64(v.Int()))
	case reflect.Float64:
		return inRange(f, v.Float())
	case reflect.Map:
		if modes, ok := v.Interface().(map[string]string); ok && f.check == "modes" {
			return checkModes(modes)
		}
		if limits, ok := v.Interface().(map[string]any); ok && f.check == "ulimits" {
			_, err := Ulimits(limits)
			return err
		}
	case reflect.Slice:
		for i, s := range texts(v) {
			if err := checkText(f, s, i+1); err != nil && f.check != "" {
				return err
			}
		}
	}
	return nil
}

// memberName is the unescaped name. A name that is no literal, which the parser
// does not make, is empty and so an unknown field.
func memberName(m *hujson.ObjectMember) string {
	lit, _ := m.Name.Value.(hujson.Literal)
	name, _ := jsontext.AppendUnquote(nil, lit)
	return string(name)
}
