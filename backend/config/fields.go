package config

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/tailscale/hujson"
)

// Field describes one field of Config for messages, a schema or a page.
type Field struct {
	Name    string // JSON name; parts of a nested object are joined by a dot
	Kind    string // a text, a whole number, a number, true or false, a list of texts, an object
	Default string // JSON text; empty is the zero value
	Min     string
	Max     string
	OneOf   []string
	Unit    string
	Doc     string
	Secret  bool
	Restart bool       // a change counts when Loop starts again, not before
	Merge   Merge      // empty where Parts is not
	Project Permission // empty where Parts is not
	Parts   []Field    // of a nested object

	index int   // in its struct
	path  []int // from Config
	check string
	only  bool // for project files; it does nothing in the global one
	typ   reflect.Type
}

// Merge says how the value of a later layer joins those of the earlier ones.
type Merge string

const (
	MergeOverride Merge = "override"  // the later one counts
	MergeTarget   Merge = "by target" // mounts: the later one of a container path
	MergeKey      Merge = "by key"    // objects: the later one of a name
	MergeAppend   Merge = "append"    // lists: the later ones come after; the global list replaces the built-in one
	MergeReplace  Merge = "replace"   // lists: the later list counts
	MergeUnion    Merge = "union"     // lists: a project's replaces the global one, a work tree's adds to its project's
)

// Permission says what a project's own file may do with a field. Agents and
// everybody who can put a commit into the project can write that file.
type Permission string

const (
	ProjectFree    Permission = "free"    // any value
	ProjectTighten Permission = "tighten" // a lower limit; anything else once the file is approved
	ProjectTrust   Permission = "trust"   // once the file is approved
	ProjectNever   Permission = "never"   // it is the app's, and only named
)

var describe = sync.OnceValue(func() []Field { return fieldsOf(reflect.TypeFor[Config](), "", nil) })

// leaves are the fields that hold a value themselves.
var leaves = sync.OnceValue(func() []Field {
	var out []Field
	var walk func([]Field)
	walk = func(fields []Field) {
		for _, f := range fields {
			if f.Parts != nil {
				walk(f.Parts)
				continue
			}
			out = append(out, f)
		}
	}
	walk(describe())
	return out
})

// Leaves lists the fields that hold a value themselves, in order: those of
// Fields with nested objects opened.
func Leaves() []Field { return slices.Clone(leaves()) }

// in is the field's value within c.
func (f Field) in(c *Config) reflect.Value { return reflect.ValueOf(c).Elem().FieldByIndex(f.path) }

// Fields lists the fields of Config in order.
func Fields() []Field { return slices.Clone(describe()) }

func fieldsOf(t reflect.Type, prefix string, path []int) []Field {
	var out []Field
	for i := range t.NumField() {
		sf := t.Field(i)
		name := prefix + sf.Tag.Get("json")
		f := Field{
			Name: name, Default: cmp.Or(sf.Tag.Get("default"), longDefaults[name]), Min: sf.Tag.Get("min"), Max: sf.Tag.Get("max"),
			Unit: sf.Tag.Get("unit"), Doc: docs[name], Secret: sf.Type == reflect.TypeFor[Secret](),
			Project: Permission(sf.Tag.Get("project")), only: sf.Tag.Get("only") == "project",
			index: i, path: append(slices.Clone(path), i), check: sf.Tag.Get("check"), typ: sf.Type,
			Restart: sf.Tag.Get("applies") == "restart",
		}
		if list, ok := sf.Tag.Lookup("oneof"); ok {
			f.OneOf = strings.Split(list, ",")
		}
		f.Kind = kindOf(sf.Type)
		if sf.Type.Kind() == reflect.Struct {
			f.Parts = fieldsOf(sf.Type, name+".", f.path)
		} else {
			f.Merge = cmp.Or(Merge(sf.Tag.Get("merge")), MergeOverride)
		}
		out = append(out, f)
	}
	return out
}

func kindOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a text"
	case reflect.Int:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list of texts"
	}
	return "an object"
}

func fieldValue(c Config, i int) any {
	return reflect.ValueOf(c).Field(describe()[i].index).Interface()
}

// Defaults is the configuration of a missing file. Each call returns a value
// that shares nothing with others.
func Defaults() Config {
	var c Config
	setDefaults(reflect.ValueOf(&c).Elem(), describe())
	return c
}

func setDefaults(v reflect.Value, fields []Field) {
	for _, f := range fields {
		if f.Parts != nil {
			setDefaults(v.Field(f.index), f.Parts)
			continue
		}
		if f.Default == "" {
			continue
		}
		val, err := hujson.Parse([]byte(f.Default))
		if err == nil {
			err = assign(v.Field(f.index), f, val)
		}
		if err != nil {
			// The tags are constants of this package; its tests read every one.
			panic(fmt.Sprintf("config: default of %s: %v", f.Name, err))
		}
	}
}

// unquoteInt reads a whole number however it was written (2048, 2e3, 2048.0).
func unquoteInt(text string) (int, bool) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return int(n), int64(int(n)) == n
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || x != float64(int64(x)) || x > 1<<53 || x < -(1<<53) {
		return 0, false
	}
	return int(x), true
}
