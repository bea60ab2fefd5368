package core

import (
	"strings"
	"time"
)

// ContainerStatus says how a container stands in the registry.
type ContainerStatus string

const (
	ContainerReserved       ContainerStatus = "reserved" // row written, engine not called yet
	ContainerRunning        ContainerStatus = "running"
	ContainerStopped        ContainerStatus = "stopped"
	ContainerPendingRemoval ContainerStatus = "pending-removal"
)

// ContainerType classifies a container; it is the value of the loop-type label.
type ContainerType string

const (
	TypeAgent  ContainerType = "agent"
	TypeShell  ContainerType = "shell"
	TypeChrome ContainerType = "chrome"
)

// Labels on everything Loop makes. The first three are the original's.
const (
	LabelApp     = "app"
	LabelAppName = "loop-agent"
	LabelType    = "loop-type"
	LabelChannel = "loop-channel"
	LabelInstall = "loop-install" // id of the Loop folder that made it; others' containers are never touched
	LabelScope   = "loop-scope"
	LabelHash    = "loop-hash"
	LabelSpec    = "loop-spec" // version of the spec's shape
	// LabelBareImage is on an image that has Debian and the agent CLI and nothing else.
	LabelBareImage = "loop.bare"
	LabelRun       = "loop-run"
)

// ContainerKey is the key of Loop's record of a container. The engine's id and the
// name are attributes of the record: the id comes later, and a name may be handed on.
type ContainerKey string

// Container is Loop's record of one.
type Container struct {
	Key       ContainerKey    `json:"-"`
	ID        ContainerID     `json:"container_id"`
	Name      string          `json:"container_name"`
	ChannelID ChannelID       `json:"channel_id"`
	RunID     RunID           `json:"run_id,omitempty"`
	Type      ContainerType   `json:"type"`
	Status    ContainerStatus `json:"status"`
	Image     string          `json:"image"`
	Hash      string          `json:"hash,omitempty"`
	CreatedAt time.Time       `json:"created_at"`
	RemoveAt  time.Time       `json:"remove_at,omitzero"`
	// Scope is the spec's, and empty once the container is drained: it serves those that
	// hold it, and nobody joins.
	Scope string `json:"scope,omitempty"`
	// LastUsedAt is when somebody last began to hold it, typed into it or gave it back.
	LastUsedAt time.Time `json:"last_used_at,omitzero"`
	Fixed      string    `json:"-"` // the spec's
	Life       Life      `json:"-"` // the spec's, and so by the settings when it was made
	Memory     int64     `json:"-"` // its limit when it was made, in bytes; 0 is not known
	// Why says in a clause why the container ends, has stopped, or was made anew; empty
	// where there is nothing to say.
	Why string `json:"why,omitempty"`
	// Rights is a digest of the credentials that programs in it may have had.
	Rights string `json:"-"`
}

// Wide reports whether a container that takes new work has that of several channels: its
// scope is an agent's, or that of all.
func (c Container) Wide() bool { return c.Scope == "shared" || strings.HasPrefix(c.Scope, "agent:") }

// Life is how long a container of a scope goes on while nobody holds it; zero is for ever.
type Life struct {
	Idle time.Duration `json:"idle,omitempty"` // since its last use
	Age  time.Duration `json:"age,omitempty"`  // since it was made
}

// hostPrefix begins what stands in the place of a container's id for a run that works on
// this computer itself. No engine makes such an id.
const hostPrefix = "host:"

// HostPlace stands for the container of a run that has none.
func HostPlace(run RunID) ContainerID { return ContainerID(hostPrefix + string(run)) }

// OnHost reports whether the id stands for this computer itself.
func (id ContainerID) OnHost() bool { return strings.HasPrefix(string(id), hostPrefix) }

// HotWindow is how long after its last use a container keeps what was changed in the
// settings since it was made; the original's.
const HotWindow = 5 * time.Minute

// ContainerFacts are the engine's words about a container at this moment.
type ContainerFacts struct {
	ID        ContainerID
	Name      string
	Labels    map[string]string
	ImageID   string
	Running   bool
	Paused    bool // running, and every process of it is held up
	ExitCode  int
	OOMKilled bool
	Error     string // the engine's own words, e.g. why it could not start
	CreatedAt time.Time
	Limits    Limits // known to Inspect only; a zero field is no limit
	// Mounts are known to Inspect only, as they were asked for, without their kinds.
	Mounts []Mount
	// Networks are known to Inspect only: the names of those that it is on, or will be once
	// it runs.
	Networks []string
}

