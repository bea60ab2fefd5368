package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"loop/backend/bind"
	"loop/backend/core"
	"loop/backend/instance"
)

// sink shows one run. Calls come from one goroutine, in order.
type sink interface {
	event(e core.Event)
	note(text string) // from the command itself, not from Loop
	waits(run core.Run, why waitingData)
	result(run core.Run)
}

// errLeft is returned when the person left without waiting.
var errLeft = errors.New("left")

// maxLost bounds how often a follower that lost its events asks again in a row.
const maxLost = 20

// follower takes one run from prompt to end.
type follower struct {
	app  *app
	core Core
	sink sink
	run  core.Run // grows with what events say

	events    <-chan []core.Event
	began     time.Time      // before the prompt was sent
	said      core.Wait      // the reason last shown for the run's wait
	shown     map[int64]bool // stored events, by id; those of different writers do not come in order
	lastID    int64          // the greatest of them
	ended     bool
	cancelled chan error // answer of Runs.Cancel; nil until the person wants the run to end
	undecided bool       // it waits for a decision on the project's own image
	refusal   error      // why this command did not wait for that
}

// follow returns nil when the run is done, an exitError when it ended in
// another way (said already), a Failure when following failed, or errLeft.
func (f *follower) follow(ctx context.Context, req bind.PromptRequest) error {
	// Following outlives SIGTERM, so that the end of the run can be seen.
	life, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var err error
	var run core.Run
	if f.events, err = f.core.Events(life); err == nil { // before the prompt, so that nothing is missed
		f.began = time.Now()
		run, err = call[core.Run](life, f.core, "Runs.Prompt", req)
	}
	if err != nil {
		return unstarted(f.sink, f.run, err)
	}
	f.run = run
	f.sayWait(run) // else nothing would be said for hours, or for ever
	return f.toEnd(ctx, life)
}

// toEnd follows the run, which Loop knows by now, to its end.
func (f *follower) toEnd(ctx, life context.Context) error {
	if err := f.watch(ctx, life); err != nil {
		return err
	}
	if f.refusal != nil {
		f.run.Outcome.Failure = core.AsFailure(f.refusal)
		f.sink.result(f.run)
		f.app.err.failure(core.AsFailure(f.refusal))
		return exitError(exitFailed)
	}
	f.sink.result(f.run)
	switch f.run.State {
	case core.RunDone:
		return nil
	case core.RunCancelled:
		return exitError(exitCancelled)
	}
	f.app.err.failure(f.reason())
	return exitError(exitFailed)
}

// close closes Loop after err, and says so when that fails and nothing else did.
func (f *follower) close(err error) error {
	if errors.Is(err, errLeft) {
		return exitError(exitCancelled) // in a hurry: the end of the process closes Loop's connection
	}
	if cerr := f.core.Close(); cerr != nil && err == nil {
		f.app.err.failure(core.AsFailure(fmt.Errorf("close Loop: %w", cerr)))
	}
	return err
}

// reason is why the run did not end well.
func (f *follower) reason() *core.Failure {
	if f.run.Outcome.Failure != nil {
		return f.run.Outcome.Failure
	}
	if f.run.State == core.RunInterrupted {
		return core.Fail(core.CodeInterrupted, nil, "The run was interrupted.", "Send the prompt again.")
	}
	return core.Fail(core.CodeNoResult, nil, "The run failed without a reason.", "Look at the timeline in the window, or at loop.log.")
}

// watch handles events and signals until the run has ended.
func (f *follower) watch(ctx, life context.Context) error {
	quiet := time.NewTimer(f.app.times.first)
	defer quiet.Stop()
	// Ends the wait for a run to stop after SIGTERM.
	var leave <-chan time.Time
	terminated := ctx.Done()
	lost := 0
	for !f.ended {
		select {
		case batch, ok := <-f.events:
			if !ok {
				if lost++; lost > maxLost {
					return core.Fail(instance.CodeLost, nil, "The running Loop no longer tells what happens.",
						"The run itself goes on: open Loop to see it.")
				}
				if err := f.reattach(life, lost); err != nil {
					return err
				}
				continue
			}
			for _, e := range batch {
				if f.take(e) {
					lost = 0
					quiet.Reset(f.app.times.quiet)
				}
			}
			if err := f.look(life, batch); err != nil {
				return err
			}
		case <-quiet.C:
			// Silence is ordinary; a connection that died unseen is not.
			err := f.catchUp(life)
			if f.passed(err) {
				err = f.reattach(life, 1)
			}
			if err != nil {
				return err
			}
			quiet.Reset(f.app.times.quiet)
		case <-f.app.interrupts:
			if f.cancelled != nil {
				f.left()
				return errLeft
			}
			f.cancel(life)
			f.sink.note("Stopping the run. Press Ctrl-C again to leave without waiting.")
		case <-terminated:
			terminated = nil
			if f.cancelled == nil {
				f.cancel(life)
				f.sink.note("Stopping the run.")
			}
			leave = time.After(f.app.times.stopping)
		case <-leave:
			f.left()
			return errLeft
		case err := <-f.cancelled:
			f.cancelled = make(chan error) // answered: a further Ctrl-C leaves
			if f.passed(err) {             // the next Loop is asked again
				if err = f.reattach(life, 1); err != nil {
					return err
				}
				continue
			}
			if err != nil && !failedAs(err, core.CodeConflict, core.CodeNotFound) {
				return err
			}
			// Cancel returns once the end is proven and stored; those two say that it was before.
			if err := f.catchUp(life); err != nil {
				return err
			}
			if err == nil && !f.ended {
				f.run.State, f.ended = core.RunCancelled, true
			}
		}
	}
	return nil
}

