package config

import (
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
	Kind    string // text, whole number, number, true or false, list of texts, object
	Default string // JSON text; empty is the zero value
	Min     string
	Max     string
	OneOf   []string
	Unit    string
	Doc     string
	Secret  bool
	Parts   []Field // of a nested object

	index int
	check string
	typ   reflect.Type
}

var describe = sync.OnceValue(func() []Field { return fieldsOf(reflect.TypeFor[Config](), "") })

// Fields lists the fields of Config in order.
func Fields() []Field { return slices.Clone(describe()) }

func fieldsOf(t reflect.Type, prefix string) []Field {
	var out []Field
	for i := range t.NumField() {
		sf := t.Field(i)
		f := Field{
			Name: prefix + sf.Tag.Get("json"), Default: sf.Tag.Get("default"), Min: sf.Tag.Get("min"), Max: sf.Tag.Get("max"),
			Unit: sf.Tag.Get("unit"), Doc: sf.Tag.Get("doc"), Secret: sf.Type == reflect.TypeFor[Secret](),
			index: i, check: sf.Tag.Get("check"), typ: sf.Type,
		}
		if list, ok := sf.Tag.Lookup("oneof"); ok {
			f.OneOf = strings.Split(list, ",")
		}
		f.Kind = kindOf(sf.Type)
		if sf.Type.Kind() == reflect.Struct {
			f.Parts = fieldsOf(sf.Type, f.Name+".")
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

func keys(m map[string]any) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
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
