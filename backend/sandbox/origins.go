package sandbox

import (
	"time"

	"loop/backend/core"
)

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
	Scope    Setting[string]  // one of ScopeShared, ScopeAgent, ScopeSession and ScopeRun
	Layout   Setting[string]  // LayoutMirror or LayoutWorkspace; empty is the first
	Access   Setting[string]  // to the workspace: AccessRW, AccessRO or AccessNone
	Workdir  Setting[string]  // of LayoutWorkspace; empty is WorkspaceDir
	Image    Setting[string]  // image reference; Subject.Image is what is run
	MemoryMB Setting[int]     // MiB
	CPUs     Setting[float64] // whole CPUs, fractions allowed
	Pids     Setting[int64]   // processes and threads
	Network  Setting[string]  // "bridge", "none", or the name of a network
	// Idle and MaxAge end a shared container that nobody holds; 0 is never.
	Idle, MaxAge Setting[time.Duration]

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

	// Agent is the agent that the channel belongs to.
	Agent string
	// Prefix begins the container's name; empty is DefaultPrefix.
	Prefix Setting[string]
	// WritableRoot lets programs change the image's files in their container, which is
	// otherwise read-only but for mounts and folders in memory.
	WritableRoot Setting[bool]
	Tmpfs        []Setting[string] // further folders in memory; see ParseTmpfs
	User         Setting[string]   // uid or uid:gid of the agent; empty is the person's
	SwapBytes    Setting[int64]    // memory and swap together; 0 leaves it to the engine
	Ulimits      Setting[[]core.Ulimit]
	GPUs         Setting[bool]
	Seccomp      Setting[string]   // the text of a profile; empty is the engine's own
	AppArmor     Setting[string]   // the name of a profile; empty is the engine's own
	DNS          []Setting[string] // addresses
	ExtraHosts   []Setting[string] // name:address
	// BindRoots are folders of the host that mounts of an agent's template may come from,
	// besides those that the agent works in. AnyBinds lets them come from anywhere else,
	// too, as far as any mount may.
	BindRoots []Setting[string]
	AnyBinds  Setting[bool]
	// Setup is a shell command that root runs once in the container, and SetupNetwork the
	// network that it has then: bridge, none, or empty for the container's own, which is
	// bridge where that is none.
	Setup, SetupNetwork Setting[string]
}

// Who shares a container, the widest first.
const (
	ScopeShared  = "shared"  // all channels of this Loop folder that may
	ScopeAgent   = "agent"   // the channels of an agent that work in one folder
	ScopeSession = "session" // the runs and terminals of a channel
	ScopeRun     = "run"     // nobody: it serves one run
)

// What an agent may do in its workspace.
const (
	AccessRW   = "rw"
	AccessRO   = "ro"
	AccessNone = "none" // it does not see it, and has a copy
)

// Where an agent finds its workspace.
const (
	LayoutMirror    = "mirror"    // under the path that it has on the host
	LayoutWorkspace = "workspace" // at WorkspaceDir, with the original at OriginalDir where it is seen beside a copy
)

// DefaultAccess is the access of a layout where the settings have none.
func DefaultAccess(layout string) string {
	if layout == LayoutWorkspace {
		return AccessNone
	}
	return AccessRW
}

// stopGraceSec is from TERM to KILL when a container is stopped; Docker's own.
const stopGraceSec = 10
