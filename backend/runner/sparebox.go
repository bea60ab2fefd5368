package runner

import (
	"context"
	"time"

	"loop/backend/core"
	"loop/backend/provision"
)

// spare is the container of a run that has ended with a plan to approve, in which the plan
// can be carried out. It goes on for as long as containers are kept after their run.
type spare struct {
	provision.Spare
	after core.RunID    // the run that has planned, which still holds it
	taken chan struct{} // closed when nobody waits for it any more
}

// spares reports whether the run's container is worth keeping: it could write, but for the
// policy of the run's programs, which have ended. The next program has a policy of its own.
func (w *work) spares() bool {
	a := w.parser.Asked
	return w.run.Plan && !w.spec.Plan && w.spec.Name != "" && w.run.State == core.RunDone &&
		a != nil && a.Kind == core.QuestionPlan && w.keepAlive() > 0
}

// keepSpare keeps the run's container for the run that follows the person's word on the
// plan. It reports false where Loop closes: then the container is given back as ever.
func (w *work) keepSpare() bool {
	s, kept := w.s, &spare{provision.Spare{Container: w.container, Spec: w.spec}, w.run.ID, make(chan struct{})}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing || s.ctx.Err() != nil {
		return false
	}
	if old := s.spares[w.run.ChannelID]; old != nil {
		close(old.taken)
	}
	s.spares[w.run.ChannelID] = kept
	s.wg.Go(func() {
		late := time.NewTimer(w.keepAlive())
		defer late.Stop()
		select {
		case <-late.C:
		case <-kept.taken:
		case <-s.ctx.Done():
		}
		s.mu.Lock()
		if s.spares[w.run.ChannelID] == kept {
			delete(s.spares, w.run.ChannelID)
		}
		s.mu.Unlock()
		w.giveBack(s.ctx)
	})
	return true
}

// takeSpare gives a run the container that was kept for it. What is kept for another run
// of the channel has nobody left to wait for. The caller calls done once it has a container.
func (s *Service) takeSpare(ctx context.Context, run core.Run) (sp provision.Spare, done func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := s.spares[run.ChannelID]
	if kept == nil {
		return sp, func() {}
	}
	delete(s.spares, run.ChannelID)
	if asked, err := s.p.Store.Run(ctx, kept.after); err == nil && run.Trigger == TriggerAnswer && run.Demo == asked.Demo &&
		run.Session.Mode == core.SessionResume && run.Session.SessionID == asked.Outcome.SessionID {
		sp = kept.Spare
	}
	return sp, func() { close(kept.taken) }
}
