package sandbox

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"reflect"

	"loop/backend/core"
)

// Alike reports whether two specs make the same container, but for its name and the run
// that it is made for: what is made by one serves the other.
func Alike(a, b core.Spec) bool {
	for _, s := range []*core.Spec{&a, &b} {
		s.Name, s.RunID, s.Labels = "", "", nil
	}
	return reflect.DeepEqual(a, b)
}

// Hash is the drift hash: 64 hex digits over everything that makes one
// container differ from another in kind. Names, labels, ids of runs and values
// of variables stay outside, so the same settings give the same hash. Arrays
// keep their order: sorting them would make two different specs look equal.
func Hash(spec core.Spec, imageID, guestHash, access string) string {
	names := make([]string, len(spec.Env))
	for i, e := range spec.Env {
		names[i] = e.Name
	}
	spec.Name, spec.Type, spec.ChannelID, spec.StateID, spec.RunID, spec.Plan = "", "", "", "", "", false
	spec.Image, spec.Env, spec.Labels, spec.StopGraceSec, spec.Hash = "", nil, nil, 0, ""
	raw, err := json.Marshal([]any{core.SpecVersion, imageID, guestHash, access, names, spec})
	if err != nil {
		// Only a NaN in Limits could do it, which no settings file can hold; an
		// empty hash never matches a label, and Validate refuses it.
		return ""
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}
