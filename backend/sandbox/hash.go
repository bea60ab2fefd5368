package sandbox

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"loop/backend/core"
	"loop/backend/wire"
)

// Hash is the drift hash: 64 hex digits over everything that makes one
// container differ from another in kind. Names, labels, ids of runs, values of
// variables and the files that each program gets a copy of stay outside, so the
// same settings give the same hash. Arrays keep their order: sorting them would
// make two different specs look equal.
func Hash(spec core.Spec, imageID, guestHash, access string) string {
	names := make([]string, 0, len(spec.Env))
	for _, e := range spec.Env {
		if e.Name != wire.EndUnvisited && e.Name != wire.Places { // which go with the scope and the mounts
			names = append(names, e.Name)
		}
	}
	spec.Name, spec.Type, spec.ChannelID, spec.StateID, spec.RunID, spec.Plan = "", "", "", "", "", false
	spec.Image, spec.Env, spec.Labels, spec.StopGraceSec, spec.Hash = "", nil, nil, 0, ""
	if spec.Scope == ScopeShared {
		spec.WorkDir = "" // of whoever asks; each program has its own
	}
	spec.Mounts, spec.Setup.Dir = withoutSetup(spec), ""
	spec.Scope, spec.Fixed, spec.Copies, spec.Seed, spec.Life = "", "", nil, core.WorkspaceSeed{}, core.Life{}
	return digest(core.SpecVersion, imageID, guestHash, access, names, spec)
}

// fixed is a hash over what a container reaches and who its programs are: mounts with
// what covers them, network, user, rights of the kernel, whether it is supervised, and how it
// was set up.
// A container in which that is not as the settings have it takes no new work. Sizes stay
// outside.
func fixed(spec core.Spec) string {
	covers := make([]string, len(spec.Tmpfs))
	for i, t := range spec.Tmpfs {
		covers[i] = t.Target
	}
	gated := slices.ContainsFunc(spec.Env, func(e core.EnvVar) bool { return e.Name == wire.GateEnabled })
	parts := []any{
		core.SpecVersion, spec.Plan, withoutSetup(spec), covers, spec.Network, spec.ExtraHosts, spec.DNS, spec.GPUs,
		spec.AppArmor, spec.User, spec.Agent,
		spec.CapDrop, spec.CapAdd, spec.NoNewPrivileges, spec.ReadOnlyRoot, spec.Seccomp, gated,
	}
	if spec.Setup.Command != "" { // another one has made another container
		parts = append(parts, spec.Setup.Command, spec.Setup.Network)
	}
	if strings.HasPrefix(spec.Image, core.ProjectImagePrefix) { // the person has just decided on it
		parts = append(parts, spec.Image)
	}
	return digest(parts...)
}

// withoutSetup are the mounts less the folder of the set-up, which goes with the scope.
func withoutSetup(spec core.Spec) []core.Mount {
	return slices.DeleteFunc(slices.Clone(spec.Mounts), func(m core.Mount) bool { return m.Target == wire.SetupDir })
}

func digest(of ...any) string {
	raw, err := json.Marshal(of)
	if err != nil {
		// Only a NaN in Limits could do it, which no settings file can hold; an
		// empty hash never matches a label, and Validate refuses it.
		return ""
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}
