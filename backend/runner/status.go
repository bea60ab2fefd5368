package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"loop/backend/backoff"
	"loop/backend/core"
	"loop/backend/provision"
)

// Steps of a starting run, as core.Status names them.
const (
	stepToolchain = core.StepToolchain
	stepSlot      = "slot"
	stepImage     = "image"
	stepContainer = "container"
	stepLink      = "link"
	stepAgent     = "agent"
)

// statusOf is a run's state as the timeline shows it.
func statusOf(run core.Run, step string) core.Status {
	o := run.Outcome
	st := core.Status{
		Status: "running", State: run.State, Step: step, Failure: o.Failure, Result: o.Text, SessionID: o.SessionID,
		DurationMs: o.DurationMs, NumTurns: o.NumTurns, StopReason: o.StopReason, Model: o.Model, Usage: o.Usage, ExitCode: o.ExitCode,
		MsgID: string(run.ID), Trigger: run.Trigger, TriggerContent: core.Shortened(run.Prompt, maxBeginning),
		OnHost: run.ContainerID.OnHost(),
	}
	switch run.State {
	case core.RunDone, core.RunCancelled:
		st.Status = "completed"
	case core.RunFailed, core.RunInterrupted:
		st.Status = "error"
	}
	if o.Failure != nil {
		st.Error = o.Failure.Cause
	}
	return st
}

// maxBeginning bounds what an event repeats of a prompt, in runes: a line in a
// notification.
const maxBeginning = 120

func (w *work) event(t core.EventType, data any) core.Event {
	return core.NewEvent(t, w.run.ChannelID, w.run.ID, w.s.o.Now(), data)
}

func (w *work) notice(level, text string) core.Event {
	return w.event(core.EventNotice, core.Notice{Level: level, Text: text})
}

// step stores where the run stands and announces it. The steps of a later try are not
// announced: the run is running.
func (w *work) step(ctx context.Context, name string, more ...core.Event) error {
	if name == "" || w.run.State == core.RunStarting {
		more = append(more, w.event(core.EventStatus, statusOf(w.run, name)))
	}
	return w.update(ctx, more...)
}

// update stores the run and announces the events. A run whose state is not stored would
// hold up its channel, so only a state that cannot follow is an error besides ctx's.
func (w *work) update(ctx context.Context, events ...core.Event) error {
	var told []core.Event
	err := w.insist(ctx, "store step", func() (err error) {
		told, err = w.s.p.Store.UpdateRun(ctx, w.run, events...)
		return err
	})
	if err == nil {
		w.s.p.Publish(told...)
	}
	return err
}

// insist asks a database that refuses again, until ctx ends or the answer cannot
// become another. refused hears of each refusal. do is called once at least.
func insist(ctx context.Context, do func() error, refused func(err error, first bool)) error {
	pause := backoff.Backoff{First: 250 * time.Millisecond, Most: 10 * time.Second}
	for first := true; ; first = false {
		err := do()
		if err == nil || ctx.Err() != nil || refusedForGood(err) {
			return err
		}
		if refused(err, first); !pause.Wait(ctx) {
			return err
		}
	}
}

// insist is insist for the run: the person hears of the first refusal.
func (w *work) insist(ctx context.Context, step string, do func() error) error {
	err := insist(ctx, do, func(err error, first bool) {
		w.log.Error("store refused", "step", step, "error", err)
		if first {
			w.s.p.Publish(w.notice("error", "Loop could not use its database for this run and tries again: "+core.AsFailure(err).Cause))
		}
	})
	if err != nil {
		return fmt.Errorf("%s: %w", step, err)
	}
	return nil
}

// refusedForGood: asking again cannot change the store's answer.
func refusedForGood(err error) bool {
	return errors.Is(err, core.ErrConflict) || errors.Is(err, core.ErrNotFound)
}

// explain makes a notice of everything that was left out of the container.
func (w *work) explain(why core.Explanation) []core.Event {
	var evs []core.Event
	for _, m := range why.Skipped {
		evs = append(evs, w.notice("warning", fmt.Sprintf("Not in the container: %s. %s", m.Text, m.Reason)))
	}
	for _, n := range why.Notices {
		level := "info"
		if n == provision.HostNotice {
			level = "warning"
		}
		evs = append(evs, w.notice(level, n))
	}
	return evs
}

// say stores and announces a notice at the run's present offset.
func (w *work) say(ctx context.Context, level, text string) error {
	evs, err := w.s.p.Store.AppendEvents(ctx, w.run.ID, w.run.SpoolOffset, w.run.SpoolOffset, w.notice(level, text))
	if err != nil {
		return fmt.Errorf("store notice: %w", err)
	}
	w.s.p.Publish(evs...)
	return nil
}
