package sandbox

import "loop/backend/core"

// originHost marks a value taken from a fact of the host; it is not a layer that anybody
// can write.
const originHost = "host"

// Origins that are no file's.
var (
	fromBuiltin = core.SettingsOrigin{Layer: core.LayerBuiltin}
	fromHost    = core.SettingsOrigin{Layer: originHost}
	fromChannel = core.SettingsOrigin{Layer: core.LayerChannel}
	fromRun     = core.SettingsOrigin{Layer: core.LayerRun}
)

// Setting is a value and where it was made.
type Setting[T any] struct {
	Value T
	From  core.SettingsOrigin
}

// Settings are those of one container, merged by whoever read them.
type Settings struct {
	Scope    Setting[string]  // ScopeSession or ScopeRun
	Access   Setting[string]  // workspace access: AccessRW or AccessRO
	Image    Setting[string]  // image reference; Subject.Image is what is run
	MemoryMB Setting[int]     // MiB
	CPUs     Setting[float64] // whole CPUs, fractions allowed
	Pids     Setting[int64]   // processes and threads
	Network  Setting[string]  // "bridge", "none", or the name of a network

	Mounts    []Setting[string] // host:container[:mode], one for each container path
	ExtraDirs []Setting[string] // further folders of the host to work in
	// CopyFiles are host files of which the container gets a copy under the same
	// path below its home.
	CopyFiles []Setting[string]
	// HTTPProxy and HTTPSProxy win over the host's when they are not empty.
	HTTPProxy, HTTPSProxy Setting[string]
	NoProxy               []Setting[string] // names and networks reached without
	// Inherit names variables of this computer that the container gets with the
	// value they have here: a name, or the beginning of one with a star after it.
	Inherit []Setting[string]
	Envs    map[string]Setting[any]
	// Gate has loop init refuse every program that comes without a policy.
	Gate Setting[bool]
}

// Who shares a container.
const (
	ScopeSession = "session" // the runs and terminals of a channel
	ScopeRun     = "run"     // nobody: it serves one run
)

// What an agent may do in its workspace.
const (
	AccessRW = "rw"
	AccessRO = "ro"
)

// stopGraceSec is from TERM to KILL when a container is stopped; Docker's own.
const stopGraceSec = 10
