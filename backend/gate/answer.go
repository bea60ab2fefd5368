package gate

import (
	"context"
	"slices"
	"time"

	"loop/backend/core"
)

// Answer carries out what a person says to a question. The first answer counts; the
// second is told that nothing waits. It names the digest of what was shown, and is
// core.ErrConflict where the question is another by now. ctx bounds the storing of a
// rule.
func (s *Service) Answer(ctx context.Context, id string, a core.ApprovalAnswer) (core.Approval, error) {
	if len(a.Groups) > 0 {
		return s.answerGroups(id, a)
	}
	q, err := s.claim(id, a)
	if err != nil {
		return core.Approval{}, err
	}
	d := outcome{state: core.ApprovalDenied, scope: a.Scope, by: by(a), written: true}
	if a.Allow {
		d.state = core.ApprovalAllowed
	}
	undo, err := s.carryOut(ctx, q, d)
	s.mu.Lock()
	q.taken = false
	alive := s.open[id] == q
	if err == nil && alive {
		s.apply(q, d)
	}
	view := q.view
	s.mu.Unlock()
	switch {
	case err != nil:
		return view, err
	case !alive:
		if undo != nil {
			err = undo(context.WithoutCancel(ctx))
		}
		return view, core.Fail(core.CodeConflict, core.ErrConflict,
			"The program that asked has ended meanwhile, so nothing was done.", detail(err))
	}
	return view, nil
}

func detail(err error) string {
	if err != nil {
		return "The rule could not be taken back: remove it in the settings."
	}
	return ""
}

func by(a core.ApprovalAnswer) string {
	if a.By == "" {
		return "a person"
	}
	return core.Shortened(a.By, 60)
}

// claim finds a question and keeps others from answering it.
func (s *Service) claim(id string, a core.ApprovalAnswer) (*question, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q, err := s.find(id)
	switch {
	case err != nil:
		return nil, err
	case a.Digest != q.view.Digest:
		return nil, core.Fail(core.CodeConflict, core.ErrConflict,
			"The question is not the one that was shown.", "Look at it again, then answer.")
	case !slices.Contains([]core.ApprovalScope{core.ScopeOnce, core.ScopeRun, core.ScopeProject, core.ScopeAlways}, a.Scope):
		return nil, core.Fail(core.CodeInvalid, nil, "The answer says not how far it reaches.", "Say once, run, project or always.")
	case !offered(q, a):
		return nil, core.Fail(core.CodeForbidden, nil, "This is never remembered.", "Allow it once, or deny it.")
	case beyondRun(a.Scope) && !storable(q.act):
		return nil, core.Fail(core.CodeForbidden, nil, "No rule tells this from other acts.", "Answer once or for this run.")
	case beyondRun(a.Scope) && s.o.Rules == nil:
		return nil, core.Fail(core.CodeInvalid, nil, "This Loop cannot store rules.", "Answer for this run.")
	}
	q.taken = true
	return q, nil
}

// offered says that an answer may reach as far as it does. What is dangerous is
// allowed once, and denied for a run at most. What cannot be
// known again is answered once, and so is a flood, which has no act.
func offered(q *question, a core.ApprovalAnswer) bool {
	if q.act.Act == "" {
		return a.Scope == core.ScopeOnce
	}
	return a.Scope == core.ScopeOnce || !never(q.act) || !a.Allow && a.Scope == core.ScopeRun
}

func beyondRun(sc core.ApprovalScope) bool { return sc == core.ScopeProject || sc == core.ScopeAlways }

// carryOut writes an answer down before it has any effect, and stores its rule.
func (s *Service) carryOut(ctx context.Context, q *question, d outcome) (undo func(context.Context) error, err error) {
	if q.view.Kind == core.ApprovalFlood {
		return nil, nil // its calls are written down one by one
	}
	if err := s.record(s.recordOfQuestion(q, d)); err != nil {
		return nil, core.Fail(core.CodeDiskFull, err, "Loop could not write its record of decisions, so the answer was not taken.",
			"Check that the disk is not full, then answer again.")
	}
	if !beyondRun(d.scope) {
		return nil, nil
	}
	undo, err = s.o.Rules.Remember(ctx, d.scope, q.asker.ChannelID, ruleOf(q.act, d.state))
	if err != nil { // the record above says more than was done
		not := outcome{state: core.ApprovalWaiting, scope: d.scope, by: "Loop"}
		if rerr := s.record(s.recordOfQuestion(q, not)); rerr != nil {
			s.o.Log.Error("write the record of an answer that was not taken", "err", rerr)
		}
	}
	return undo, err
}

// apply gives an answer its effect.
func (s *Service) apply(q *question, d outcome) {
	if q.view.Kind == core.ApprovalFlood {
		if d.state == core.ApprovalAllowed {
			s.letAsk(q.flood, d)
			return
		}
		d.written = false
		run := q.asker.origin()
		s.refuse(run)
		s.endFlood(q.flood, d)
		s.endAll(func(o *question) bool { return o.asker.origin() == run && !o.taken }, d)
		return
	}
	s.memory.keep(q.asker, q.act, d, s.tools.underWay(q), time.Now())
	s.resolve(q, d)
	if d.scope == core.ScopeOnce {
		return
	}
	// What waits meanwhile and is covered by the answer is not asked once more.
	s.endAll(func(o *question) bool {
		_, known := s.memory.decided(o.asker, o.act, time.Now())
		return known && !o.taken
	}, outcome{state: d.state, scope: d.scope, by: "an answer of before"})
}
