package core

import (
	"context"
	"io"
	"net"
	"time"
)

// Stdio is how a spawned process is connected.
type Stdio string

const (
	StdioPipes Stdio = "pipes"
	StdioPTY   Stdio = "pty"
)

// SpawnFile is put into the spawn's private directory (/run/loop/runs/<id>/Name)
// before the process starts, owned by the agent, mode 0600, and removed after.
type SpawnFile struct {
	Name string
	Data []byte
}

// SpawnRequest asks loop init to start a process as the agent.
type SpawnRequest struct {
	ID    SpawnID
	Argv  []string
	Env   []EnvVar // added to (and winning over) the container's environment
	Dir   string
	Stdio Stdio
	Cols  uint16 // PTY only
	Rows  uint16
	Stdin []byte // pipes: written, then closed; nil means /dev/null
	// OpenStdin keeps the pipe open after Stdin was written, for Link.Stdin.
	OpenStdin bool
	// StdinWithin, in whole milliseconds and at most an hour, bounds how long the program waits
	// for the first byte of its open stdin: then loop init ends and forgets it, also where no
	// link is left. 0 is no bound.
	StdinWithin time.Duration
	Files       []SpawnFile
	Keep        Keep        // pipes: of stdout and stderr
	Pipes       []SpawnPipe // pipes: besides stdin, stdout and stderr
	// Policy is the document that the spawn's supervisor goes by, with a version of
	// its own that Link.SetPolicy raises. Without one the program is not supervised.
	Policy        []byte
	PolicyVersion int64
}

// Keep says what becomes of output that nobody has read yet.
type Keep string

const (
	KeepRing  Keep = ""      // the newest MiB of each stream; what is older is lost
	KeepSpool Keep = "spool" // every byte, in a file of the channel's state
	KeepPause Keep = "pause" // every byte: the program waits until Link.ReadHeld has taken it
)

// SpawnPipe is one more descriptor of a program, from 3 to 15. Its stream is named
// by the number and loses nothing. Link.ReadHeld reads what the program writes. Feed
// writes what the program reads.
type SpawnPipe struct {
	FD    int
	Write bool // the program writes it; without, it reads
}

// ExitStatus is how a process ended.
type ExitStatus struct {
	Code   int    // 128+signal when killed by a signal
	Signal string // e.g. SIGKILL
	At     time.Time
}

// SpawnInfo is loop init's knowledge of a process it started. Exited spawns
// stay listed until Forget.
type SpawnInfo struct {
	ID      SpawnID
	Pid     int
	Stdio   Stdio
	Started time.Time
	Exit    *ExitStatus // nil while it runs
	Gone    bool        // nothing of its process tree is left; a guest of before never says so
	OutEnd  int64       // bytes written to stdout (or the PTY) so far
	ErrEnd  int64
	Paused  string // why output is held up: "spool full", "disk full"; empty when it is not
	InEnd   int64  // pipes: bytes that stdin has taken
	InOpen  bool   // pipes: stdin takes more
	// Detached are commands in the process tree of a spooled program that do not
	// belong to it any more: the program has let them go, or has ended.
	Detached []string
}

// ListeningPort is a TCP port on which a program in a container listens.
type ListeningPort struct {
	Port    uint16
	Process string // a name of at most 64 bytes, empty where it is not known
}

// Link is the host's end of the stream into one container's loop init. All
// methods may be called from any goroutine. After the link breaks every call
// fails with an error that wraps ErrLinkDown; the container and its processes
// go on, and a new Link picks them up by id.
type Link interface {
	Spawn(ctx context.Context, req SpawnRequest) (SpawnInfo, error)
	Spawns(ctx context.Context) ([]SpawnInfo, error)
	// Read follows one stream ("out" or "err") from an absolute offset until
	// the process ended and all its bytes were read. The caller closes it.
	Read(ctx context.Context, id SpawnID, stream string, offset int64) (io.ReadCloser, error)
	// ReadHeld is Read for a program that may not get ahead of its reader: while
	// the stream is open it waits instead of losing what was not read. A terminal
	// or a ring goes on without a reader; what was spawned with KeepPause, and a
	// SpawnPipe, wait for the next one, of which only this method counts. When bytes
	// from offset on are gone already, the stream begins later; what it returns has
	// Offset() int64, which says where.
	ReadHeld(ctx context.Context, id SpawnID, stream string, offset int64) (io.ReadCloser, error)
	// Stdin writes to a PTY or an open stdin. The caller closes it.
	Stdin(ctx context.Context, id SpawnID) (io.WriteCloser, error)
	// Feed writes to a SpawnPipe that the program reads. The caller closes it.
	Feed(ctx context.Context, id SpawnID, fd int) (io.WriteCloser, error)
	Resize(ctx context.Context, id SpawnID, cols, rows uint16) error
	Signal(ctx context.Context, id SpawnID, signal string) error
	// Kill ends the whole process tree of a spawn (TERM, then KILL) and returns
	// only once loop init has verified that none of it is left.
	Kill(ctx context.Context, id SpawnID) error
	Wait(ctx context.Context, id SpawnID) (ExitStatus, error)
	// Forget drops an exited spawn with its spool and private directory.
	Forget(ctx context.Context, id SpawnID) error
	Ping(ctx context.Context) (time.Duration, error)
	// Dial connects to a port of the container's own loopback. ctx bounds the dial and
	// not the connection, which the caller closes. core.ErrNotFound: nothing listens.
	Dial(ctx context.Context, port uint16) (net.Conn, error)
	// Ports are the ports that Dial leads to, by number, at most wire.MaxPorts. Everything
	// about them is the container's word.
	Ports(ctx context.Context) ([]ListeningPort, error)
	// Admit gives a spawn its identity. Requests of its processes through the link
	// count as the identity's, and http://127.0.0.1:8222/runs/<run>/model leads them to
	// its upstream; <run> is the spawn's own id in a terminal. A spawn that was not
	// admitted, or was forgotten, may ask for nothing.
	Admit(spawn SpawnID, who Identity)
	Done() <-chan struct{} // closed when the link is down
	Close() error
}

// ModelUpstream is where model calls go when they pass through the link: the
// scripted demo, or a base URL reached from the host. The zero one is nowhere.
type ModelUpstream struct {
	Demo    bool
	BaseURL string
	// OAuthToken or APIKey replaces NoKey in requests on their way out; the program
	// in the container never has it.
	OAuthToken Secret
	APIKey     Secret
}

// NoKey stands in for a credential where the agent's CLI insists on one. The demo
// and a person's own model ignore it; otherwise the link replaces it by the real one.
const NoKey = "loop-no-key"

// HeldCall is an operation in a container that stands still until somebody allows or
// denies it. Spawn is the guest's claim; Detail is hostile, and the link bounds it.
type HeldCall struct {
	Spawn  SpawnID
	Kind   string // names what Detail means
	Detail []byte
}

// Told is something that a container's supervisor says of a spawn and wants no answer to.
// All of it is the guest's claim; the link bounds Detail.
type Told struct {
	Spawn  SpawnID
	Number uint64 // of this message among the spawn's, from 1
	Kind   string // names what Detail means
	Detail []byte
}

// Verdict answers a HeldCall; its zero value denies.
type Verdict struct {
	Allow bool
	Text  string // the reason, for the program that asked
	By    string // who decided: one of wire.By…, or empty
}

// PolicyState names the policy that a container's supervisor has.
type PolicyState struct {
	Version  int64
	Hash     string // SHA-256 of the document in hex
	Enforced bool   // false: the policy is stored, and nothing goes by it yet
}