// EngineStatus is what the status bar and doctor show of the engine.
type EngineStatus struct {
	OK         bool     `json:"ok"`
	Host       string   `json:"host"`   // e.g. unix:///var/run/docker.sock
	Source     string   `json:"source"` // DOCKER_HOST, context “x”, default socket, Podman socket …
	Name       string   `json:"name"`   // Docker, Podman
	Version    string   `json:"version"`
	APIVersion string   `json:"api_version"`
	OS         string   `json:"os"`
	Arch       string   `json:"arch"`
	Rootless   bool     `json:"rootless"`
	Failure    *Failure `json:"failure,omitempty"`
	// Traits are for services. Loop asks for them once per connection.
	Traits EngineTraits `json:"-"`
}

// EngineTraits are the abilities of an engine, and the place where its containers
// run. The zero value says that nothing is known.
type EngineTraits struct {
	ID            string // the engine's own, made when it was installed
	Rootless      bool
	Desktop       bool // Docker Desktop: containers run in a virtual machine
	Seccomp       bool // takes system call filters
	Kernel        string
	CgroupVersion string // 1 or 2
	CPUs          int
	MemoryBytes   int64
}

// ImageState is how the agent image stands against agentimage/ in this build.
type ImageState string

const (
	ImageUnknown  ImageState = "unknown"
	ImageMissing  ImageState = "missing"
	ImageStale    ImageState = "stale" // built from another agentimage/
	ImageReady    ImageState = "ready"
	ImageBuilding ImageState = "building"
)

// ImageStatus is shown while an image is built and after.
type ImageStatus struct {
	State    ImageState `json:"state"`
	Ref      string     `json:"ref"`
	ID       string     `json:"id,omitempty"`
	Step     string     `json:"step,omitempty"`     // what is being done now, in words
	Progress float64    `json:"progress,omitempty"` // 0..1, an estimate
	Note     string     `json:"note,omitempty"`     // e.g. built without the git secret, and why
	Lines    []string   `json:"lines,omitempty"`    // the last lines of output, bounded
	Failure  *Failure   `json:"failure,omitempty"`
	Theirs   bool       `json:"theirs,omitempty"` // the person's own, which Loop never builds
}

// BuildOutput is what the build of an image said.
type BuildOutput struct {
	Ref     string `json:"ref"`
	Name    string `json:"name"`     // of the image, in sentences
	BeganAt int64  `json:"began_at"` // ms since the epoch; 0: nothing was built
	Text    string `json:"text"`     // bounded
}

// ContainerEvent is one report of the engine about a container.
type ContainerEvent struct {
	// Kind is create, start, die, oom, destroy or resync. Resync is not the
	// engine's: it says that the stream was (re)connected and that anything may
	// have happened before, so the receiver must list.
	Kind     string
	ID       ContainerID
	Labels   map[string]string
	ExitCode int // die only
	At       time.Time
}

const (
	ContainerCreated   = "create"
	ContainerStarted   = "start"
	ContainerDied      = "die"
	ContainerOOM       = "oom"
	ContainerDestroyed = "destroy"
	ContainerResync    = "resync"
)

// Volume is a named volume of the engine.
type Volume struct {
	Name   string
	Labels map[string]string
}

// VolumeFile is a file written into a volume, owned by uid 0. Path is relative
// to the volume's root, with forward slashes.
type VolumeFile struct {
	Path string
	Mode uint32 // permission bits
	Data []byte
}

// BuildOptions are for the engine's own (classic) builder.
type BuildOptions struct {
	Args   map[string]string
	Labels map[string]string
	Target string // the stage that is wanted; empty means the last
}

// HolderKind says what needs a container.
type HolderKind string

// A run and a terminal outlive Loop and take their leases up again. Git and set-up
// are programs that Loop waits for, a browser is one that it drives, and a prompt is one
// that is being written: their leases end with it. A person holds what stays until it is
// removed by hand.
const (
	HolderRun      HolderKind = "run"
	HolderTerminal HolderKind = "terminal"
	HolderGit      HolderKind = "git"
	HolderSetUp    HolderKind = "set-up"
	HolderPerson   HolderKind = "person"
	HolderBrowser  HolderKind = "browser"
	HolderPrompt   HolderKind = "prompt"
)

// Holder is one that needs a container: a run by its id, a terminal by its id, a
// person, a browser and a prompt by the channel. The ids of git and set-up are random.
type Holder struct {
	Kind HolderKind `json:"kind"`
	ID   string     `json:"id"`
}

// String names the holder for a person.
func (h Holder) String() string { return string(h.Kind) + " " + h.ID }

// Lease says that a holder needs a container.
type Lease struct {
	Container ContainerKey
	Holder    Holder
	TakenAt   time.Time
}

// Ending is a holder's wish when it gives a container back. It counts when nobody
// else holds the container.
type Ending struct {
	Now  bool          // nothing in it is worth a look: it is removed at once
	Keep time.Duration // how long it stays once it has stopped; 0 is the registry's time, negative is none
	// Drain says that something of the holder may still run in it: nobody joins any more,
	// whoever else holds the container.
	Drain bool
}
