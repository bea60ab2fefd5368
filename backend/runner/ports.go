package runner

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"time"

	"loop/backend/core"
	"loop/backend/provision"
)

// Store keeps runs and the timeline. Methods may be called from any goroutine;
// one that returned nil is durable. Run and event changes of one method are one
// transaction. core.ErrConflict says that the run is not queued any more, the queue
// is another by now, or the question was resolved; core.ErrNotFound that there is
// none of that id. The store package says more of each.
type Store interface {
	Channel(ctx context.Context, id core.ChannelID) (core.Channel, error)
	Run(ctx context.Context, id core.RunID) (core.Run, error)
	ActiveRuns(ctx context.Context) ([]core.Run, error)
	ClaimNext(ctx context.Context, ch core.ChannelID) (core.Run, bool, error)
	UpdateRun(ctx context.Context, run core.Run, events ...core.Event) ([]core.Event, error)
	AppendEvents(ctx context.Context, run core.RunID, from, to int64, events ...core.Event) ([]core.Event, error)
	FinishRun(ctx context.Context, run core.Run, events ...core.Event) ([]core.Event, error)

	Enqueue(ctx context.Context, run core.Run, events ...core.Event) (stored core.Run, out []core.Event, created bool, err error)
	Queue(ctx context.Context, ch core.ChannelID) ([]core.Run, error)
	QueueLengths(ctx context.Context) (map[core.ChannelID]int, error)
	EditQueued(ctx context.Context, id core.RunID, prompt string, events ...core.Event) (core.Run, []core.Event, error)
	HoldQueued(ctx context.Context, id core.RunID, until time.Time) (core.Run, error)
	ReorderQueue(ctx context.Context, ch core.ChannelID, ids []core.RunID) ([]core.Run, error)
	PromoteQueued(ctx context.Context, id core.RunID) (core.Run, error)

	AnswerQuestion(
		ctx context.Context, id string, a core.Answer, cont *core.Run, events ...core.Event,
	) (core.Question, core.Run, []core.Event, error)
	Question(ctx context.Context, id string) (core.Question, error)
	OpenQuestions(ctx context.Context, ch core.ChannelID) ([]core.Question, error)

	SetChannelNext(ctx context.Context, ch core.ChannelID, demo bool, next core.SessionStart, by core.RunID) error
	SetChannelSession(ctx context.Context, ch core.ChannelID, demo bool, session core.SessionID) error
	// SessionCost is what the agent had counted for a conversation at the end of the
	// latest run that was in it; core.ErrNotFound when no run knows.
	SessionCost(ctx context.Context, session core.SessionID) (float64, error)
	// SessionModel is the model that the latest ended run of a conversation was asked for, and
	// the one that the channel's latest run without such a wish was begun with; core.ErrNotFound when no
	// run was in the conversation.
	SessionModel(ctx context.Context, ch core.ChannelID, session core.SessionID) (asked, usual string, err error)
	ModelRates(ctx context.Context) (map[string]core.ModelRate, error)
}

// Containers is the registry, which alone starts, stops and removes containers.
// Errors about a container that is gone wrap core.ErrNotFound; when the engine does
// not answer they are Failures with CodeNoEngine, CodeEngineLost or CodeEngineDenied.
type Containers interface {
	// End stops a container for a holder, which still has to give it back;
	// core.ErrConflict while others hold it too.
	End(ctx context.Context, id core.ContainerID, h core.Holder) error
	// Release gives back everything that a holder holds. After an error the registry
	// goes on trying by itself.
	Release(ctx context.Context, h core.Holder, e core.Ending) error
	// Left are the ids of holders that held a container in an earlier launch and have not
	// come back for it, one for each container.
	Left(kind core.HolderKind) []string
	Facts(ctx context.Context, id core.ContainerID) (core.ContainerFacts, error)
	List() []core.Container
}

// Provision makes containers. Problems of the directory are Failures.
type Provision interface {
	Resolve(ctx context.Context, w provision.Want) (provision.Resolved, error)
	Ensure(ctx context.Context, w provision.Want) (*provision.Lease, error)
}

// Settings reads what a run's container is made by, and how its CLI is started in it.
// Each call reads anew. Problems of the configuration are Failures; with one, the
// Launch is what was known of it by then.
type Settings interface {
	ForRun(ctx context.Context, run core.Run, ch core.Channel) (provision.Values, Launch, error)
}

// Toolchains are what images of projects' own are made of.
type Toolchains interface {
	// Undecided is the path of one that a person has to decide on before the run, which is of the
	// channel, begins, empty if there is none; changed is closed when the answer may be another.
	Undecided(ch core.Channel, run core.Run) (path string, changed <-chan struct{})
}

