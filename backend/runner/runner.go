package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"loop/backend/backoff"
	"loop/backend/core"
	"loop/backend/wire"
)

// MaxPrompt bounds a prompt in bytes: it travels in one frame of the link
// (1 MiB) beside everything else of the spawn request.
const MaxPrompt = 512 << 10

// cancelWait is how long Cancel waits for the proof: the longest ladder of an
// engine that answers (killWait, drainWait, a container's stop) and some more.
const cancelWait = time.Minute

// takenOverIn is how long Cancel waits for a run that is about to be taken over: one
// of an earlier launch, or one whose claim was not answered.
const takenOverIn = 2 * time.Second

// Service runs prompts. Its methods may be called from any goroutine; nothing
// is started before Run.
type Service struct {
	p Ports
	o Options

	slots chan struct{} // one per run under way
	apart atomic.Int32  // runs under way that wait for a person, without a slot
	wg    sync.WaitGroup

	order chan struct{} // see inOrder

	mu      sync.Mutex
	ctx     context.Context                  // of Run; nil before it
	ready   bool                             // the runs of the launch before have their drains
	closing bool                             // Run is ending: nothing new is started
	drains  map[core.ChannelID]chan struct{} // what wakes the goroutine that works a channel's queue
	active  map[core.RunID]*work
	spares  map[core.ChannelID]*spare

	startingAhead map[core.ChannelID]*starting

	quiet map[core.ChannelID]bool // nothing of them is claimed
}

// New makes the service.
func New(p Ports, o Options) *Service {
	o = o.withDefaults()
	if p.Gate == nil {
		p.Gate = noGate{}
	}
	if p.Attachments == nil {
		p.Attachments = noAttachments{}
	}
	return &Service{
		p: p, o: o, slots: make(chan struct{}, o.Parallel), order: make(chan struct{}, 1),
		drains: map[core.ChannelID]chan struct{}{}, active: map[core.RunID]*work{},
		spares: map[core.ChannelID]*spare{}, startingAhead: map[core.ChannelID]*starting{}, quiet: map[core.ChannelID]bool{},
	}
}

// inOrder lets one caller at a time change the queue and announce the change, so that
// no page hears that a run was claimed before it hears that it was queued. The caller
// calls leave.
func (s *Service) inOrder() (leave func()) {
	s.order <- struct{}{}
	return func() { <-s.order }
}

// MaxRuns is how many runs are under way at once over all channels at most.
func (s *Service) MaxRuns() int { return s.o.Parallel }

// Run first looks after the runs that were under way when Loop last ended,
// then works the queues until ctx is done. It returns when nothing it started
// is left; containers of runs under way go on. It may be called once.
func (s *Service) Run(ctx context.Context) error {
	s.mu.Lock()
	if s.ctx != nil {
		s.mu.Unlock()
		return errors.New("runner already runs")
	}
	s.ctx = ctx
	s.mu.Unlock()
	s.recover(ctx)
	<-ctx.Done()
	s.mu.Lock()
	s.closing = true
	s.mu.Unlock()
	s.endSpares(ctx)
	s.wg.Wait()
	return nil
}

// Prompt stores a prompt as a queued run together with its message and returns
// it, with what it waits for; the run starts when the channel is free. An empty
// ID gets one. The same ID again returns the run as it stands.
func (s *Service) Prompt(ctx context.Context, req core.Run) (core.Run, error) {
	run, err := s.enqueue(ctx, req)
	return s.whyWaits(ctx, run), err
}

func (s *Service) enqueue(ctx context.Context, req core.Run) (run core.Run, err error) {
	if req.ID == "" {
		req.ID = core.RunID(core.NewID())
	}
	if err := checkID(req.ID); err != nil {
		return core.Run{}, err
	}
	if err := core.CheckText("prompt", req.Prompt, MaxPrompt); err != nil {
		return core.Run{}, err
	}
	if err := req.Session.Check(); err != nil {
		return core.Run{}, err
	}
	if err := cmp.Or(core.CheckModel(req.Model), core.CheckEffort(req.Effort)); err != nil {
		return core.Run{}, err
	}
	if req.Attachments, err = s.attached(req); err != nil {
		return core.Run{}, err
	}
	if req.Delay < 0 || req.Delay > MaxDelay {
		return core.Run{}, core.Fail(core.CodeInvalid, nil, "The delay is not within 30 days.", "Choose a shorter one.")
	}
	if req.Delay > 0 {
		req.NotBefore = s.o.Now().Add(req.Delay)
	}
	return s.enqueueAs(ctx, req)
}

