package config

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// Field describes one field of Config for messages, a schema or a page.
type Field struct {
	Name    string // JSON name; parts of a nested object are joined by a dot
	Title   string // what a person calls it; empty where Parts is not
	Words   string // further words by which a person looks for it
	Group   string // of Groups
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

	path  []int // from Config
	check string
	never bool // 0 is no limit at all
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
	MergeUnion    Merge = "union"     // lists: a project's replaces the global one, a worktree's adds to its project's
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

// kinds are the words for the Go types of fields: in messages, in one word, and in
// the schema. A type that is not listed is an object.
var kinds = map[reflect.Kind][3]string{
	reflect.String:  {"a text", "text", "string"},
	reflect.Int:     {"a whole number", "integer", "integer"},
	reflect.Float64: {"a number", "number", "number"},
	reflect.Bool:    {"true or false", "boolean", "boolean"},
	reflect.Slice:   {"a list of texts", "list", "array"},
	reflect.Map:     {"an object", "object", "object"},
	reflect.Struct:  {"an object", "object", "object"},
}

// describe lists the fields of Config in order, with nested objects as one field.
var describe = sync.OnceValue(func() []Field { return fieldsOf(reflect.TypeFor[Config](), "", nil) })

// leaves are the fields that hold a value themselves.
var leaves = sync.OnceValue(func() (out []Field) {
	return below(describe())
})

func below(fields []Field) (out []Field) {
	for _, f := range fields {
		if f.Parts == nil {
			out = append(out, f)
		}
		out = append(out, below(f.Parts)...)
	}
	return out
}

// Type is the kind of the field in one word: text, integer, number, boolean, list
// or object.
func (f Field) Type() string { return kinds[f.typ.Kind()][1] }

// Leaves lists the fields that hold a value themselves, in order, those of nested
// objects among them.
func Leaves() []Field { return slices.Clone(leaves()) }

// in is the field's value within c.
func (f Field) in(c *Config) reflect.Value { return reflect.ValueOf(c).Elem().FieldByIndex(f.path) }

func fieldsOf(t reflect.Type, prefix string, path []int) (out []Field) {
	for sf := range t.Fields() {
		tag, name := sf.Tag.Get, prefix+sf.Tag.Get("json")
		f := Field{
			Name: name, Kind: kinds[sf.Type.Kind()][0],
			Default: cmp.Or(tag("default"), longDefaults[name]), Min: tag("min"), Max: tag("max"), Unit: tag("unit"),
			Doc:    cmp.Or(docs[name], agentDocs[strings.TrimPrefix(name, agentDefaults)]),
			Secret: sf.Type == reflect.TypeFor[Secret](), Restart: tag("applies") == "restart", Project: Permission(tag("project")),
			path: slices.Concat(path, sf.Index), check: tag("check"), only: tag("only") == "project", never: tag("zero") == "never", typ: sf.Type,
		}
		own := labels()[name]
		f.Title, f.Words, f.Group = own.title, own.words, own.group
		if isRules(sf.Type) {
			f.Kind = "a list of rules"
		}
		if list, ok := sf.Tag.Lookup("oneof"); ok {
			f.OneOf = strings.Split(list, ",")
		}
		if sf.Type.Kind() == reflect.Struct {
			f.Parts = fieldsOf(sf.Type, name+".", f.path)
		} else {
			f.Merge = cmp.Or(Merge(tag("merge")), MergeOverride)
		}
		out = append(out, f)
	}
	return out
}

// Defaults is the configuration of a missing file. Each call returns a value
// that shares nothing with others.
func Defaults() Config {
	var c Config
	for _, f := range leaves() {
		if f.Default == "" {
			continue
		}
		if err := assign(&c, f, []byte(f.Default)); err != nil {
			// The tags are constants of this package; its tests read every one.
			panic(fmt.Sprintf("config: default of %s: %v", f.Name, err))
		}
	}
	return c
}
