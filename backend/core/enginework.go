package core

import "time"

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
}
