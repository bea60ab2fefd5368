package core

// SpecVersion is the value of the loop-spec label: the version of Spec's shape.
const SpecVersion = "2"

// MountKind says why a mount is there; validation and the explanation go by it.
type MountKind string

const (
	MountWorkspace  MountKind = "workspace"
	MountState      MountKind = "state"
	MountSurface    MountKind = "surface"
	MountVolume     MountKind = "volume"
	MountExtra      MountKind = "extra"
	MountCredential MountKind = "credential"
	MountSystem     MountKind = "system"
)

// Mount is one bind or named volume.
type Mount struct {
	Kind     MountKind `json:"kind"`
	Source   string    `json:"source"` // host path, or the volume's name when Volume
	Target   string    `json:"target"` // absolute path in the container
	ReadOnly bool      `json:"read_only,omitempty"`
	Volume   bool      `json:"volume,omitempty"`
	NoCopy   bool      `json:"no_copy,omitempty"` // volume: do not fill from the image
}

// FileCopy is a file of the host of which the container gets a copy of its own,
// put into the state folder that Target lies in before the container is made.
type FileCopy struct {
	Source string `json:"source"` // absolute host path, links followed
	Target string `json:"target"` // absolute path in the container, below the agent's home
}

// Tmpfs is a memory file system in the container.
type Tmpfs struct {
	Target  string `json:"target"`
	Options string `json:"options"` // e.g. "size=64m,mode=0755"
}

// EnvVar is one variable of a container or a spawn. Lane says where it came
// from: app, operator or inherited.
type EnvVar struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Lane   string `json:"lane"`
	Secret bool   `json:"secret,omitempty"`
}

// AgentUser is the user that the agent runs as in the container. UID 0 means a root host: the agent
// keeps uid 0 without any capability.
type AgentUser struct {
	Name string `json:"name"`
	UID  int    `json:"uid"`
	GID  int    `json:"gid"`
	Home string `json:"home"`
}

// Limits bound a container.
type Limits struct {
	MemoryBytes int64   `json:"memory_bytes"`
	CPUs        float64 `json:"cpus"`
	Pids        int64   `json:"pids"`
	// SwapBytes is memory and swap together; 0 leaves it to the engine.
	SwapBytes int64 `json:"swap_bytes,omitempty"`
}

// Ulimit bounds each process of a container; -1 is no bound.
type Ulimit struct {
	Name string `json:"name"` // as the engine has it, for example nofile
	Soft int64  `json:"soft"`
	Hard int64  `json:"hard"`
}

// Spec is everything the engine needs to make a container. It is data: complete,
// comparable and free of secrets.
type Spec struct {
	Name      string        `json:"name"`
	Type      ContainerType `json:"type"`
	ChannelID ChannelID     `json:"channel_id"`
	StateID   ChannelID     `json:"state_id,omitempty"` // whose Claude folder it has, when not ChannelID's
	RunID     RunID         `json:"run_id,omitempty"`
	Plan      bool          `json:"plan,omitempty"` // nothing but the channel's state can be written
	// Scope names those who share the container, for example “session:<channel>”. Without
	// one it serves whoever it was made for, and ends with it.
	Scope string `json:"scope,omitempty"`
	// Dirs are the folders in the container in which channels work that share it with all
	// others; WorkDir is that of whoever asks for it.
	Dirs            []string          `json:"dirs,omitempty"`
	Life            Life              `json:"life,omitzero"` // with a scope
	Image           string            `json:"image"`
	Entrypoint      []string          `json:"entrypoint"`
	Cmd             []string          `json:"cmd,omitempty"`
	Env             []EnvVar          `json:"env"` // sorted by name
	Labels          map[string]string `json:"labels"`
	Mounts          []Mount           `json:"mounts"` // in the order they are mounted
	Tmpfs           []Tmpfs           `json:"tmpfs"`
	Copies          []FileCopy        `json:"copies,omitempty"`
	Seed            WorkspaceSeed     `json:"seed,omitzero"` // empty where the agent works in the folder itself
	WorkDir         string            `json:"work_dir"`
	User            string            `json:"user"` // of PID 1; the agent's is Agent
	Agent           AgentUser         `json:"agent"`
	Limits          Limits            `json:"limits"`
	ShmBytes        int64             `json:"shm_bytes,omitempty"` // of /dev/shm; 0 is the engine's 64 MiB
	CapDrop         []string          `json:"cap_drop"`
	CapAdd          []string          `json:"cap_add"`
	NoNewPrivileges bool              `json:"no_new_privileges"`
	ReadOnlyRoot    bool              `json:"read_only_root"`
	Seccomp         string            `json:"seccomp,omitempty"` // the engine's JSON; empty is its own profile
	Network         string            `json:"network"`
	ExtraHosts      []string          `json:"extra_hosts,omitempty"`
	DNS             []string          `json:"dns,omitempty"` // addresses of servers, instead of the engine's
	Ulimits         []Ulimit          `json:"ulimits,omitempty"`
	AppArmor        string            `json:"apparmor,omitempty"` // a profile's name; empty is the engine's
	GPUs            bool              `json:"gpus,omitempty"`     // all of them
	StopGraceSec    int               `json:"stop_grace_sec"`
	Setup           ContainerSetup    `json:"setup,omitzero"`
	Hash            string            `json:"hash"`
	// Fixed is a hash over what of this may never differ from the settings while the
	// container takes new work: what it reaches, and whether it is supervised.
	Fixed string `json:"fixed"`
}

// ContainerSetup is run once in a container, as root, before anything else is.
type ContainerSetup struct {
	Command string `json:"command"`           // for /bin/sh
	Network string `json:"network,omitempty"` // of the set-up alone; empty is the container's
	// Dir is a folder of this computer from which loop init takes the command: it is there
	// for as long as the set-up is to be done, and nobody in the container can put it there.
	Dir string `json:"dir"`
}

// WorkspaceSeed is a copy of a folder that the agent works in instead of the folder itself.
type WorkspaceSeed struct {
	Original string `json:"original"` // host path
	Copy     string `json:"copy"`     // host path, of Loop's own
}

// SkippedMount is a configured mount that is not in the spec, and why.
type SkippedMount struct {
	Text   string `json:"text"`
	Reason string `json:"reason"`
}

// FieldOrigin says which layer a field's value came from, and where in which file
// that is written, as far as it is known.
type FieldOrigin struct {
	Field string `json:"field"`
	Value string `json:"value"`
	Layer string `json:"layer"`
	Path  string `json:"path,omitempty"`
	Line  int    `json:"line,omitempty"`
	// Overrode is the setting below; nil as in SettingsOrigin.
	Overrode *OverriddenSetting `json:"overrode,omitempty"`
}

// Explanation accompanies a Spec: where each field came from and what was left out.
type Explanation struct {
	Origins []FieldOrigin  `json:"origins"`
	Skipped []SkippedMount `json:"skipped,omitempty"`
	Notices []string       `json:"notices,omitempty"`
	AddDirs []string       `json:"add_dirs,omitempty"` // --add-dir for the CLI
}
