package core

import "time"

// ContainerView is a container as people and programs see it: the record, who holds it, and
// when it ends. The names in camel case are the original's.
type ContainerView struct {
	Container
	SessionKey   string `json:"sessionKey"` // the scope; empty where nobody joins any more
	CreatedAtMs  int64  `json:"createdAtMs"`
	LastUsedAtMs int64  `json:"lastUsedAtMs"` // 0 where it is not known
	ConfigHash   string `json:"configHash"`
	// Warm says that it runs, nobody holds it, and the next of its scope joins at once.
	Warm    bool            `json:"warm"`
	Holders []Holder        `json:"holders"` // never null
	Policy  ContainerPolicy `json:"policy"`
	// EndsAt is when it ends if nobody uses it until then; zero is no time. EndsWhy says by
	// which rule, in a clause whose subject is the container.
	EndsAt  time.Time `json:"ends_at,omitzero"`
	EndsWhy string    `json:"ends_why"`
}

// ContainerPolicy is a Life in seconds; zero is for ever.
type ContainerPolicy struct {
	IdleSec   int64 `json:"idle_sec"`
	MaxAgeSec int64 `json:"max_age_sec"`
}

// ContainerInspection is one container whole.
type ContainerInspection struct {
	ContainerView
	Engine ContainerState `json:"engine"`
	Drift  ContainerDrift `json:"drift"`
}

// ContainerState is what the engine says of a container at this moment.
type ContainerState struct {
	Running   bool    `json:"running"`
	Paused    bool    `json:"paused"`
	ExitCode  int     `json:"exit_code"`
	OOMKilled bool    `json:"oom_killed"`
	Error     string  `json:"error,omitempty"` // the engine's own words
	ImageID   string  `json:"image_id"`
	Limits    Limits  `json:"limits"` // a zero field is no limit
	Mounts    []Mount `json:"mounts"` // as they were asked for, without their kinds; never null
}

// ContainerDrift says whether a container is what the settings of now would make.
type ContainerDrift struct {
	// Unknown says, in a sentence, why nobody can tell; the rest is empty then.
	Unknown string `json:"unknown,omitempty"`
	// Replaced says that the next run or terminal gets another container, whoever uses this
	// one. Changed alone says that it gets another once this one was not used for HotWindow.
	Changed  bool     `json:"changed"`
	Replaced bool     `json:"replaced"`
	Parts    []string `json:"parts"` // what differs, in words; never null
	// Origins are the settings that made the difference, as far as they are known, with the
	// values that the next container would have.
	Origins []FieldOrigin `json:"origins,omitempty"`
}

// ContainerUsage is what a container has used until a moment: processor time since its
// start, and memory at that moment.
type ContainerUsage struct {
	At          time.Time
	CPU         time.Duration
	MemoryBytes int64
}

// ContainerSample is what a container used around a moment.
type ContainerSample struct {
	AtMs        int64   `json:"at_ms"`
	CPUs        float64 `json:"cpus"` // processors in use, on average since the sample before
	MemoryBytes int64   `json:"memory_bytes"`
}

// WatchedContainer is a container as the panel of containers shows it.
type WatchedContainer struct {
	ContainerView
	// Engine and Drift are nil until somebody has looked, which takes a moment.
	Engine    *ContainerState   `json:"engine,omitempty"`
	Drift     *ContainerDrift   `json:"drift,omitempty"`
	SizeBytes int64             `json:"size_bytes"` // of its own files on the disk; -1 is not known yet
	Samples   []ContainerSample `json:"samples"`    // oldest first, of ten minutes; never null
}

// ContainerWatch is what the panel of containers shows.
type ContainerWatch struct {
	Containers  []WatchedContainer `json:"containers"`   // oldest first; never null
	CPUs        int                `json:"cpus"`         // of the engine's machine; 0 is not known
	MemoryBytes int64              `json:"memory_bytes"` // the same
	WarmMost    int                `json:"warm_most"`    // how many go on that nobody holds; 0: memory bounds them
	OnAppExit   string             `json:"on_app_exit"`  // what becomes of those that nobody holds, as the setting says
	// Failure is why something of this is missing or old; nil where nothing is.
	Failure *Failure `json:"failure,omitempty"`
}

// ContainerLog is a piece of what the first process of a container wrote. It came out of a
// container.
type ContainerLog struct {
	Text string `json:"text"`
	// Next is what to ask with for what was written after this.
	Next    string `json:"next,omitempty"`
	Running bool   `json:"running"`
}

// ContainerPort is a port that a program in a container listens on.
type ContainerPort struct {
	BrowserPort
	// Kind is “http” for one that answers as a web server does and “tcp” for another; empty
	// where nobody has asked it.
	Kind string `json:"kind"`
	// Title is of the page there, or says where that leads; it came out of the container.
	Title string `json:"title"`
}

// PrunedContainer is one that a prune ends, or would end.
type PrunedContainer struct {
	ID        ContainerID `json:"container_id"`
	Name      string      `json:"container_name"`
	ChannelID ChannelID   `json:"channel_id"`
	Why       string      `json:"why"` // a clause whose subject is the container
}
