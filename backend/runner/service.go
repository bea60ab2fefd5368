package runner

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"loop/backend/core"
	"loop/backend/wire"
)

// MaxPrompt bounds a prompt in bytes: it travels in one frame of the link
// (1 MiB) beside everything else of the spawn request.
const MaxPrompt = 512 << 10

// cancelWait is how long Cancel waits for the proof: the longest ladder of an
// engine that answers (killWait, drainWait, a container's stop) and some more.
const cancelWait = time.Minute

// Service runs prompts. Its methods may be called from any goroutine; nothing
// is started before Run.
type Service struct {
	p Ports
	o Options

	slots chan struct{} // one per run under way
	wg    sync.WaitGroup

	// order is held from a change of the queue until it is told, so that no page
	// hears that a run was claimed before it hears that it was queued.
	order chan struct{}

	mu      sync.Mutex
	ctx     context.Context // of Run; nil before it
	ready   bool            // the runs of the launch before have their drains
	closing bool            // Run is ending: nothing new is started
	drains  map[core.ChannelID]*drain
	active  map[core.RunID]*work
}

// New makes the service.
func New(p Ports, o Options) *Service {
	if p.Log == nil {
		p.Log = slog.New(slog.DiscardHandler)
	}
	if p.Publish == nil {
		p.Publish = func(...core.Event) {}
	}
	o = o.withDefaults()
	return &Service{
		p: p, o: o, slots: make(chan struct{}, o.Parallel), order: make(chan struct{}, 1),
		drains: map[core.ChannelID]*drain{}, active: map[core.RunID]*work{},
	}
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

func (s *Service) enqueue(ctx context.Context, req core.Run) (core.Run, error) {
	if req.ID == "" {
		req.ID = core.RunID(core.NewID())
	}
	if err := checkID(req.ID); err != nil {
		return core.Run{}, err
	}
	if err := checkPrompt(req.Prompt); err != nil {
		return core.Run{}, err
	}
	if err := checkStart(req.Session); err != nil {
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
			return core.Run{}, core.Fail(core.CodeNotFound, err, "This channel does not exist any more.", "Choose another channel or add the folder again.")
		}
		return core.Run{}, fmt.Errorf("read channel: %w", err)
	}
	run := core.Run{
		ID: req.ID, ChannelID: ch.ID, Prompt: req.Prompt, AuthorID: req.AuthorID, Priority: req.Priority,
		Demo: req.Demo || ch.Kind == core.KindDemo, Script: req.Script, NotBefore: req.NotBefore,
		Delay: req.Delay, Plan: req.Plan, Session: req.Session, Trigger: req.Trigger,
		State: core.RunQueued, CreatedAt: s.o.Now(),
	}
	stored, err := s.put(ctx, run, saidEvent(run, s.o.Now()))
	if err != nil {
		if errors.Is(err, core.ErrConflict) {
			return core.Run{}, core.Fail(core.CodeConflict, err, "This prompt's id is already used by another prompt.", "Send the prompt again.")
		}
		return core.Run{}, fmt.Errorf("store prompt: %w", err)
	}
	s.kick(ch.ID)
	return stored, nil
}

// saidEvent is the message that a queued run shows as.
func saidEvent(run core.Run, at time.Time) core.Event {
	m := core.MessageCreated{MsgID: string(run.ID), AuthorID: run.AuthorID, Content: run.Prompt, Priority: run.Priority}
	if !run.NotBefore.IsZero() {
		m.NotBefore = run.NotBefore.UnixMilli()
	}
	return core.NewEvent(core.EventMessageCreated, run.ChannelID, run.ID, at, m)
}

// put stores a queued run and tells it.
func (s *Service) put(ctx context.Context, run core.Run, said core.Event) (core.Run, error) {
	s.order <- struct{}{}
	defer func() { <-s.order }()
	stored, evs, created, err := s.p.Store.Enqueue(ctx, run, said)
	if err == nil && created {
		s.p.Publish(append(evs, s.queueEvent(stored))...)
	}
	return stored, err
}

// checkID: a run's id becomes a part of paths and labels, as the ids of the link do.
func checkID(id core.RunID) error {
	if wire.ValidID(string(id)) {
		return nil
	}
	return core.Fail(core.CodeInvalid, nil, "The prompt's client_id cannot be a part of a path.",
		"Use 1 to 64 letters and digits of ASCII, “-” and “_”, beginning with a letter or a digit; a UUID is one.")
}

func checkPrompt(p string) error {
	switch {
	case strings.TrimSpace(p) == "":
		return core.Fail(core.CodeInvalid, nil, "The prompt is empty.", "Write what the agent should do.")
	case len(p) > MaxPrompt:
		return core.Fail(core.CodeInvalid, nil, fmt.Sprintf("The prompt is %d KiB long; the limit is %d KiB.", len(p)>>10, MaxPrompt>>10),
			"Put the long part into a file in the folder and name the file in the prompt.")
	case !utf8.ValidString(p) || strings.ContainsRune(p, 0):
		return core.Fail(core.CodeInvalid, nil, "The prompt is not plain text.", "Remove the characters that are not text.")
	}
	return nil
}

