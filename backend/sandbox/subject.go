package sandbox

import "loop/backend/core"

// Subject is what a container is made for.
type Subject struct {
	Channel     core.Channel
	RunID       core.RunID
	Type        core.ContainerType
	Image       string // reference shown to the person
	ImageID     string // the engine's immutable id of it
	GuestVolume string // loop-guest-<hash>
	InstallID   string
	NameSuffix  string // six lower-case hex digits, random, from the caller; unused with a scope
	// Shared says that whoever has the container's scope may share it, as far as the
	// settings have one.
	Shared bool
	Plan   bool // for a run that plans first: every mount but the state is read-only
	// Others are the channels that may share the container, where all do, the channel itself
	// among them or not. Their folders are in it, too.
	Others []core.Channel
	// ParentDir is the main worktree of a worktree channel, else empty.
	ParentDir string
	// ModelOnRelay says that the run's model is reached through the relay (the
	// demo, or a base URL that the host resolves), so no network is needed.
	ModelOnRelay bool
}

// PathKind is what stands at a host path, symbolic links followed.
type PathKind string

const (
	PathMissing PathKind = "missing"
	PathDir     PathKind = "dir"
	PathFile    PathKind = "file"
	PathSocket  PathKind = "socket"
	PathOther   PathKind = "other"  // device, named pipe …
	PathDenied  PathKind = "denied" // it could not be looked at
)

// PathFact is what is known of one host path.
type PathFact struct {
	Kind PathKind `json:"kind"`
	// Target is the path with every symbolic link resolved. For a path that is
	// missing, its deepest existing ancestor is resolved and the rest appended.
	// Empty means the same as the path asked for.
	Target string `json:"target,omitempty"`
	// Error is the system's word when Kind is denied.
	Error string `json:"error,omitempty"`
}

// Host is everything Resolve knows of the machine Loop runs on.
type Host struct {
	OS string // runtime.GOOS of the host: linux, darwin, windows

	User     string // login name, as the system says it
	UID, GID int    // -1 on Windows
	Home     string // absolute host path
	LoopHome string // absolute host path

	TimeZone    string // IANA name
	GitExcludes string // value of core.excludesFile, absolute; empty when unset

	// Env holds this computer's variables. Those of proxies are taken, in either
	// letter case, and those that Settings.Inherit names.
	Env map[string]string

	EngineOS   string // linux
	EngineArch string // amd64, arm64
	EngineCPUs int    // 0 when not known

	// FileSystems are the places where one is mounted, where that is known.
	FileSystems []string

	// Look says what stands at an absolute host path, the same each time it is asked
	// about one. Without it nothing is known of any.
	Look func(path string) PathFact
}

// fact looks at a path. One that cannot be looked at counts as denied: an unknown
// is never taken for harmless.
func (h Host) fact(p string) PathFact {
	f := PathFact{Kind: PathDenied, Error: "nobody looked at this path"}
	if h.Look != nil && h.style().abs(p) && plainText(p) == nil {
		f = h.Look(p)
	}
	if f.Target == "" {
		f.Target = p
	}
	return f
}

// resolved is the path with its links followed, as far as it can be looked at.
func (h Host) resolved(p string) string { return h.fact(p).Target }

func (h Host) style() pathStyle { return pathStyle{windows: h.OS == "windows", fold: h.OS != "linux"} }

// agentUser is who the agent is: the host's own ids, so that files it makes
// belong to the person. Windows has no uid; 1000 is the first ordinary one on
// Debian, and Docker Desktop maps ownership by itself.
func (h Host) agentUser(home string) core.AgentUser {
	uid, gid := h.UID, h.GID
	if uid < 0 || gid < 0 {
		uid, gid = 1000, 1000
	}
	return core.AgentUser{Name: agentName(h.User, uid), UID: uid, GID: gid, Home: home}
}
