package sandbox

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"loop/backend/core"
)

// Hash is the drift hash: 64 hex digits over everything that makes one
// container differ from another in kind. Names, labels, ids of runs and values
// of variables stay outside, so the same settings give the same hash. Keys are
// sorted (encoding/json sorts maps), arrays keep their order: sorting them
// would make two different specs look equal.
func Hash(spec core.Spec, imageID, guestHash, access string) string {
	names := make([]string, len(spec.Env))
	for i, e := range spec.Env {
		names[i] = e.Name
	}
	parts := map[string]any{
		"version":           core.SpecVersion,
		"image_id":          imageID,
		"guest_hash":        guestHash,
		"access":            access,
		"mounts":            spec.Mounts,
		"tmpfs":             spec.Tmpfs,
		"env_names":         names,
		"limits":            spec.Limits,
		"network":           spec.Network,
		"extra_hosts":       spec.ExtraHosts,
		"cap_add":           spec.CapAdd,
		"cap_drop":          spec.CapDrop,
		"no_new_privileges": spec.NoNewPrivileges,
		"read_only_root":    spec.ReadOnlyRoot,
		"user":              spec.User,
		"agent":             spec.Agent,
		"work_dir":          spec.WorkDir,
		"entrypoint":        spec.Entrypoint,
		"cmd":               spec.Cmd,
	}
	if len(spec.Copies) > 0 { // the hash of a spec without any is as it was
		parts["copies"] = spec.Copies
	}
	if spec.ShmBytes > 0 {
		parts["shm_bytes"] = spec.ShmBytes
	}
	raw, err := json.Marshal(parts)
	if err != nil {
		// Only a NaN in Limits could do it, which no settings file can hold; an
		// empty hash never matches a label, and Validate refuses it.
		return ""
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}
