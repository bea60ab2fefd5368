package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"loop/backend/core"
	"loop/backend/policy"
	"loop/backend/provision"
	"loop/backend/redact"
	"loop/backend/runner/transcript"
)

var (
	// errLostRun: the database's run is not the one this work is about any more.
	errLostRun = errors.New("the run was ended by somebody else")
	// errQuit is not an end of the run: Loop is closing and the run goes on.
	errQuit = errors.New("loop is closing")
)

// work is one run under way in this process. Fields without a lock belong to
// the goroutine of the drain.
type work struct {
	s    *Service
	run  core.Run
	ch   core.Channel
	log  *slog.Logger
	live live
	done chan struct{} // closed when this process is through with the run

	service context.Context // of Service.Run
	// ending is done when the run is to be ended (its cause says why) or when
	// Loop closes.
	ending context.Context
	cancel context.CancelCauseFunc // ends the run before its CLI ends by itself, with a *core.Failure; the first counts

	launch    Launch
	spec      core.Spec
	why       core.Explanation
	spare     *spare   // the CLI that waited for the prompt, until it has it
	began     *startAt // how the present try took up a conversation; nil when another launch started it
	container core.Container
	fresh     bool  // the container was made for this try
	resumed   bool  // taken over from an earlier launch of Loop
	slot      bool  // it has one of Service.slots
	launched  bool  // launch is known in full
	setupEnd  error // why the CLI was not started
	unproved  bool  // something of an earlier try may run in the container
	nextSet   bool  // the channel's next start was stored because of this run

	parser  *transcript.Parser
	readOff int64 // the next byte of stdout to read; behind run.SpoolOffset after a restart
	told    int   // events of its output that were stored
	shown   int64 // bytes of pictures in it, as far as they were kept
	under   under
	dying   atomic.Bool // the present try is being ended
	asks    atomic.Bool // the person has yet to decide on the image that the project brings

	// overdue gets a value when the CLI of the present try has not ended in time
	// after its last word; grace does that.
	overdue chan struct{}
	grace   *time.Timer
	limit   *time.Timer // of the whole run; nil while it is not known

	hidden atomic.Pointer[redact.Secrets] // what hide made last
	pieces pieces                         // of the message being streamed

	mu       sync.Mutex
	link     core.Link
	now      chan struct{} // closed to end the wait before a try; nil while there is none
	detached []string      // what ran on behind the agent's back when last looked at
}

func newWork(ctx context.Context, s *Service, run core.Run) *work {
	w := &work{
		s: s, run: run, log: s.p.Log.With("run", run.ID, "channel", run.ChannelID),
		done: make(chan struct{}), parser: &transcript.Parser{},
	}
	w.hidden.Store(&redact.Secrets{})
	w.service = ctx
	w.ending, w.cancel = context.WithCancelCause(ctx)
	return w
}

// cause is why the run is to be ended; nil while it is not, or when only Loop is closing.
func (w *work) cause() *core.Failure {
	f, _ := errors.AsType[*core.Failure](context.Cause(w.ending))
	return f
}

// stopped reports whether a person has asked for the end.
func (w *work) stopped() bool {
	f := w.cause()
	return f != nil && f.Code == core.CodeCancelled
}

// begin takes a claimed run from its start to its end.
func (w *work) begin(ctx context.Context) {
	w.run.Attempt = core.Attempt{Number: 1}
	err := w.readChannel(w.ending)
	if err == nil {
		err = w.decided(w.ending)
	}
	if err == nil {
		err = w.step(w.ending, stepImage)
	}
	if err != nil {
		w.broken(ctx, err)
		return
	}
	w.goOn(ctx)
}

func (w *work) readChannel(ctx context.Context) error {
	return w.insist(ctx, "read channel", func() (err error) {
		w.ch, err = w.s.p.Store.Channel(ctx, w.run.ChannelID)
		return err
	})
}

// want is the run's container. gated says that the gate holds a run that plans, and so the
// mounts need not.
func (w *work) want(gated bool) (provision.Want, *reading) {
	read := &reading{Settings: w.s.p.Settings, run: w.run}
	return provision.Want{
		Channel: w.ch, Run: w.run.ID, Plan: w.run.Plan, PlanGated: w.run.Plan && gated, Shared: true,
		Settings: read, Holder: w.holder(), Begun: w.run.ContainerID != "", OnHost: w.run.OnHost(true),
	}, read
}

