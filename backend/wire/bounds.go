package wire

import (
	"io"
	"time"

	"github.com/hashicorp/yamux"
)

// Protocol is the version in Hello. It grows when an old peer could not
// understand a new one; added optional fields do not change it.
const Protocol = 2

// Bounds on what one end accepts from the other.
const (
	// MaxFrame bounds one JSON frame (1 MiB): room for a spawn with a large
	// environment, and all the memory one frame can make a reader take.
	MaxFrame = 1 << 20
	// MaxChunk bounds one piece of a byte stream. 64 KiB is what a Linux pipe
	// holds by default, so one read of a pipe is one chunk.
	MaxChunk = 64 << 10
	// MaxBody bounds stdin and files of one spawn together (16 MiB, a quarter of
	// the 64 MiB /run/loop tmpfs).
	MaxBody = 16 << 20
	// MaxStdinWithin bounds Spawn.StdinWithin, in ms: an hour is longer than anybody composes.
	MaxStdinWithin = 3_600_000
	// MaxFiles bounds the files of one spawn.
	MaxFiles = 64
	// MaxArgs bounds argv and the environment, in elements each.
	MaxArgs = 4096
	// MaxSpawns bounds how many spawns loop init remembers, ended ones included,
	// so that a list always fits one frame.
	MaxSpawns = 1024
	// MaxDetached and MaxCommand bound the list of processes that a program has let
	// go: commands, and bytes of each. Only runs have one, and a container few runs.
	MaxDetached = 12
	MaxCommand  = 200
	// MaxShell bounds, in bytes, the command line of the process that a spawn's program
	// started: what the agent CLI puts around a tool's command takes half of it.
	MaxShell = 1 << 10
	// MaxOffset bounds the offsets of an output, 1 PiB: nothing prints that much, and
	// sums of offsets stay far from the end of 64 bits.
	MaxOffset = 1 << 50
	// MaxPolicy bounds one policy document (256 KiB, some two thousand rules): loop
	// init keeps one for each spawn.
	MaxPolicy = 256 << 10
	// MaxQuestions bounds the questions that wait for an answer at a time, and
	// MaxDetail what one says: a command line or the start of a file.
	MaxQuestions = 64
	MaxDetail    = 64 << 10
	// MaxTold bounds what the guest keeps of messages that want no answer while no host
	// is there (16 MiB at their largest; ordinary ones have some hundred bytes).
	MaxTold = 256
	// MaxDenials and MaxRuleCounts bound one Decisions.
	MaxDenials    = 32
	MaxRuleCounts = 64
	// MaxPorts and MaxProcess bound the list of ports that are listened on: ports, and
	// bytes of a program's name. The kernel keeps 15 bytes of a name.
	MaxPorts   = 64
	MaxProcess = 64
	// MaxText bounds the text of an error.
	MaxText = 4096
	// MaxStreams bounds the streams the guest may have open at a time on a link.
	// With Window it bounds the memory a flooding guest can take (32 MiB).
	MaxStreams = 128
	// MaxHostStreams bounds the host's: two for each of 64 terminals, four for
	// each of some runs, and room for requests that none of them holds up.
	MaxHostStreams = 256
	// Window is the receive window of one stream: yamux's own smallest, and at
	// 0.3 ms a round trip enough for 800 MB/s.
	Window = 256 << 10
	// MaxHeader bounds the header of one HTTP exchange.
	MaxHeader = 64 << 10
	// MaxModelBody bounds one model request (64 MiB; the Messages API itself
	// refuses more than 32 MB).
	MaxModelBody = 64 << 20
	// MaxCallbackBody bounds one callback.
	MaxCallbackBody = 1 << 20
)

// Times both ends agree on.
const (
	// HelloTimeout is how long the host waits for the hello before it says that
	// there is no link.
	HelloTimeout = 10 * time.Second
	// RequestTimeout is how long a peer may take between opening a stream and
	// its whole request frame.
	RequestTimeout = 10 * time.Second
	// KeepAlive is the interval of yamux pings; WriteTimeout is how long a write
	// or a ping may take before the link counts as broken.
	KeepAlive    = 15 * time.Second
	WriteTimeout = 15 * time.Second
	// ModelHold and CallbackHold are how long the relay keeps a request while
	// there is no link. The CLI's own request timeout is ten minutes and it
	// retries what is answered 503; a callback has a person waiting for a turn.
	ModelHold    = 60 * time.Second
	CallbackHold = 10 * time.Second
)

// The supervisor's identity, the same on every host: an id that no
// distribution hands out to people (UID_MAX is 60000) or to system services.
const SupervisorID = 64999

