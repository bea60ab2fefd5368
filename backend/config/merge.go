package config

import (
	"cmp"
	"os"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"loop/backend/sandbox"
)

// joined is the value of f when doc's joins base's. The result shares nothing with
// base that the caller could change.
func joined(f Field, base, doc *Config, worktree bool) reflect.Value {
	old, now := f.in(base), f.in(doc)
	switch f.Merge {
	case MergeTarget:
		return reflect.ValueOf(joinMounts(texts(old), texts(now)))
	case MergeKey:
		out := reflect.MakeMap(now.Type())
		for _, m := range []reflect.Value{old, now} {
			for it := m.MapRange(); it.Next(); {
				out.SetMapIndex(it.Key(), it.Value())
			}
		}
		return out
	case MergeAppend:
		if isRules(now.Type()) {
			return reflect.AppendSlice(old.Slice3(0, old.Len(), old.Len()), now)
		}
		return joinLists(old, now)
	case MergeUnion:
		if worktree {
			return joinLists(old, now)
		}
	}
	return now
}

func joinLists(old, now reflect.Value) reflect.Value {
	var out []string
	there := map[string]bool{}
	for _, s := range slices.Concat(texts(old), texts(now)) {
		if !there[s] {
			there[s] = true
			out = append(out, s)
		}
	}
	return reflect.ValueOf(out)
}

// texts is a list of Config; that of rules has none.
func texts(v reflect.Value) []string {
	list, _ := v.Interface().([]string)
	return list
}

// joinMounts lets a later mount take the place of one with the same target.
func joinMounts(old, now []string) []string {
	all := slices.Concat(old, now)
	last := make(map[string]int, len(all))
	for i, m := range all {
		last[MountTarget(m)] = i
	}
	out := make([]string, 0, len(last))
	for i, m := range all {
		if last[MountTarget(m)] == i {
			out = append(out, m)
		}
	}
	return out
}

// MountTarget is the container path of host:container[:mode]; a text that is no mount
// is its own target.
func MountTarget(text string) string {
	_, rest, ok := cutMount(text)
	if !ok {
		return text
	}
	target, _, _ := strings.Cut(rest, ":")
	if below, ok := strings.CutPrefix(target, "~"); ok && (below == "" || below[0] == '/') {
		if home, err := os.UserHomeDir(); err == nil {
			target = home + below
		}
	}
	return path.Clean(target)
}

// same compares values of one field; an empty list or object is as good as none.
func same(a, b reflect.Value) bool {
	if k := a.Kind(); (k == reflect.Slice || k == reflect.Map) && a.Len() == 0 && b.Len() == 0 {
		return true
	}
	return reflect.DeepEqual(a.Interface(), b.Interface())
}

// tightens reports whether now allows an agent no more than old.
func tightens(f Field, old, now reflect.Value) bool {
	switch old.Kind() {
	case reflect.Bool: // browser_enabled: less is off
		return old.Bool() || !now.Bool()
	case reflect.Int:
		if f.never && (old.Int() == 0 || now.Int() == 0) {
			return old.Int() == 0
		}
		return cmp.Compare(now.Int(), old.Int()) <= 0
	case reflect.Float64:
		return cmp.Compare(now.Float(), old.Float()) <= 0
	case reflect.String:
		if f.Name == "gates.agentgate.default_decision" {
			return slices.Index(decisions, now.String()) >= slices.Index(decisions, old.String())
		}
		if f.Name == "container_scope" {
			return slices.Index(scopes, now.String()) >= slices.Index(scopes, old.String())
		}
		if f.Name == "workspace_access" {
			return slices.Index(accesses, now.String()) >= slices.Index(accesses, old.String())
		}
		return now.String() == networkNone // container_network, claude_setup
	case reflect.Slice: // tools that are taken away, and rules, which make nothing looser
		return f.Merge == MergeAppend
	}
	return false
}

// networkNone is the network of a container without one.
const networkNone = "none"

// scopes are those of containers, the widest first.
var scopes = []string{sandbox.ScopeShared, sandbox.ScopeAgent, sandbox.ScopeSession, sandbox.ScopeRun}

// accesses are those to a channel's folder, the widest first. What layout they are for is
// not known here: without one it may be all.
var accesses = []string{"", sandbox.AccessRW, sandbox.AccessRO, sandbox.AccessNone}

// entry is one element of a list or an object, under the name that Origins has
// for it, and the name under which a document keeps its place.
type entry struct{ name, place string }

// entries of the value that a configuration has for f. Mounts go by their
// container path, other lists by the text, objects by the key.
func entries(f Field, c *Config) []entry {
	v := f.in(c)
	var out []entry
	switch v.Kind() {
	case reflect.Slice:
		for i, text := range texts(v) {
			if f.Merge == MergeTarget {
				text = MountTarget(text)
			}
			out = append(out, entry{f.Name + "[" + text + "]", f.Name + "[" + strconv.Itoa(i) + "]"})
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			name := f.Name + "." + k.String()
			out = append(out, entry{name, name})
		}
	}
	return out
}