// Remove takes a queued run out of the queue; one that has started is a conflict.
func (s *Service) Remove(ctx context.Context, id core.RunID) error {
	run, err := s.run(ctx, id)
	if err != nil {
		return err
	}
	if run.State == core.RunQueued {
		if err = s.cancelQueued(ctx, run); !errors.Is(err, core.ErrConflict) {
			return err
		}
	}
	return core.Fail(core.CodeConflict, err, "This prompt has already been started.", "Stop the run instead.")
}

// Cancel ends a run and returns once it is proven gone: a queued one at once,
// one under way when its processes have ended. A run that has ended is fine.
func (s *Service) Cancel(ctx context.Context, id core.RunID) error {
	for {
		run, err := s.run(ctx, id)
		if err != nil || run.State.Terminal() {
			return err
		}
		if run.State == core.RunQueued {
			if err := s.cancelQueued(ctx, run); err == nil || !errors.Is(err, core.ErrConflict) {
				return err
			}
			continue // it was claimed meanwhile
		}
		if err := s.cancelActive(ctx, id); err != nil {
			return err
		}
		if run, err = s.run(ctx, id); err != nil || run.State != core.RunQueued {
			return s.cancelled(run, err)
		}
		// A run of an earlier launch went back to the queue at that moment.
	}
}

// cancelled is what Cancel answers once this process is through with the run.
func (s *Service) cancelled(run core.Run, err error) error {
	if err == nil && !run.State.Terminal() {
		return core.Fail(core.CodeConflict, nil, "The run was not ended because Loop is closing.", "Start Loop again and stop the run there.")
	}
	return err
}

// cancelActive ends a run under way and waits until this process is through with it.
func (s *Service) cancelActive(ctx context.Context, id core.RunID) error {
	w := s.workOf(ctx, id)
	if w == nil {
		if run, err := s.run(ctx, id); err == nil && (run.State.Terminal() || run.State == core.RunQueued) {
			return nil
		}
		return core.Fail(core.CodeConflict, nil, "Loop is not looking after this run at the moment.", "Try again in a few seconds.")
	}
	w.end(errCancelled)
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
	for _, r := range queued {
		if err := s.Cancel(ctx, r.ID); err != nil {
			return err
		}
	}
	active, err := s.p.Store.ActiveRuns(ctx)
	if err != nil {
		return fmt.Errorf("read runs: %w", err)
	}
	for _, r := range active {
		if r.ChannelID == ch {
			if err := s.Cancel(ctx, r.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// Retry queues the prompt of an ended run again, as a new run.
func (s *Service) Retry(ctx context.Context, id core.RunID) (core.Run, error) {
	run, err := s.run(ctx, id)
	if err != nil {
		return core.Run{}, err
	}
	if !run.State.Terminal() {
		return core.Run{}, core.Fail(core.CodeConflict, nil, "This run has not ended yet.", "Wait for its end or stop it first.")
	}
	return s.Prompt(ctx, core.Run{ChannelID: run.ChannelID, Prompt: run.Prompt, AuthorID: run.AuthorID, Priority: run.Priority, Demo: run.Demo, Script: run.Script, Plan: run.Plan, Session: run.Session})
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

// cancelQueued ends a run that nobody has claimed; core.ErrConflict otherwise.
func (s *Service) cancelQueued(ctx context.Context, run core.Run) error {
	s.order <- struct{}{}
	defer func() { <-s.order }()
	// Asked again where nobody can claim it: the store would also end a run that
	// is starting, and that one's end has to be proven.
	run, err := s.run(ctx, run.ID)
	if err != nil {
		return err
	}
	if run.State != core.RunQueued {
		return core.ErrConflict
	}
	run.State, run.EndedAt = core.RunCancelled, s.o.Now()
	run.Outcome.Failure = cancelledFailure()
	evs, err := s.p.Store.FinishRun(ctx, run,
		core.NewEvent(core.EventMessageDeleted, run.ChannelID, run.ID, s.o.Now(), core.MessageUpdated{MsgID: string(run.ID)}),
		core.NewEvent(core.EventStatus, run.ChannelID, run.ID, s.o.Now(), statusOf(run, "")))
	if err != nil {
		return fmt.Errorf("cancel queued run: %w", err)
	}
	s.p.Publish(append(evs, s.queueEvent(run))...)
	s.kick(run.ChannelID) // it may have held up what was behind it
	return nil
}

// workOf waits briefly for a run that was claimed but is not registered yet.
func (s *Service) workOf(ctx context.Context, id core.RunID) *work {
	deadline := time.NewTimer(2 * time.Second)
	defer deadline.Stop()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		s.mu.Lock()
		w := s.active[id]
		s.mu.Unlock()
		if w != nil {
			return w
		}
		select {
		case <-tick.C:
		case <-deadline.C:
			return nil
		case <-ctx.Done():
			return nil
		}
	}
}

func (s *Service) queueEvent(run core.Run) core.Event {
	return core.NewEvent(core.EventQueueChanged, run.ChannelID, run.ID, s.o.Now(), run)
}
