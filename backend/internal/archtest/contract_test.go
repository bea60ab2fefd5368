package archtest

import (
	"cmp"
	"encoding"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"loop/backend/core"
)

// contract writes TypeScript for Go types, as encoding/json writes their values.
// Constants and comments come from the sources, because reflection does not know them.
type contract struct {
	src     sources
	types   map[reflect.Type]string // declarations by type; "" while one is being written
	names   map[string]reflect.Type
	emptied map[reflect.Type]bool // enums whose empty value is written, not left out
}

func newContract(src sources) *contract {
	return &contract{src: src, types: map[reflect.Type]string{}, names: map[string]reflect.Type{}, emptied: map[reflect.Type]bool{}}
}

var (
	timeType      = reflect.TypeFor[time.Time]()
	marshalerType = reflect.TypeFor[json.Marshaler]()
	textType      = reflect.TypeFor[encoding.TextMarshaler]()
)

// of returns TypeScript's name of t. A pointer or a list may be null.
func (c *contract) of(t reflect.Type) string {
	switch bare, orNull := c.bare(t), " | null"; t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		if bare == "string" && t.Kind() == reflect.Slice || bare == "unknown" {
			return bare
		}
		return bare + orNull
	default:
		return bare
	}
}

// bare is of without null.
func (c *contract) bare(t reflect.Type) string {
	if t.Kind() == reflect.Pointer {
		return c.bare(t.Elem())
	}
	switch {
	case t == timeType, t.Kind() != reflect.Struct && t.Implements(textType):
		return "string"
	case t.Kind() == reflect.Interface, t.Implements(marshalerType), reflect.PointerTo(t).Implements(marshalerType):
		return "unknown" // any value, which the page checks itself
	}
	switch t.Kind() {
	case reflect.Bool:
		return "boolean"
	case reflect.String:
		if t.PkgPath() == "" {
			return "string"
		}
		return c.declare(t)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8,
		reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Float32, reflect.Float64:
		return "number"
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return "string" // base64
		}
		if elem := c.of(t.Elem()); strings.Contains(elem, " ") {
			return "(" + elem + ")[]"
		} else {
			return elem + "[]"
		}
	case reflect.Map:
		return "Record<string, " + c.of(t.Elem()) + ">"
	case reflect.Struct:
		if t.Name() != "" {
			return c.declare(t)
		}
	}
	panic(fmt.Sprintf("the page's contract cannot say %s", t))
}

// declare adds a named type and every type that it refers to.
func (c *contract) declare(t reflect.Type) string {
	name := cmp.Or(pageNames[t], t.Name())
	if _, ok := c.types[t]; ok {
		return name
	}
	if other, taken := c.names[name]; taken {
		panic(fmt.Sprintf("%s and %s are both called %s: give one a name in pageNames", other, t, name))
	}
	c.types[t], c.names[name] = "", t
	switch {
	case t == reflect.TypeFor[core.Event](): // the type of an event says what data it has
		of := strings.NewReplacer("type: EventType;", "type: T;", "data?: unknown;", "data: EventData[T];")
		c.types[t] = "{ [T in EventType]: " + of.Replace(c.object(t)) + " }[EventType]"
	case t.Kind() == reflect.Struct:
		c.types[t] = c.object(t)
	}
	return name
}

func (c *contract) object(t reflect.Type) string {
	var b strings.Builder
	var also []string
	for i := range t.NumField() {
		f := t.Field(i)
		name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			also = append(also, c.bare(f.Type)+" & ")
			continue
		case !f.IsExported() || name == "-" && opts == "":
			continue
		}
		omit := strings.Split(opts, ",")
		omitted := slices.Contains(omit, "omitzero") ||
			slices.Contains(omit, "omitempty") && f.Type.Kind() != reflect.Struct // on a struct omitempty does nothing
		var typ, optional string
		if omitted {
			typ, optional = c.bare(f.Type), "?"
		} else {
			typ = c.of(f.Type)
			c.emptied[f.Type] = true
		}
		fmt.Fprintf(&b, "  %s%s: %s;%s\n", cmp.Or(name, f.Name), optional, typ, c.src.comment(t, f.Name))
	}
	return strings.Join(also, "") + "{\n" + b.String() + "}"
}

// enum is the union of a named string's constants. The empty constant belongs to it
// only where it is written. Mostly it is left out of the JSON.
func (c *contract) enum(t reflect.Type) string {
	var words []string
	for _, v := range c.src.constants(t) {
		if v != "" || c.emptied[t] {
			words = append(words, fmt.Sprintf("%q", v))
		}
	}
	union := strings.Join(words, " | ")
	switch {
	case len(words) == 0 || t == reflect.TypeFor[core.Code](): // the page has codes of its own, too
		return "string"
	case len(union) > 100:
		return "\n  | " + strings.Join(words, "\n  | ")
	}
	return union
}

// declarations lists all types met so far, sorted by name.
func (c *contract) declarations() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(c.names)) {
		t := c.names[name]
		fmt.Fprintf(&b, "export type %s = %s;\n\n", name, cmp.Or(c.types[t], c.enum(t)))
	}
	return b.String()
}
