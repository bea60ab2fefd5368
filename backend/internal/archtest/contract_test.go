package archtest

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

// contract compares Go types with the TypeScript that is meant to describe
// them and collects what differs, in sentences.
type contract struct {
	decls    map[string]tsDecl
	consts   func(reflect.Type) []string // values of the constants of a named string type
	problems []string
	seen     map[string]bool // pairs under comparison or done
	used     map[string]bool // named TypeScript types that stand for something in Go
}

// direction is who writes the value: what Loop leaves out may be missing for
// the page, and what the page may leave out Loop must not need.
type direction bool

const (
	toPage direction = true
	toLoop direction = false
)

func (c *contract) complain(format string, args ...any) {
	if p := fmt.Sprintf(format, args...); !slices.Contains(c.problems, p) {
		c.problems = append(c.problems, p)
	}
}

var (
	timeType      = reflect.TypeFor[time.Time]()
	marshalerType = reflect.TypeFor[json.Marshaler]()
	textType      = reflect.TypeFor[encoding.TextMarshaler]()
)

// compare checks that a Go value of type g, as encoding/json writes it, is what
// t says. at names the place for the reader.
func (c *contract) compare(at string, g reflect.Type, t tsType, dir direction) {
	t, nullable, ok := c.resolve(at, t)
	if !ok || isBuiltin(t, "unknown", "any") {
		return
	}
	if g.Kind() == reflect.Pointer {
		if dir == toPage && !nullable {
			c.complain("%s may be null: its type in TypeScript lacks “| null”", at)
		}
		g = g.Elem()
	}
	switch {
	case g == timeType, g.Kind() != reflect.Struct && g.Implements(textType):
		c.expectBuiltin(at, g, t, "string")
	case g.Kind() == reflect.Interface, g.Implements(marshalerType), reflect.PointerTo(g).Implements(marshalerType):
		// Any value: the page looks at what it gets.
	default:
		c.compareKind(at, g, t, dir)
	}
}

func (c *contract) compareKind(at string, g reflect.Type, t tsType, dir direction) {
	switch g.Kind() {
	case reflect.Bool:
		c.expectBuiltin(at, g, t, "boolean")
	case reflect.String:
		c.compareString(at, g, t)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Float32, reflect.Float64:
		c.expectBuiltin(at, g, t, "number")
	case reflect.Slice, reflect.Array:
		if g.Elem().Kind() == reflect.Uint8 {
			c.expectBuiltin(at, g, t, "string") // base64
			return
		}
		if t.kind != tsList {
			c.complain("%s is a list in Go (%s) and %s in TypeScript", at, g, describe(t))
			return
		}
		c.compare(at+"[]", g.Elem(), t.parts[0], dir)
	case reflect.Map:
		if t.kind != tsMap {
			c.complain("%s is a map in Go (%s) and %s in TypeScript", at, g, describe(t))
			return
		}
		c.compare(at+"[…]", g.Elem(), t.parts[0], dir)
	case reflect.Struct:
		c.compareStruct(at, g, t, dir)
	default:
		c.complain("%s is a %s in Go, which JSON cannot hold", at, g)
	}
}

func (c *contract) compareString(at string, g reflect.Type, t tsType) {
	literals, ok := literalsOf(t)
	if !ok {
		c.expectBuiltin(at, g, t, "string")
		return
	}
	consts := c.consts(g)
	if len(consts) == 0 {
		return // a plain string in Go; which words come is not a matter of types
	}
	for _, v := range consts {
		if v != "" && !slices.Contains(literals, v) { // the empty one is left out of the JSON
			c.complain("%s may be %q (a constant of %s), which its type in TypeScript does not list", at, v, g)
		}
	}
	for _, v := range literals {
		if !slices.Contains(consts, v) {
			c.complain("%s lists %q in TypeScript, which is no constant of %s", at, v, g)
		}
	}
}

func (c *contract) expectBuiltin(at string, g reflect.Type, t tsType, want string) {
	if !isBuiltin(t, want) {
		c.complain("%s is a %s in Go (%s) and %s in TypeScript", at, want, g, describe(t))
	}
}