// left explains what becomes of a run that has not stopped yet.
func (f *follower) left() {
	if _, another := f.core.(*remote); another {
		f.app.err.line("Left before the run had stopped; Loop goes on stopping it.")
		return
	}
	// This process was Loop: the wish to stop the run ends with it.
	f.app.err.line("Left before the run had stopped. Its agent may go on in its container; " +
		"the next start of Loop takes the run up again, and it can be stopped there.")
}

// look reads from Loop what a batch of events only hints at.
func (f *follower) look(life context.Context, batch []core.Event) error {
	missed := func(e core.Event) bool { return e.Type == core.EventReset } // Loop no longer has what this follower missed
	if slices.ContainsFunc(batch, missed) {
		if err := f.catchUp(life); err != nil {
			return err
		}
	}
	waits := func(e core.Event) bool {
		return e.ChannelID == f.run.ChannelID && slices.Contains(changesWaits, e.Type)
	}
	if f.undecided && f.cancelled == nil {
		f.undecided = false
		f.askToolchain(life)
	}
	if f.run.State == core.RunQueued && slices.ContainsFunc(batch, waits) {
		f.lookWhy(life)
	}
	return nil
}

// cancel asks for the end of the run. The goroutine's answer is read by watch,
// or dropped into the buffer when the follower has left.
func (f *follower) cancel(life context.Context) {
	answer := make(chan error, 1)
	f.cancelled = answer
	c, id := f.core, f.run.ID
	go func() {
		_, err := c.Call(life, "Runs.Cancel", id)
		answer <- err
	}()
}

// reattach follows events again after they broke off and fills the hole.
func (f *follower) reattach(life context.Context, try int) (err error) {
	for ; try <= maxLost; try++ {
		if f.events, err = f.core.Events(life); err == nil {
			if err = f.catchUp(life); err == nil {
				return nil
			}
		}
		if f.passed(err) {
			if err = f.takeOver(life); err != nil {
				return err
			}
			continue
		}
		select {
		case <-time.After(f.app.times.reattach):
		case <-f.app.interrupts:
			f.app.err.line("Left; the run itself goes on.")
			return errLeft
		}
	}
	return err
}

// passed reports that the Loop of another command went away.
func (f *follower) passed(err error) bool { return passing(f.core) && failedAs(err, instance.CodeLost) }

// takeOver finds the Loop that came after the one of a command that is done, or
// becomes it: the run goes on in its container, and is found there.
func (f *follower) takeOver(life context.Context) error {
	c, err := f.app.connect(life)
	if err != nil {
		return err
	}
	_ = f.core.Close() // it is gone
	f.core = c
	if f.cancelled != nil {
		f.cancel(life)
	}
	return nil
}

const timelineLimit = 1000

// catchUp reads the stored events of the run that were not shown yet.
func (f *follower) catchUp(life context.Context) error {
	var missed []core.Event
	for before := int64(0); ; {
		page, err := call[bind.TimelinePage](life, f.core, "Channels.Timeline", f.run.ChannelID, before, timelineLimit)
		if err != nil {
			return err
		}
		for _, e := range slices.Backward(page.Events) { // a page is oldest first
			if e.RunID == f.run.ID && !f.shown[e.ID] {
				missed = append(missed, e)
			}
		}
		if !page.HasMore || len(page.Events) == 0 {
			break
		}
		oldest := page.Events[0]
		if oldest.ID <= f.lastID || oldest.Timestamp < f.began.UnixMilli() || (before > 0 && oldest.ID >= before) {
			break // nothing of this run is older
		}
		before = oldest.ID
	}
	slices.Reverse(missed)
	for _, e := range missed {
		f.take(e)
	}
	return nil
}

// take shows one event if it belongs to the run; it reports whether it did.
func (f *follower) take(e core.Event) bool {
	if e.Type == core.EventImageBuild && f.run.StartedAt.IsZero() {
		f.sink.event(e) // what a run that has not started waits for
		return false
	}
	if e.RunID != f.run.ID || f.ended {
		return false
	}
	if e.ID > 0 {
		if f.shown[e.ID] {
			return false
		}
		if f.shown == nil {
			f.shown = map[int64]bool{}
		}
		f.shown[e.ID], f.lastID = true, max(f.lastID, e.ID)
	}
	switch e.Type {
	case core.EventQueueChanged:
		decode(e, func(r core.Run) {
			if r.ID == f.run.ID {
				f.run = r
			}
		})
	case core.EventStatus:
		decode(e, func(s core.Status) { f.learn(s, e) })
	}
	f.sink.event(e)
	return true
}

// learn puts a status into the run, so that the result line is whole although
// no call returns a single run.
func (f *follower) learn(s core.Status, e core.Event) {
	at := time.UnixMilli(e.Timestamp)
	f.undecided = s.Step == core.StepToolchain && !s.State.Terminal()
	f.run.State = s.State
	if s.State == core.RunRunning && f.run.StartedAt.IsZero() {
		f.run.StartedAt = at
	}
	if !s.State.Terminal() {
		return
	}
	f.ended = true
	if f.run.EndedAt.IsZero() {
		f.run.EndedAt = at
	}
	f.run.Outcome = core.Outcome{
		Text: s.Result, SessionID: s.SessionID, Model: s.Model, NumTurns: s.NumTurns, StopReason: s.StopReason,
		Duration:   time.Duration(s.DurationMs) * time.Millisecond,
		DurationMs: s.DurationMs, ExitCode: s.ExitCode, Failure: s.Failure, Usage: s.Usage,
	}
	if s.Failure == nil && s.Error != "" {
		f.run.Outcome.Failure = core.Fail(core.CodeNoResult, nil, s.Error, "")
	}
}