// enqueueAs stores a run whose wishes were checked.
func (s *Service) enqueueAs(ctx context.Context, req core.Run) (core.Run, error) {
	ch, err := s.p.Store.Channel(ctx, req.ChannelID)
	if err != nil {
		if errors.Is(err, core.ErrNotFound) {
			return core.Run{}, core.Fail(core.CodeNotFound, err, "This channel does not exist any more.",
				"Choose another channel or add the folder again.")
		}
		return core.Run{}, fmt.Errorf("read channel: %w", err)
	}
	run := core.Run{
		ID: req.ID, ChannelID: ch.ID, Prompt: req.Prompt, AuthorID: req.AuthorID, Priority: req.Priority,
		Demo: req.Demo || ch.Kind == core.KindDemo, Script: req.Script, NotBefore: req.NotBefore,
		Attachments: req.Attachments, Delay: req.Delay, Plan: req.Plan, Unattended: req.Unattended, Session: req.Session, Trigger: req.Trigger,
		Model: req.Model, Effort: req.Effort,
		State: core.RunQueued, CreatedAt: s.o.Now(),
	}
	defer s.inOrder()()
	stored, evs, created, err := s.p.Store.Enqueue(ctx, run, saidEvent(run, s.o.Now()))
	if err != nil {
		if errors.Is(err, core.ErrConflict) {
			return core.Run{}, core.Fail(core.CodeConflict, err, "This prompt's id is already used by another prompt.",
				"Send the prompt again.")
		}
		return core.Run{}, fmt.Errorf("store prompt: %w", err)
	}
	if created {
		s.p.Publish(append(evs, s.queueEvent(stored))...)
		if s.p.Begun != nil {
			if err := s.p.Begun(ctx, ch, run.Prompt); err != nil { // the prompt is stored, which counts
				s.p.Log.Warn("name the channel", "channel", ch.ID, "error", err)
			}
		}
	}
	s.kick(ch.ID)
	return stored, nil
}

// saidEvent is the message that a queued run shows as.
func saidEvent(run core.Run, at time.Time) core.Event {
	m := core.MessageCreated{MsgID: string(run.ID), AuthorID: run.AuthorID, Content: run.Prompt,
		Attachments: run.Attachments, Model: run.Model, Effort: run.Effort, Priority: run.Priority}
	if !run.NotBefore.IsZero() {
		m.NotBefore = run.NotBefore.UnixMilli()
	}
	return core.NewEvent(core.EventMessageCreated, run.ChannelID, run.ID, at, m)
}

// checkID: a run's id becomes a part of paths and labels, as the ids of the link do.
func checkID(id core.RunID) error {
	if wire.ValidID(string(id)) {
		return nil
	}
	return core.Fail(core.CodeInvalid, nil, "The prompt's client_id cannot be a part of a path.",
		"Use 1 to 64 letters and digits of ASCII, “-” and “_”, beginning with a letter or a digit; a UUID is one.")
}

// Remove takes a queued run out of the queue; one that has started is a conflict.
func (s *Service) Remove(ctx context.Context, id core.RunID) error {
	was, _, err := s.cancelQueued(ctx, id)
	if err != nil || was == core.RunQueued {
		return err
	}
	return core.Fail(core.CodeConflict, nil, "This prompt has already been started.", "Stop the run instead.")
}

// Cancel ends a run and returns once it is proven gone: a queued one at once,
// one under way when its processes have ended. A run that has ended is fine.
func (s *Service) Cancel(ctx context.Context, id core.RunID) error {
	pause := backoff.Backoff{First: 5 * time.Millisecond, Most: time.Second}
	for began := time.Now(); ; {
		was, w, err := s.cancelQueued(ctx, id)
		switch {
		case err != nil || was == core.RunQueued || was.Terminal():
			return err
		case w == nil && time.Since(began) < takenOverIn && pause.Wait(ctx):
			continue
		case w == nil:
			return core.Fail(core.CodeConflict, nil, "Loop is not looking after this run at the moment.", "Try again in a few seconds.")
		}
		w.cancel(cancelled())
		if err := w.gone(ctx); err != nil {
			return err
		}
		run, err := s.run(ctx, id)
		switch {
		case err != nil || run.State.Terminal():
			return err
		case run.State != core.RunQueued:
			return core.Fail(core.CodeConflict, nil, "The run was not ended because Loop is closing.",
				"Start Loop again and stop the run there.")
		}
		// A run of an earlier launch went back to the queue at that moment.
	}
}

