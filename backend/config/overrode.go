package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"loop/backend/core"
)

// overrides notes the value that a setting has in was, before another layer's takes its
// place, and for mounts and variables those of the entries that the layer brings anew. Other
// lists and objects grow rather than being overridden, and the address of a proxy may hold a
// password.
func (e *Effective) overrides(f Field, was, now *Config, from core.SettingsOrigin) {
	if f.Secret || strings.HasPrefix(f.Name, "proxies.") {
		return
	}
	if v := f.in(was); isSingle(v) {
		e.note(f.Name, fmt.Sprint(v.Interface()), from)
	}
	if f.Merge != MergeTarget && f.Merge != MergeKey {
		return
	}
	old := entryValues(f, was)
	for _, en := range entries(f, now) {
		if value, there := old[en.name]; there {
			e.note(en.name, value, e.Origins[en.name])
		}
	}
}

// overridesTemplate notes what another level said of a field that only templates of agents
// have.
func (e *Effective) overridesTemplate(own string, was reflect.Value) {
	from, said := e.Origins[own]
	switch {
	case !said:
	case isSingle(was):
		e.note(own, fmt.Sprint(was.Interface()), from)
	case was.Kind() == reflect.Slice:
		e.note(own, strings.Join(texts(was), ", "), from)
	}
}

func (e *Effective) note(name, value string, from core.SettingsOrigin) {
	e.overrode[name] = &core.OverriddenSetting{Setting: name, Value: value, Layer: from.Layer, Path: from.Path, Line: from.Line}
}

func isSingle(v reflect.Value) bool {
	return slices.Contains([]reflect.Kind{reflect.String, reflect.Bool, reflect.Int, reflect.Int64, reflect.Float64}, v.Kind())
}

// entryValues are the entries of a list or an object by their names, but for those that hold
// a credential or take a variable away.
func entryValues(f Field, c *Config) map[string]string {
	out := map[string]string{}
	v := f.in(c)
	switch v.Kind() {
	case reflect.Slice:
		for i, en := range entries(f, c) {
			out[en.name] = texts(v)[i]
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			value := it.Value().Interface()
			if text := fmt.Sprint(value); value != nil && !core.NamesSecret(it.Key().String()) && !core.HoldsLogin(text) {
				out[f.Name+"."+it.Key().String()] = text
			}
		}
	}
	return out
}

// origin is where the value of a setting was made, with what it overrode.
func (e Effective) origin(name string) core.SettingsOrigin {
	o := e.Origins[name]
	o.Overrode = e.overrode[name]
	return o
}