// use takes what the container is, and how the CLI is started in it.
func (w *work) use(r provision.Resolved, l Launch) {
	w.spec, w.why, w.launch, w.launched = r.Spec, r.Why, l, true
	w.launch.Take(r)
	if !w.run.Demo { // the demo's model is its script
		w.launch.Model, w.launch.Effort = cmp.Or(w.run.Model, l.Model), cmp.Or(w.run.Effort, l.Effort)
	}
}

// provision gets the run's container.
func (w *work) provision(ctx context.Context) error {
	told := w.run.State != core.RunStarting
	first := !told
	want, read := w.want(w.s.p.Gate.Enforces())
	want.Ready = func(r provision.Resolved) error {
		if r.OnHost != (read.launch.Host != nil) || r.OnHost && w.run.ByAgent() {
			return core.Fail(core.CodeInternal, nil, "The agent was not started, because it is not certain where it was to work.", "")
		}
		if !r.OnHost && r.Spec.Plan != (want.Plan && !want.PlanGated) {
			return core.Fail(core.CodeInternal, nil,
				"No container was made, because one that can write does not fit a run that plans first.", "")
		}
		w.use(r, read.launch)
		if w.launch.Refused != nil {
			return w.launch.Refused
		}
		if told {
			return nil // of an earlier try, or Ensure begins again
		}
		told, w.run.StartedAt = true, w.s.o.Now() // the time limit does not count an image build
		return w.step(ctx, stepContainer, w.explain(w.why)...)
	}
	w.container = core.Container{}
	lease, err := w.s.p.Provision.Ensure(ctx, want)
	if err != nil {
		return err
	}
	w.container, w.fresh = lease.Container, lease.Fresh
	if first && lease.Spec.Setup.Command != "" && !w.run.StartedAt.IsZero() {
		w.run.StartedAt = w.s.o.Now() // nor the set-up of a container
	}
	if told := cmp.Or(lease.Kept(), lease.Renewed()); told != "" {
		return w.say(ctx, "info", told)
	}
	return nil
}

// spawn starts the CLI. When the link breaks meanwhile, the question whether it
// was started is asked again through a new one.
func (w *work) spawn(ctx context.Context) error {
	st, err := w.start(ctx)
	if err != nil {
		return err
	}
	w.began = &st
	w.hide() // before the agent can say anything
	msg, err := w.said()
	if err != nil {
		return err
	}
	req, err := w.request(st)
	if err != nil {
		return err
	}
	if w.spare != nil {
		if used, err := w.useSpare(ctx, req, msg); used || err != nil {
			return err
		}
		w.leaveSpare(ctx)
		w.run.SpawnID = core.SpawnID(core.NewID())
		if err := w.step(ctx, stepAgent); err != nil {
			return err
		}
		if req, err = w.request(st); err != nil {
			return err
		}
	}
	req.Stdin = msg
	w.admit(w.currentLink())
	for try := 0; ; try++ {
		_, err := w.currentLink().Spawn(ctx, req)
		if err == nil {
			return nil
		}
		if !errors.Is(err, core.ErrLinkDown) || try >= 3 || ctx.Err() != nil {
			return err
		}
		if err := w.openLink(ctx); err != nil {
			return err
		}
		if known, err := w.spawned(ctx); err == nil && known != nil {
			return nil
		}
	}
}

// request is the present spawn, without its input.
func (w *work) request(st startAt) (core.SpawnRequest, error) {
	mcp, err := mcpConfig(w.launch, w.run, w.spec.WorkDir)
	if err != nil {
		return core.SpawnRequest{}, err
	}
	rules, err := w.policy()
	if err != nil {
		return core.SpawnRequest{}, err
	}
	if rules == nil && w.run.Plan && !w.spec.Plan && w.launch.Host == nil { // the gate was switched off since the container was made
		return core.SpawnRequest{}, core.Fail(core.CodeForbidden, nil,
			"The gate is off by now, and this run plans in a container that could write.",
			"Send the prompt again: without the gate it gets a container that is read-only.")
	}
	launch := w.launch
	launch.Gated = rules != nil
	return core.SpawnRequest{
		ID: w.run.SpawnID, Argv: argv(launch, w.run, st, w.why.AddDirs),
		Env: environ(w.launch, w.run.SpawnID, runModel(w.launch, w.run)),
		Dir: w.spec.WorkDir, Stdio: core.StdioPipes, Keep: core.KeepSpool,
		Files: files(w.launch, mcp), Policy: rules, PolicyVersion: 1,
	}, nil
}