// gone waits until this process is through with the run.
func (w *work) gone(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, cancelWait)
	defer cancel()
	select {
	case <-w.done:
		return nil
	case <-ctx.Done():
		return core.Fail(core.CodeTimeout, ctx.Err(), "The run was told to stop, but its end is not proven yet.",
			"Loop goes on trying; look at the run's state in a moment.")
	}
}

// CancelChannel ends everything of a channel, queued runs first.
func (s *Service) CancelChannel(ctx context.Context, ch core.ChannelID) error {
	queued, err := s.p.Store.Queue(ctx, ch)
	if err != nil {
		return fmt.Errorf("read queue: %w", err)
	}
	active, err := s.p.Store.ActiveRuns(ctx)
	if err != nil {
		return fmt.Errorf("read runs: %w", err)
	}
	return s.cancelAll(ctx, append(queued, active...), func(r core.Run) bool { return r.ChannelID == ch })
}

func (s *Service) cancelAll(ctx context.Context, runs []core.Run, those func(core.Run) bool) error {
	for _, r := range runs {
		if those(r) {
			if err := s.Cancel(ctx, r.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// Retry queues the prompt of an ended run again, as a new run. A run that waits before its
// next try begins that now.
func (s *Service) Retry(ctx context.Context, id core.RunID) (core.Run, error) {
	run, err := s.run(ctx, id)
	if err != nil {
		return core.Run{}, err
	}
	if !run.State.Terminal() {
		s.mu.Lock()
		w := s.active[id]
		s.mu.Unlock()
		if w != nil && w.hurry() {
			return run, nil
		}
		return core.Run{}, core.Fail(core.CodeConflict, nil, "This run has not ended yet.", "Wait for its end or stop it first.")
	}
	return s.Prompt(ctx, core.Run{
		ChannelID: run.ChannelID, Prompt: run.Prompt, AuthorID: run.AuthorID, Priority: run.Priority, Demo: run.Demo,
		Script: run.Script, Plan: run.Plan, Unattended: run.Unattended, Session: run.Session, Attachments: run.Attachments,
		Model: run.Model, Effort: run.Effort,
	})
}

// Live returns the message being written in a channel, nil when there is none.
func (s *Service) Live(ch core.ChannelID) *core.LiveMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.active {
		if w.run.ChannelID == ch {
			return w.live.snapshot(w.run.ID)
		}
	}
	return nil
}

func (s *Service) run(ctx context.Context, id core.RunID) (core.Run, error) {
	run, err := s.p.Store.Run(ctx, id)
	if errors.Is(err, core.ErrNotFound) {
		return run, core.Fail(core.CodeNotFound, err, "This run does not exist.", "Reload the timeline.")
	}
	return run, err
}

// cancelQueued ends a run that nobody has claimed. was is the state it was in, and w
// works one that was claimed; nobody claims it in between.
func (s *Service) cancelQueued(ctx context.Context, id core.RunID) (was core.RunState, w *work, err error) {
	defer s.inOrder()()
	s.mu.Lock()
	w = s.active[id]
	s.mu.Unlock()
	run, err := s.run(ctx, id)
	if was = run.State; err != nil || was != core.RunQueued {
		return was, w, err
	}
	run.State, run.EndedAt = core.RunCancelled, s.o.Now()
	run.Outcome.Failure = cancelled()
	evs, err := s.p.Store.FinishRun(ctx, run,
		core.NewEvent(core.EventMessageDeleted, run.ChannelID, id, s.o.Now(), core.MessageUpdated{MsgID: string(id)}),
		core.NewEvent(core.EventStatus, run.ChannelID, id, s.o.Now(), statusOf(run, "")))
	if err != nil {
		return was, nil, fmt.Errorf("cancel queued run: %w", err)
	}
	s.p.Publish(append(evs, s.queueEvent(run))...)
	s.kick(run.ChannelID) // it may have held up what was behind it
	return was, nil, nil
}

func (s *Service) queueEvent(run core.Run) core.Event {
	return core.NewEvent(core.EventQueueChanged, run.ChannelID, run.ID, s.o.Now(), run)
}