// compareStruct checks both sets of fields against each other.
func (c *contract) compareStruct(at string, g reflect.Type, t tsType, dir direction) {
	fields, named, ok := c.objectFields(at, t)
	if !ok {
		c.complain("%s is an object in Go (%s) and %s in TypeScript", at, g, describe(t))
		return
	}
	pair := g.String() + " " + named + fmt.Sprint(dir)
	if named != "" {
		if c.seen[pair] {
			return
		}
		c.seen[pair] = true
		at = named // messages name the type once, whatever led to it
	}
	inGo := jsonFields(g)
	for _, f := range fields {
		gf, ok := inGo[f.name]
		if !ok {
			c.complain("%s.%s is in TypeScript only: %s has no such field", at, f.name, g)
			continue
		}
		delete(inGo, f.name)
		typ := gf.typ
		if dir == toPage && gf.omitted && !f.optional {
			c.complain("%s.%s may be missing (%s leaves it out when it is empty): write %s?", at, f.name, g, f.name)
		}
		if typ.Kind() == reflect.Pointer && (gf.omitted || f.optional) {
			typ = typ.Elem() // missing, never null
		}
		c.compare(at+"."+f.name, typ, f.typ, dir)
	}
	for name, gf := range inGo {
		if dir == toPage || !gf.omitted {
			c.complain("%s.%s is in Go only: %s has it, TypeScript lacks it", at, name, g)
		}
	}
}

type jsonField struct {
	typ     reflect.Type
	omitted bool // when empty
}

// jsonFields are a struct's fields as encoding/json names them.
func jsonFields(g reflect.Type) map[string]jsonField {
	out := map[string]jsonField{}
	for _, f := range reflect.VisibleFields(g) {
		tag, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		if tag == "-" && opts == "" || !f.IsExported() || f.Anonymous && tag == "" {
			continue // an embedded struct's fields are visible by themselves
		}
		if tag == "" {
			tag = f.Name
		}
		omit := strings.Split(opts, ",")
		out[tag] = jsonField{typ: f.Type, omitted: slices.Contains(omit, "omitzero") ||
			slices.Contains(omit, "omitempty") && f.Type.Kind() != reflect.Struct} // on a struct omitempty does nothing
	}
	return out
}

// resolve follows aliases and takes null and undefined out of unions.
func (c *contract) resolve(at string, t tsType) (out tsType, nullable, ok bool) {
	for range 20 {
		switch {
		case t.kind == tsName && !isBuiltin(t, builtins...):
			d, found := c.decls[t.name]
			if !found {
				c.complain("%s: frontend/src/api has no type %s", at, t.name)
				return t, nullable, false
			}
			c.used[t.name] = true
			if d.err != nil {
				c.complain("%s: the type %s in %s is not understood: %v", at, t.name, d.file, d.err)
				return t, nullable, false
			}
			if d.typ.kind == tsObject || d.typ.kind == tsBoth {
				return t, nullable, true // keeps its name
			}
			t = d.typ
		case t.kind == tsUnion:
			rest := slices.DeleteFunc(slices.Clone(t.parts), func(p tsType) bool { return isBuiltin(p, "null", "undefined") })
			nullable = nullable || len(rest) < len(t.parts)
			if len(rest) != 1 {
				return tsType{kind: tsUnion, parts: rest}, nullable, true
			}
			t = rest[0]
		default:
			return t, nullable, true
		}
	}
	c.complain("%s: the types refer to each other in a circle", at)
	return t, nullable, false
}

// objectFields flattens intersections; named is the alias t goes by.
func (c *contract) objectFields(at string, t tsType) (fields []tsField, named string, ok bool) {
	t, _, ok = c.resolve(at, t)
	if !ok {
		return nil, "", false
	}
	if t.kind == tsName && !isBuiltin(t, builtins...) {
		named, t = t.name, c.decls[t.name].typ
	}
	switch t.kind {
	case tsObject:
		return t.fields, named, true
	case tsPartial:
		fields, _, ok = c.objectFields(at, t.parts[0])
		fields = slices.Clone(fields)
		for i := range fields {
			fields[i].optional = true
		}
		return fields, "", ok
	case tsBoth:
		for _, p := range t.parts {
			more, _, ok := c.objectFields(at, p)
			if !ok {
				return nil, "", false
			}
			fields = append(slices.Clone(fields), more...)
		}
		return fields, named, true
	}
	return nil, "", false
}

var builtins = []string{"string", "number", "boolean", "null", "undefined", "void", "unknown", "any", "object"}

func isBuiltin(t tsType, names ...string) bool {
	return t.kind == tsName && slices.Contains(names, t.name)
}

func literalsOf(t tsType) (out []string, ok bool) {
	parts := []tsType{t}
	if t.kind == tsUnion {
		parts = t.parts
	}
	for _, p := range parts {
		if p.kind != tsLiteral {
			return nil, false
		}
		out = append(out, p.name)
	}
	return out, true
}

func describe(t tsType) string {
	switch t.kind {
	case tsName:
		return t.name
	case tsLiteral:
		return fmt.Sprintf("%q", t.name)
	}
	return "a " + string(t.kind)
}
