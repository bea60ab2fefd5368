package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/tailscale/hujson"
)

// fill takes what is used from the text of a devcontainer.json, and returns all its fields. A
// name counts only as it is written here: to Go's decoder “Image” is “image” too, and leftOut
// would name a field that was used.
func (d *devcontainer) fill(text []byte) (fields map[string]json.RawMessage, err error) {
	plain, err := hujson.Standardize(slices.Clone(text))
	if err != nil {
		return nil, err
	}
	if err = json.Unmarshal(plain, &fields); err != nil {
		return nil, err
	}
	used := only(fields, devUsed)
	if used["build"] != nil {
		var build map[string]json.RawMessage
		if err = json.Unmarshal(used["build"], &build); err != nil {
			return nil, err
		}
		if used["build"], err = json.Marshal(only(build, devBuild)); err != nil {
			return nil, err
		}
	}
	exact, err := json.Marshal(used)
	if err != nil {
		return nil, err
	}
	return fields, json.Unmarshal(exact, d)
}

// only are the fields of these names.
func only(fields map[string]json.RawMessage, names []string) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	for _, name := range names {
		if raw, there := fields[name]; there {
			out[name] = raw
		}
	}
	return out
}

// leftOut names what is not done.
func leftOut(fields map[string]json.RawMessage) (notes []string) {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		why, known := devLeftOut[name]
		switch raw := string(fields[name]); {
		case slices.Contains(devUsed, name) || slices.Contains(devIgnored, name):
		case raw == "null" || raw == "false" || raw == "[]" || raw == "{}" || raw == `""`:
		case known:
			notes = append(notes, fmt.Sprintf("“%s” of the devcontainer is left out. %s", name, why))
		default:
			notes = append(notes, fmt.Sprintf("“%s” of the devcontainer is left out: Loop does not know it.", cut(name)))
		}
	}
	var build map[string]json.RawMessage
	if json.Unmarshal(fields["build"], &build) == nil {
		for _, name := range slices.Sorted(maps.Keys(build)) {
			if !slices.Contains(devBuild, name) {
				notes = append(notes, fmt.Sprintf("“build.%s” of the devcontainer is left out.", cut(name)))
			}
		}
	}
	return notes
}
