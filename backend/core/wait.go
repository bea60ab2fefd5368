package core

import "time"

// HoldLease is how long an edited prompt keeps the queue waiting unless the hold
// is renewed: a page that edits one and dies does not block it for longer.
const HoldLease = 5 * time.Minute

// WaitReason says what keeps a queued run from being started.
type WaitReason string

const (
	WaitNone     WaitReason = ""         // nothing: it is about to be
	WaitQuestion WaitReason = "question" // the person's answer to the agent's question
	WaitPlan     WaitReason = "plan"     // the person's word on the agent's plan
	WaitHeld     WaitReason = "held"     // the end of its hold
	WaitDelayed  WaitReason = "delayed"  // the time it was sent for
	WaitBehind   WaitReason = "behind"   // runs of the queue that go first
	WaitRun      WaitReason = "run"      // the end of the channel's run under way; it is next
	WaitLimit    WaitReason = "limit"    // the end of any run: no more may be under way at once
)

// Wait is why a queued run has not been started.
type Wait struct {
	Reason     WaitReason `json:"reason"`
	QuestionID string     `json:"question_id,omitempty"`
	// Until is the end of a hold, or the time before which the run does not start.
	// The latter may come on top of a question.
	Until time.Time `json:"until,omitzero"`
	Ahead int       `json:"ahead,omitempty"` // behind: how many runs of the queue go first
}

// QueueState is what starting a channel's queued runs depends on besides the queue.
type QueueState struct {
	Question *Question // the oldest of the channel's open ones
	Running  bool      // a run of the channel is under way
	Full     bool      // as many runs are under way, over all channels, as may be
	Now      time.Time
}

// Waits says what each run of a channel's queue waits for, in the order of the
// queue. Runs are claimed by this rule: the first one that waits for nothing. While a
// question is open no run is claimed. A held run keeps everything behind it waiting;
// a delayed one does not.
//
// A clock that was put back makes no run wait longer than it was meant to: a delay
// counts at most in full from now, and a hold further off than a lease is over.
//
// frontend/src/model/waits.ts says the same to the page; testdata/waits.json are
// the cases that both pass.
func Waits(queue []Run, s QueueState) []Wait {
	out := make([]Wait, len(queue))
	ahead := 0
	for i, r := range queue {
		w := &out[i]
		start := r.NotBefore
		if r.Delay > 0 && start.Sub(s.Now) > r.Delay {
			start = s.Now.Add(r.Delay)
		}
		held := r.HoldUntil.After(s.Now) && r.HoldUntil.Sub(s.Now) <= HoldLease+time.Second // a second for rounding
		delayed := start.After(s.Now)
		switch {
		case s.Question != nil:
			w.Reason, w.QuestionID = WaitQuestion, s.Question.ID
			if s.Question.Kind == QuestionPlan {
				w.Reason = WaitPlan
			}
			if delayed {
				w.Until = start
			}
		case held:
			w.Reason, w.Until = WaitHeld, r.HoldUntil
		case delayed:
			w.Reason, w.Until = WaitDelayed, start
		case ahead > 0:
			w.Reason, w.Ahead = WaitBehind, ahead
		case s.Running:
			w.Reason = WaitRun
		case s.Full:
			w.Reason = WaitLimit
		}
		if held || !delayed {
			ahead++
		}
	}
	return out
}