// Attachments are the pictures of prompts, and of what tools showed. Errors are Failures.
type Attachments interface {
	// Add keeps a picture and says what it is, by its head.
	Add(ctx context.Context, ch core.ChannelID, name string, data []byte) (core.Attachment, error)
	Look(ch core.ChannelID, id, name string) (core.Attachment, error)
	Read(ch core.ChannelID, id string) ([]byte, error)
}

// noAttachments stands in where there are none.
type noAttachments struct{}

var errNoAttachments = core.Fail(core.CodeInvalid, nil, "Pictures cannot be attached here.", "")

func (noAttachments) Look(core.ChannelID, string, string) (core.Attachment, error) {
	return core.Attachment{}, errNoAttachments
}
func (noAttachments) Add(context.Context, core.ChannelID, string, []byte) (core.Attachment, error) {
	return core.Attachment{}, errNoAttachments
}
func (noAttachments) Read(core.ChannelID, string) ([]byte, error) { return nil, errNoAttachments }

// Gate is what supervises the programs of runs.
type Gate interface {
	// Policy is the document that a spawn of a container goes by; nil says that it is
	// not supervised. An error says that it may not start.
	Policy(name string, ch core.Channel, spec core.Spec, spawn core.SpawnID) ([]byte, error)
	// Enforces reports whether programs are known to be held to their policies.
	Enforces() bool
	// HeldFor says for how long calls of a run were held so far: then the run stood
	// still, and its time does not pass.
	HeldFor(run core.RunID) (total time.Duration, now bool)
	// TakeOver takes up for how long a run was held under an earlier launch of Loop. It is
	// called after the link has admitted the run, if it has one.
	TakeOver(ctx context.Context, run core.RunID) error
	// Stop denies what a run holds, and what it asks from now on.
	Stop(run core.RunID, why string)
	// Dismiss forgets a spawn that has ended, also where no link can say so.
	Dismiss(spawn core.SpawnID)
}

// noGate stands in where there is none.
type noGate struct{}

func (noGate) Policy(string, core.Channel, core.Spec, core.SpawnID) ([]byte, error) { return nil, nil }
func (noGate) Enforces() bool                                                       { return false }
func (noGate) HeldFor(core.RunID) (time.Duration, bool)                             { return 0, false }
func (noGate) TakeOver(context.Context, core.RunID) error                           { return nil }
func (noGate) Stop(core.RunID, string)                                              {}
func (noGate) Dismiss(core.SpawnID)                                                 {}

// reading is one reading of the settings for a run: its CLI is started by what its
// container is made by.
type reading struct {
	Settings
	run    core.Run
	launch Launch
}

// ForChannel implements provision.Settings.
func (r *reading) ForChannel(ctx context.Context, ch core.Channel) (v provision.Values, err error) {
	v, r.launch, err = r.ForRun(ctx, r.run, ch)
	return v, err
}

// Links opens the link into a container and returns after its hello. The
// runner closes what it opened.
type Links interface {
	Open(ctx context.Context, c core.Container) (core.Link, error)
}

// Spools reads what a dead container left on this host.
type Spools interface {
	// Open reads a spawn's stdout from an absolute offset. An error that wraps
	// core.ErrNotFound says the spawn never wrote one. The caller closes it.
	Open(ctx context.Context, ch core.ChannelID, spawn core.SpawnID, offset int64) (io.ReadCloser, error)
	// Exit reads how the spawn ended, if loop init lived to write it down.
	Exit(ctx context.Context, ch core.ChannelID, spawn core.SpawnID) (core.ExitStatus, bool)
	// Drop deletes a spawn's files; missing ones are fine.
	Drop(ctx context.Context, ch core.ChannelID, spawn core.SpawnID) error
}

// SessionFunc says whether a channel's session can be resumed. known is false
// when it could not be found out; only a proven absence drops the resume.
type SessionFunc func(ch core.Channel, workDir string, session core.SessionID) (exists, known bool)

// Launch is how the CLI of one run is started: what the configuration says and
// the container's spec does not. It holds secrets and is never stored.
type Launch struct {
	Bin             string // the CLI's path or name in the container; empty is claude
	Model           string
	Effort          string
	DisallowedTools []string
	// OAuthToken wins over APIKey. A demo run gets neither.
	OAuthToken string
	APIKey     string
	// Upstream is where model calls go through the link; the zero value means
	// that the CLI reaches the model itself, at BaseURL if that is set.
	Upstream core.ModelUpstream
	BaseURL  string
	// Env is added to the CLI's environment and wins over the runner's own.
	Env []core.EnvVar
	// PluginDirs are folders, in the container, of plugins of the CLI.
	PluginDirs []string
	// MCPServers are added to the built-in server “loop”; one of that name
	// replaces it.
	MCPServers map[string]MCPServer
	// Browser adds the built-in server “loop-browser”; one of that name in MCPServers
	// replaces it.
	Browser bool
	// APIURL is where the built-in servers call Loop; empty is the relay.
	APIURL string
	// DockerConfig is the Docker CLI's config.json for the agent, put beside the
	// run's own files; nil leaves the agent the one in its home.
	DockerConfig []byte
	Timeout      time.Duration // of the whole run; 0 is Options.Timeout
	KeepAlive    time.Duration // of the stopped container; 0 is Options.KeepAlive, negative is none
	Retry        Retry
	Ahead        bool // the CLI of a prompt may be started before it is sent
	// Gated says that the CLI's spawn has a policy: then it is told why something was
	// denied. Whoever makes the spawn's policy sets it, before the command line is made.
	Gated   bool
	Refused error // why the CLI must not be started; a run under way goes on
	// Host is set where the run works on this computer itself.
	Host *HostPlace
}

