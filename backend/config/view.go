package config

import (
	"maps"
	"reflect"

	"loop/backend/core"
)

// Type is the kind of the field in one word: text, integer, number, boolean,
// list or object.
func (f Field) Type() string {
	switch f.typ.Kind() {
	case reflect.String:
		return "text"
	case reflect.Int:
		return "integer"
	case reflect.Float64:
		return "number"
	case reflect.Bool:
		return "boolean"
	case reflect.Slice:
		return "list"
	}
	return "object"
}

// Shown is the field's value in c for people: credentials in it are Hidden.
// The field must hold a value itself (see Leaves).
func (f Field) Shown(c Config) any {
	v := f.in(&c).Interface()
	switch v := v.(type) {
	case Secret:
		if v == "" {
			return ""
		}
		return Hidden
	case string:
		if f.check == "proxy" && hasPassword(v) {
			return hideUser(v)
		}
	case []string:
		if v == nil {
			return []string{}
		}
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, value := range v {
			if text, ok := value.(string); ok {
				value = shownEnv(name, text)
			} else if value != nil && core.NamesSecret(name) {
				value = Hidden
			}
			out[name] = value
		}
		return out
	case map[string]MCPServer:
		out := make(map[string]MCPServer, len(v))
		for name, s := range v {
			s.Env = maps.Clone(s.Env)
			for key, value := range s.Env {
				s.Env[key] = shownEnv(key, value)
			}
			out[name] = s
		}
		return out
	}
	return v
}

// shownEnv is the value of an environment variable for people.
func shownEnv(name, value string) string {
	switch {
	case value == "":
		return ""
	case core.NamesSecret(name):
		return Hidden
	case core.HoldsLogin(value):
		return hideUser(value)
	}
	return value
}

// Said is what the layer's file says about a field, as it was written and in
// force or not, credentials hidden.
func (l Layer) Said(f Field) (value any, from Origin, ok bool) {
	if l.doc == nil {
		return nil, Origin{}, false
	}
	if !l.doc.has(f.Name) {
		return nil, Origin{}, false
	}
	line, col := position(l.doc.text, l.doc.set[f.Name])
	return f.Shown(l.doc.written), Origin{Layer: l.Name, Path: l.Path, Line: line, Col: col}, true
}
