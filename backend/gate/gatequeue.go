package gate

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"loop/backend/bus"
	"loop/backend/core"
)

// Bounds of the queue. A link holds at most wire.MaxQuestions calls, so that the first
// is reached by many containers together.
const (
	maxWaiting  = 4096 // questions and parked calls together
	maxPerRun   = 20   // questions of one run before the rest stays behind one
	defaultTime = 5 * time.Minute
	extension   = 5 * time.Minute
	maxTime     = 24 * time.Hour
	// admitHold is how long a call of a spawn that nobody has named yet is kept: after a
	// start of Loop its link is there a moment before its run is.
	admitHold = 5 * time.Second
)

// Timeline stores events of runs and returns them with their ids. GateEvents are those of a
// run that tell of questions and their ends, oldest first, without diffs and offers.
type Timeline interface {
	AddEvents(ctx context.Context, events ...core.Event) ([]core.Event, error)
	GateEvents(ctx context.Context, run core.RunID) ([]core.Event, error)
}

// Rules keeps what a person wants remembered beyond a run.
type Rules interface {
	// Remember stores a rule for the project of ch, or for everything with ScopeAlways.
	// undo takes it back.
	Remember(ctx context.Context, scope core.ApprovalScope, ch core.ChannelID, r Rule) (undo func(context.Context) error, err error)
}

// Audit writes down decisions. One that returned nil is on disk, as far as the system
// says.
type Audit interface {
	Append(r Record) error
}

// Settings are read anew for each question.
type Settings struct {
	Timeout       time.Duration // 0 is five minutes
	HoldUntilBack bool          // questions wait without an end
}

// Options are what a Service works with. Rules and Audit may be nil: then nothing is
// remembered beyond a run, or written down.
type Options struct {
	Bus      *bus.Bus
	Timeline Timeline
	Rules    Rules
	Audit    Audit
	Settings func() Settings
	Now      func() time.Time // dates what is shown; a computer that slept is late by it
	Log      *slog.Logger
}

// Service is the queue. Held and the answers work before Run; events wait for it.
type Service struct {
	o     Options
	began time.Time // of this launch, by the calendar

	mu      sync.Mutex
	closed  bool
	askers  map[core.SpawnID]*asker
	changed chan struct{} // closed when askers changes
	open    map[string]*question
	floods  map[origin]*flood
	buckets map[origin]*bucket
	backs   map[origin]*bucket   // of what they withdrew
	refused map[origin]time.Time // all that they ask is denied until then
	parked  int
	memory  memory
	recent  recent
	tools   toolCalls
	clocks  map[core.RunID]*clock
	decided *decided
	settles *settles
	out     []outgoing
	status  core.GateStatus
	mode    string            // of the settings; empty is enforce
	modes   map[string]string // of folders that have another one
	trial   error             // why the last trial's gate cannot be relied on
	debugs  bool              // a program was started that may debug others

	wake chan struct{} // capacity 1: out has something
}

// New makes a queue. The caller has Run publish what happens in it.
func New(o Options) *Service {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Settings == nil {
		o.Settings = func() Settings { return Settings{} }
	}
	return &Service{
		o: o, began: o.Now().Round(0), askers: map[core.SpawnID]*asker{}, changed: make(chan struct{}), open: map[string]*question{},
		floods: map[origin]*flood{}, buckets: map[origin]*bucket{}, backs: map[origin]*bucket{}, refused: map[origin]time.Time{},
		memory: newMemory(), recent: recent{},
		tools: toolCalls{}, clocks: map[core.RunID]*clock{}, decided: newDecided(),
		settles: newSettles(), wake: make(chan struct{}, 1),
		status: notProbed(),
	}
}

// Status is the gate's state as it was probed last.
func (s *Service) Status() core.GateStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shown()
}

// SetStatus takes the result of a probe and tells the page when it is another, or when
// the clock that it shows with it is.
func (s *Service) SetStatus(st core.GateStatus) {
	s.mu.Lock()
	defer s.mu.Unlock()
	was, later := s.shown(), st.Probed.Sub(s.status.Probed) >= time.Minute
	s.status = st
	s.tellStatus(was, later)
}

// Probed takes what the start of a program has shown: that the gate holds, or why it
// does not, and whether programs may debug each other, which some never may. A start shows
// less than a trial, and so does not speak against a bad one.
func (s *Service) Probed(err error, debuggers bool) {
	if err == nil && s.Holds() != nil || s.Status().State == "off" {
		return // or it was started before the gate was switched off
	}
	s.mu.Lock()
	was := s.shown()
	s.debugs = s.debugs || debuggers
	s.tellStatus(was, false)
	s.mu.Unlock()
	s.probed(err)
}

// Tried takes what a trial of every part of the gate has shown. After a bad one nothing
// starts under the gate until another trial went well.
func (s *Service) Tried(err error) {
	s.mu.Lock()
	s.trial = err
	s.mu.Unlock()
	s.probed(err)
}

// Holds is why the gate cannot be relied on, by the last trial. nil says that there was
// none, or that it went well.
func (s *Service) Holds() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.trial
}

// Enforces reports whether the gate was seen to hold and is to enforce what its rules say.
func (s *Service) Enforces() bool { return s.Status().State == "on" }

func (s *Service) probed(err error) {
	st := core.GateStatus{State: "on", Text: "Gate on", Probed: s.o.Now()}
	if err != nil {
		f := core.AsFailure(err)
		st.State, st.Text, st.Why = "broken", "Gate does not hold", f.Cause+" "+f.Remedy
	}
	s.SetStatus(st)
}

// Enable says whether the settings want the gate. What was probed before does not
// count for what comes after.
func (s *Service) Enable(on bool) {
	switch was := s.Status().State; {
	case !on && was != "off":
		s.SetStatus(core.GateStatus{State: "off", Text: "Gate off", Why: "gates.agentgate.enabled is false in the settings."})
	case on && was == "off":
		s.SetStatus(notProbed())
	default:
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trial = nil
}

// notProbed is the state until a program was started.
func notProbed() core.GateStatus {
	return core.GateStatus{
		State: "unknown", Text: "Gate not probed yet", Why: "The next program that Loop starts shows whether it holds.",
	}
}

// Pending lists the questions that wait, oldest first.
func (s *Service) Pending() []core.Approval {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pending()
}

// Close denies everything that waits and everything that comes after.
func (s *Service) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, q := range s.open {
		s.resolve(q, broken("Loop is closing"))
	}
	for _, f := range s.floods {
		s.endFlood(f, broken("Loop is closing"))
	}
}
