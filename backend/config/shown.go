package config

import (
	"maps"

	"loop/backend/core"
)

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
		if f.check == "proxy" {
			return shownProxy(v)
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

// Said is the value that the layer's file gives a field, in force or not, as it was
// written, credentials hidden.
func (l Layer) Said(f Field) (value any, from Origin, ok bool) {
	if !l.doc.has(f.Name) {
		return nil, Origin{}, false
	}
	return f.Shown(l.doc.written), l.doc.origin(l.Name, l.Path, f.Name), true
}
