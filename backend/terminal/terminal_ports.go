package terminal

import (
	"context"
	"io"
	"log/slog"
	"time"

	"loop/backend/core"
)

// Program is what runs on a session's terminal. Methods may be called from any
// goroutine; an error that wraps core.ErrNotFound says that the program or what
// it ran in is gone for good, any other that it cannot be reached now.
type Program interface {
	// Output follows what the program prints, from an absolute offset, until it
	// has ended. start is later than offset when the bytes before it are gone.
	// The session closes the reader, which interrupts Read.
	Output(ctx context.Context, offset int64) (r io.ReadCloser, start int64, err error)
	Write(ctx context.Context, p []byte) error
	Resize(ctx context.Context, cols, rows uint16) error
	// End ends the program's whole process tree and returns once that is proven.
	End(ctx context.Context) error
	// Wait returns how the program ended.
	Wait(ctx context.Context) (core.TerminalExit, error)
	// Close lets go of the program; one in a container of ours goes on.
	Close() error
}

// Lasting is a Program that goes on without Loop, in a container of ours.
type Lasting interface {
	// Relaunch starts it again after its container was restarted. Its next byte has the
	// offset at. core.ErrNotFound says that it is not to be started.
	Relaunch(ctx context.Context, at int64) error
	// Typed is the line to type into its shell: once for each launch, else empty.
	Typed() string
	// Forget drops what is kept of it, once its session is closed.
	Forget(ctx context.Context) error
}

// Inspector is a Program that can name what End would end besides the program
// that was started.
type Inspector interface {
	Others() []string
}

// Start is the request to start a program.
type Start struct {
	ID        core.TerminalID
	Spec      core.TerminalSpec
	Container core.Container // agent targets; one that is not ours has only its id
}

// Programs starts programs and finds those that go on from an earlier launch.
type Programs interface {
	Start(ctx context.Context, s Start) (Program, error)
	// Resume is the program of a saved session, whether it can be reached or not. It
	// calls found before it gives output, with the offset up to which it has printed.
	Resume(s Saved, found func(end int64)) Program
}

// Containers finds, makes and removes containers.
type Containers interface {
	// Shells are the channel's containers that terminals may be in.
	Shells(ctx context.Context, ch core.ChannelID) ([]core.Container, error)
	// Shell is the channel's container for terminals, held from then on.
	Shell(ctx context.Context, ch core.ChannelID, h core.Holder) (core.Container, error)
	// Running says whether a container runs, and gives its record; ours is false
	// for one that Loop did not make. core.ErrNotFound when there is none.
	Running(ctx context.Context, id core.ContainerID) (c core.Container, ours, running bool, err error)
	// Paused says that every process of a container is held up.
	Paused(ctx context.Context, id core.ContainerID) bool
	// Remove ends and removes; one that is gone, or being removed, is no error. One that
	// a run works in is core.ErrConflict.
	Remove(ctx context.Context, id core.ContainerID) error
}

// Leases keep containers of ours running for the terminals in them.
type Leases interface {
	// Used says that somebody types in a container. It is called with every key.
	Used(id core.ContainerID)
	// Hold is core.ErrNotRunning for a container that has ended.
	Hold(ctx context.Context, id core.ContainerID, h core.Holder) error
	// Release gives back everything that a holder holds; after an error it is tried
	// again without the caller.
	Release(ctx context.Context, h core.Holder, e core.Ending) error
	// Recovered gives back what holders of an earlier launch held that are not alive.
	Recovered(ctx context.Context, kind core.HolderKind, alive func(id string) bool, e core.Ending) error
}

// Saved is what is kept of a session whose program outlives the app, or is begun again.
type Saved struct {
	Info     core.TerminalInfo
	OpenMode core.OpenMode
	Typed    string // the line that was typed into its shell, as a title is cleaned
	Given    string // title that the program chose
	Ran      string // …that what runs in its shell chose; over with it
	Shift    int64  // the program's own offsets plus Shift are the session's
	Screen   []byte `json:"-"` // a snapshot at Offset; empty is none
	Offset   int64
}

// Keeper stores sessions; its methods may be called from any goroutine.
type Keeper interface {
	SaveTerminal(s Saved) error
	DropTerminal(id core.TerminalID) error
	SavedTerminals() ([]Saved, error)
}

// Recording takes a session's output and sizes; it is called from one goroutine. The
// session closes it.
type Recording interface {
	Output(p []byte) error
	Resize(cols, rows uint16) error
	Name() string
	Close() error
}

// Options of a Service; all are required.
type Options struct {
	Programs   Programs
	Containers Containers
	Leases     Leases
	Keeper     Keeper
	Record     func(core.TerminalInfo) (Recording, error) // begins a recording
	Publish    func(core.EventType, core.TerminalInfo)    // in order for one session; must not call back
	// IdleTimeout ends a session that nobody looks at, that prints nothing and
	// is given nothing for so long; 0 is never. It is asked with each look.
	IdleTimeout func() time.Duration
	Log         *slog.Logger
}

// The numbers of flow control were measured: with 64 KiB frames and these marks a
// webview reads at its full rate, and a key still reaches the screen within some
// 50 ms. The tighter marks count for a second after a key.
const (
	frameSize = 64 << 10
	pumpSize  = 16 << 10 // of the first reads; a flood's are of frameSize
	highMark  = 512 << 10
	lowMark   = 128 << 10
	highKeyed = 128 << 10
	lowKeyed  = 32 << 10
	keyedFor  = time.Second
)

const (
	// stallTime is how long a viewer may hold a program up without progress.
	stallTime = 5 * time.Second
	// linger gathers output of less than lingerSize that follows close on other
	// output: a terminal gives 4 KiB at a time, and a wake-up for each costs more
	// than drawing it. afterKey is how long after a key nothing lingers.
	linger     = 2 * time.Millisecond
	lingerSize = 32 << 10
	afterKey   = 100 * time.Millisecond
	// maxInput bounds input that the program has not taken; inputPatience is how
	// long more of it waits for room.
	maxInput      = 1 << 20
	inputPatience = 5 * time.Second
	// maxAnswers bounds answers to queries that the program does not read.
	maxAnswers = 4 << 10
	// vanishLooks and vanishPause bound the wait for a container that is on its way
	// out: the engine kills it and takes down its mounts in less than a second, but
	// a busy one needs several. refusedLooks are for one that has answered, and so
	// is likely to live.
	vanishLooks  = 150
	refusedLooks = 20
	vanishPause  = 100 * time.Millisecond
	// endTime bounds ending a program's process tree: seconds, but many of them where
	// it is hundreds of processes that leave nobody the processor.
	// politeTime bounds it where the container is removed anyway.
	endTime    = time.Minute
	politeTime = 15 * time.Second
	// pausedTime is how long a container must be paused for nothing in it to be ended.
	// Loop itself pauses a container for some 30 ms (docs/containers.md).
	pausedTime = time.Second
	// giveBackTime bounds giving a container back, which may end it.
	giveBackTime = 30 * time.Second
	// forgetTime bounds having a program's remains dropped.
	forgetTime = 5 * time.Second
	// announceEvery bounds how often a changed title is announced.
	announceEvery = 200 * time.Millisecond
	// saveEvery and saveIdle pace the snapshots kept for the next launch.
	saveEvery = 5 * time.Second
	saveIdle  = time.Second
	// MaxSessions bounds the sessions of one Loop; keptEnded those that ended and
	// are kept to be looked at.
	MaxSessions = 256
	keptEnded   = 32
)