// policy is the document that the present try goes by. Nothing holds one on this computer.
func (w *work) policy() ([]byte, error) {
	if w.launch.Host != nil {
		return nil, nil
	}
	return w.s.p.Gate.Policy(w.policyName(), w.ch, w.spec, w.run.SpawnID)
}

// policyName is the policy of the gate's baseline that the run's programs go by.
func (w *work) policyName() string {
	if w.run.Plan {
		return policy.NamePlan
	}
	return policy.NameAgent
}

// resolve finds out for a run taken over where its model calls go, how long it may
// take and what is secret. It is called where the engine is likely to answer.
func (w *work) resolve(ctx context.Context) {
	if !w.resumed || w.launched {
		return
	}
	want, read := w.want(false)
	r, err := w.s.p.Provision.Resolve(ctx, want)
	if w.run.Plan && r.Spec.Fixed != w.container.Fixed { // it may be able to write
		want.PlanGated = true
		r, err = w.s.p.Provision.Resolve(ctx, want)
	}
	w.use(r, read.launch)
	if err != nil {
		// Say of a folder that is gone meanwhile. What is known counts: without its route
		// the CLI would hear that there is no model, and secrets would not be hidden.
		w.launched = false
		w.log.Warn("resolve container of a run taken over", "error", err)
	}
}

func (w *work) openLink(ctx context.Context) error {
	w.closeLink()
	w.resolve(ctx)
	l, err := w.s.p.Links.Open(ctx, w.container)
	if err != nil {
		return fmt.Errorf("open link: %w", err)
	}
	if w.run.SpawnID != "" { // between two tries there is none
		w.admit(l)
	}
	w.mu.Lock()
	w.link = l
	w.mu.Unlock()
	return nil
}

// admit tells a link who the present try is, until its spawn is forgotten.
func (w *work) admit(l core.Link) { l.Admit(w.run.SpawnID, w.identity()) }

func (w *work) identity() core.Identity {
	up := w.launch.Upstream
	up.Demo = up.Demo || w.run.Demo
	return core.Identity{
		ChannelID: w.run.ChannelID, RunID: w.run.ID, Upstream: up, Unattended: w.run.Unattended, Rules: w.rules(),
	}
}

// rules make the document that the present try goes by, as the settings stand. A container
// that a run taken over has from other settings keeps its rules: they are for its mounts.
func (w *work) rules() func() ([]byte, error) {
	if !w.launched || w.spec.Fixed != w.container.Fixed || w.container.ID.OnHost() {
		return nil
	}
	name, ch, spec, spawn := w.policyName(), w.ch, w.spec, w.run.SpawnID
	return func() ([]byte, error) { return w.s.p.Gate.Policy(name, ch, spec, spawn) }
}

func (w *work) currentLink() core.Link {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.link
}

func (w *work) closeLink() {
	w.mu.Lock()
	l := w.link
	w.link = nil
	w.mu.Unlock()
	if l != nil {
		if err := l.Close(); err != nil {
			w.log.Debug("close link", "error", err)
		}
	}
}

// spawned is what loop init knows of the present try, nil when it knows nothing.
func (w *work) spawned(ctx context.Context) (*core.SpawnInfo, error) {
	l := w.currentLink()
	if l == nil {
		return nil, core.ErrLinkDown
	}
	list, err := l.Spawns(ctx)
	if err != nil {
		return nil, err
	}
	for _, sp := range list {
		if sp.ID == w.run.SpawnID {
			return &sp, nil
		}
	}
	return nil, nil
}

func (w *work) timeout() time.Duration { return cmp.Or(max(w.launch.Timeout, 0), w.s.o.Timeout) }

func (w *work) keepAlive() time.Duration { return cmp.Or(w.launch.KeepAlive, w.s.o.KeepAlive) }
