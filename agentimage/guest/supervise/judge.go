//go:build linux

package supervise

import (
	"context"
	"log/slog"
	"sync"

	"loop/agentimage/guest/denial"
	"loop/agentimage/guest/threads"
	"loop/backend/policy"
	"loop/backend/wire"
)

// Agent is who the supervised program runs as.
type Agent struct {
	UID, GID int
	Groups   []int
	Home     string
}

// Judge says what a policy thinks of a call. Its methods are called from many threads.
type Judge interface {
	// File judges an operation on a resolved absolute path, which may hold any bytes.
	File(op policy.Operation, path string) policy.Verdict
	// Folder judges the making of an empty folder.
	Folder(path string) policy.Verdict
	// Under is the strictest of what File could say of anything below a folder.
	Under(op policy.Operation, dir string) policy.Verdict
	// Leads is Under for a symbolic link.
	Leads(op policy.Operation, link string) policy.Verdict
	// Connect judges a Unix socket: its absolute path, or "@" and the abstract name.
	Connect(target string) policy.Verdict
	// Exec judges a program: the resolved file, and the arguments with the first.
	Exec(path string, argv []string) policy.Verdict
	// ReadsMatter reports whether some rule could refuse a read or ask about one.
	ReadsMatter() bool
}

// ContentJudge is a Judge that can decide a change by what it changes, where File wants
// to ask or its verdict is ByContent: both texts are whole files of at most maxDigest
// bytes; before is nil where there is no file yet. With false the verdict stands.
type ContentJudge interface {
	Content(path string, before, after []byte) (policy.Verdict, bool)
	// Excerpt is what a person has to see of the change; false: the texts themselves.
	Excerpt(path string, before, after []byte) (was, is []byte, ok bool)
}

// TwinJudge is a Judge that knows whether its rules tell names apart: Twins reports that File
// says the same of each name below one path and of the same name below the other.
type TwinJudge interface {
	Twins(one, other string) bool
}

// ExecJudge is a Judge that knows policies under which every program may run, with any
// arguments. Where ExecMatters is false, nobody looks at what the kernel executes.
type ExecJudge interface {
	ExecMatters() bool
}

// Options says what is supervised.
type Options struct {
	Listener int // of the filter; the supervisor closes it
	Agent    Agent
	Judge    Judge
	Version  int64 // of the judge's policy
	// Ask blocks until a person has answered. Its context ends when nothing waits for
	// the answer any more. It is called from many goroutines at a time.
	Ask func(ctx context.Context, a wire.Approval) wire.Answer
	// Tell takes what the policy has decided without asking, at most every wire.TellEvery
	// and once more at the end. One goroutine calls it at a time; it may take its time.
	// nil: nobody is told.
	Tell func(d wire.Decisions)
	// Denied is told of each denied call before its caller is. It is called from many
	// threads, which are the agent to the file system. nil is told nothing.
	Denied  func(denial.Denial)
	Log     *slog.Logger
	SpawnID string
	// Tracer looks at what is executed, before it runs. Without one, as in a test, the
	// caller may exchange what was judged.
	Tracer *threads.Tracer
	// Marks keep programs under a strict policy from acting through others; nil: nothing
	// does.
	Marks *Marks
	// Receivers is how many threads take calls; 0 is DefaultReceivers.
	Receivers int

	room func() bool // for one more thread; nil asks the container. Set in tests
}

// DefaultReceivers is enough for a compiler on four cores: one call takes tens of
// microseconds, and what waits does not wait on them.
const DefaultReceivers = 4

// view is one whole version of a policy; a call is decided by one.
type view struct {
	Judge
	version   int64
	debuggers bool     // programs may debug each other; never agents in a person's spawn
	files     []string // of agents
	agents    *view    // decides the calls of agents in its place; nil where there are none
	once      sync.Once
	links     []linked // set by follow
}

// stricter returns the verdict that allows less; of equals the first.
func stricter(a, b policy.Verdict) policy.Verdict {
	if rank(b.Decision) > rank(a.Decision) {
		return b
	}
	return a
}

// rank orders decisions; one that is not known denies.
func rank(d policy.Decision) int {
	switch d {
	case policy.Allow:
		return 0
	case policy.Approve:
		return 1
	}
	return 2
}
