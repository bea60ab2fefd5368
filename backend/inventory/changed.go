package inventory

import (
	"slices"
	"strconv"
	"strings"

	"loop/backend/core"
)

// changed picks the settings by which a container of now would differ from one with these
// facts. parts are those of core.ContainerDrift: only what they name is looked for, because
// the hash of a container says nothing of single fields.
func changed(origins []core.FieldOrigin, parts []string, f core.ContainerFacts) (out []core.FieldOrigin) {
	about := func(beginning string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.HasPrefix(p, beginning) })
	}
	mounts := map[string]string{} // what the container has, as an explanation says it
	for _, m := range f.Mounts {
		mode := " rw"
		if m.ReadOnly {
			mode = " ro"
		}
		mounts["mounts["+m.Target+"]"] = m.Source + mode
	}
	limits := map[string]float64{
		"limits.memory_bytes": float64(f.Limits.MemoryBytes), "limits.cpus": f.Limits.CPUs, "limits.pids": float64(f.Limits.Pids),
	}
	for _, o := range origins {
		limit, isLimit := limits[o.Field]
		differs := false
		switch {
		case isLimit && about("limits"):
			n, err := strconv.ParseFloat(o.Value, 64)
			differs = err != nil || n-limit > 1e-4 || limit-n > 1e-4
		case strings.HasPrefix(o.Field, "mounts[") && about("mounts"):
			differs = mounts[o.Field] != o.Value
		case o.Field == "image":
			differs = about("image")
		case o.Field == "scope":
			differs = about("who shares it")
		case o.Field == "network", o.Field == "env[LOOP_GATE_ENABLED]":
			differs = about("what it reaches")
		}
		if differs {
			out = append(out, o)
		}
	}
	return out
}