// OnHost is the launch for a run on this computer itself. A model of the person's own is
// reached there under its own address; only the demo's is behind Loop.
func (l Launch) OnHost(p HostPlace) Launch {
	l.Host = &p
	if !l.Upstream.Demo {
		l.BaseURL, l.Upstream = cmp.Or(l.Upstream.BaseURL, l.BaseURL), core.ModelUpstream{}
	}
	return l
}

// HostPlace is what a run on this computer itself has in the place of a container's own.
type HostPlace struct {
	Runs  string      // folder in which each spawn has its own
	Loop  string      // Loop's program, which serves the tools
	URL   string      // of Loop, for the tools and the demo's model
	Token core.Secret // by which Loop knows the run there
}

// Retry bounds what is tried again inside one run. Zero values take the
// defaults in parentheses, the original's.
type Retry struct {
	MaxAttempts int           // tries in all while the model is busy (5); 1 is no second one
	Base        time.Duration // the first wait, doubled each time (5 s)
	Max         time.Duration // of one wait (120 s)
	// SessionLimitContinue queues a run that goes on when a session limit that
	// ended this one is reset.
	SessionLimitContinue bool
}

func (r Retry) withDefaults(demo bool) Retry {
	r.MaxAttempts = cmp.Or(max(r.MaxAttempts, 0), 5)
	r.Base = cmp.Or(max(r.Base, 0), 5*time.Second)
	r.Max = cmp.Or(max(r.Max, 0), 120*time.Second)
	if demo { // nobody waits minutes to see how a script's errors look
		r.MaxAttempts, r.Base = min(r.MaxAttempts, 3), min(r.Base, time.Second)
	}
	r.Max = max(r.Max, r.Base)
	return r
}

// MCPServer is one entry of the CLI's MCP configuration.
type MCPServer struct {
	Command string            `json:"command"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
}

// Ports are what the runner works with.
type Ports struct {
	Store       Store
	Provision   Provision
	Settings    Settings
	Containers  Containers
	Links       Links
	Spools      Spools
	Sessions    SessionFunc
	Attachments Attachments // nil: there are none
	// Stamp changes with the files that the CLI reads at its start: the conversation that it
	// takes up, settings, commands. nil: nobody looks.
	Stamp      func(ch core.Channel, workDir string, session core.SessionID) string
	Gate       Gate       // nil: programs are not supervised
	Toolchains Toolchains // nil: projects bring none
	// Checkpoints may be nil: nobody keeps files.
	Checkpoints Checkpoints
	// Begun is told of each prompt that came into a channel's queue. It may be nil.
	Begun   func(ctx context.Context, ch core.Channel, prompt string) error
	Publish func(...core.Event)
	Log     *slog.Logger
}

// Options bound the runner's patience. Zero values take the defaults in
// parentheses.
type Options struct {
	Now         func() time.Time
	Parallel    int           // runs under way at once over all channels (8)
	Spares      int           // CLIs that wait for a prompt at once over all channels (4); negative is none
	AfterRun    time.Duration // for which the CLI of the next prompt waits after a run; 0 is none
	Timeout     time.Duration // of a run (1 h, the original's default)
	KeepAlive   time.Duration // of a stopped container (300 s, the original's)
	ResultGrace time.Duration // for the CLI to exit after its result and its background tasks (15 s)
	EngineGrace time.Duration // for an engine that went away to come back (2 min)
	PausedGrace time.Duration // for a full disk to be freed (2 min)
	Flush       time.Duration // how long events are gathered before they are stored (10 ms)
}

func (o Options) withDefaults() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Parallel = cmp.Or(max(o.Parallel, 0), 8)
	o.Spares = max(cmp.Or(o.Spares, 4), 0)
	o.Timeout = cmp.Or(o.Timeout, time.Hour)
	o.KeepAlive = cmp.Or(o.KeepAlive, 300*time.Second)
	o.ResultGrace = cmp.Or(o.ResultGrace, 15*time.Second)
	o.EngineGrace = cmp.Or(o.EngineGrace, 2*time.Minute)
	o.PausedGrace = cmp.Or(o.PausedGrace, 2*time.Minute)
	o.Flush = cmp.Or(o.Flush, 10*time.Millisecond)
	return o
}