// SupervisorName is its name in a container's passwd file.
const SupervisorName = "loop-init"

// Paths inside a container.
const (
	GuestBinary = "/opt/loop/bin/loop"
	RunDir      = "/run/loop"
	PrivateDir  = "/run/loop/private"
	SocketPath  = "/run/loop/private/init.sock"
	SpoolDir    = "/run/loop/private/spool"
	RunsDir     = "/run/loop/runs"
	GateDir     = "/run/loop/gate" // <spawn id>.json: the policy each supervised spawn goes by
	// DeniedSuffix ends the name of the file beside it that has what was denied to the
	// spawn, one JSON line for each, once something was.
	DeniedSuffix = ".denied"
)

// ExitUnsupervised is the exit code of a container that ended because a supervisor did:
// internal software error, of sysexits.h.
const ExitUnsupervised = 70

// The set-up of a container: the variable without which loop init looks for none (an agent that
// may write the root of its container could put a command there), where loop init takes the command from, how long it may take,
// the exit codes with which the container then ends, and how many bytes a command may have.
const (
	SetupMark       = "LOOP_SETUP" // its value is 1
	SetupDir        = "/opt/loop/setup"
	SetupFile       = "command" // in SetupDir; without it there is nothing to be done
	SetupTime       = 15 * time.Minute
	ExitSetUp       = 90
	ExitSetupFailed = 91
	MaxSetupCommand = 64 << 10
)

// Variables of the gate. In a container's environment GateEnabled=1 means that loop init
// refuses every spawn without a policy; a supervised program has both.
const (
	GateEnabled    = "LOOP_GATE_ENABLED"
	GatePolicyFile = "LOOP_GATE_POLICY_FILE"
)

// TokenEnv has the token by which Loop knows a caller that does not come over a link.
const TokenEnv = "LOOP_API_TOKEN"

// Places in a container's environment names where its mounts are to be, one a line. loop init
// refuses a container in which something else was made of it, and says why in RefusedFile. After
// PlaceWithin comes a mount that may be anywhere.
const (
	Places      = "LOOP_PLACES"
	PlaceWithin = "~"
	RefusedFile = "/run/loop/private/refused"
)

// EndUnlinked=1 in a container's environment means that it ends by itself once nobody has
// been linked for as long as loop init waits.
const EndUnlinked = "LOOP_END_UNLINKED"

// EndUnvisited in a container's environment is a whole number of seconds. It ends by itself
// once nobody has been linked for that long and nothing runs in it.
const EndUnvisited = "LOOP_END_UNVISITED"

// MaxUnvisited is that time for containers that are kept for whoever comes next. A Loop that
// runs is linked to each of them more often.
const MaxUnvisited = 30 * time.Minute

// RelayAddr is where the relay listens in the container's own network namespace.
const RelayAddr = "127.0.0.1:8222"

// ProxyAddr is where a container without a network has its way out: an HTTP proxy whose
// connections the host serves for those spawns that it gave one.
const ProxyAddr = "127.0.0.1:8223"

// MaxProxied bounds the connections to ProxyAddr at a time; what is left of MaxStreams
// is for the relay.
const MaxProxied = MaxStreams / 2

// Files of one spawn in the spool.
const (
	OutSuffix  = ".out"
	ErrSuffix  = ".err"
	ExitSuffix = ".exit"
)

// Names of a spawn's streams; a pipe's is its descriptor in decimal.
const (
	StreamIn  = ""
	StreamOut = "out"
	StreamErr = "err"
)

// Descriptors that a pipe of a spawn may have: what programs are told to use
// follows stderr closely (a browser's debugging pipe has 3 and 4).
const (
	MinPipeFD = 3
	MaxPipeFD = 15
)

// Stdio of a spawn.
const (
	StdioPipes = "pipes"
	StdioPTY   = "pty"
)

// Words in Info.Paused.
const (
	PausedSpool = "spool full"
	PausedDisk  = "disk full"
	// PausedReader is a terminal whose reader asked to hold it up.
	PausedReader = "reader behind"
)

// MuxConfig is how both ends multiplex. What yamux would log is the other end's doing;
// errors reach the callers.
func MuxConfig() *yamux.Config {
	c := yamux.DefaultConfig()
	c.AcceptBacklog = MaxHostStreams // bounds an end's own streams too that the other has not taken yet
	c.KeepAliveInterval = KeepAlive
	c.ConnectionWriteTimeout = WriteTimeout
	c.MaxStreamWindowSize = Window
	c.LogOutput = io.Discard
	return c
}
