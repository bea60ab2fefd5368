package runner

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"loop/backend/core"
)

// startAt is how one try takes up a conversation.
type startAt struct {
	resume core.SessionID // empty: a new one
	fork   bool           // a copy of it
	at     string         // fork: the last message of the copy
	// model is the one to go back to, after a prompt that had its own: the CLI goes on with
	// the model that a conversation had last. Empty is as the CLI likes.
	model string
}

// wanted is the start of a first try: the run's own wish, else what the channel
// keeps for its next run, else the channel's session.
func wanted(run core.Run, ch core.Channel) startAt {
	st := run.Session
	if st.Mode == core.SessionContinue {
		st = ch.Next(run.Demo)
	}
	own := ch.Session(run.Demo)
	switch st.Mode {
	case core.SessionFresh:
		return startAt{}
	case core.SessionResume:
		return startAt{resume: st.SessionID}
	case core.SessionFork:
		if own = cmp.Or(st.SessionID, own); own != "" {
			return startAt{resume: own, fork: true, at: st.At}
		}
	}
	return startAt{resume: own}
}

// start is how the present try begins. A session that is proven to be gone is
// left out, because the CLI would refuse it for ever: Claude deletes transcripts
// after a month.
func (w *work) start(ctx context.Context) (startAt, error) {
	st, why := w.startOf(ctx)
	if why == "" {
		return st, nil
	}
	return st, w.say(ctx, "info", why)
}

// startOf is start, with what is to be said of it.
func (w *work) startOf(ctx context.Context) (st startAt, why string) {
	st, why = w.resumes()
	st.model = w.modelBefore(ctx, st.resume)
	return st, why
}

// noModel is the CLI's word for the model that it would choose by itself.
const noModel = "default"

// modelBefore is the model that a run without one of its own goes back to in a conversation
// whose last prompt had one. That this cannot be read is no failure of the prompt.
func (w *work) modelBefore(ctx context.Context, session core.SessionID) string {
	if session == "" || w.launch.Model != "" || w.run.Demo {
		return ""
	}
	own, usual, err := w.s.p.Store.SessionModel(ctx, w.run.ChannelID, session)
	if err != nil && !errors.Is(err, core.ErrNotFound) {
		w.log.Warn("read the model of the conversation", "error", err)
	}
	if err != nil || own == "" {
		return ""
	}
	if usual = cmp.Or(usual, noModel); core.CheckModel(usual) != nil { // a container's word
		return noModel
	}
	return usual
}

// resumes is the conversation that the present try goes on with.
func (w *work) resumes() (st startAt, why string) {
	st = startAt{resume: w.run.Attempt.SessionID}
	if w.run.Attempt.Number <= 1 {
		st = wanted(w.run, w.ch)
	}
	if st.resume == "" || w.kept(st.resume) {
		return st, ""
	}
	if own := w.ch.Session(w.run.Demo); own != "" && own != st.resume && w.kept(own) {
		return startAt{resume: own}, "The conversation that was asked for is no longer kept by the agent, " +
			"so this run goes on with the channel's own."
	}
	return startAt{}, "The earlier conversation is no longer kept by the agent, so this run starts a new one."
}

// stamp is that of the files which the CLI reads at its start.
func (w *work) stamp(st startAt) string {
	if w.s.p.Stamp == nil {
		return ""
	}
	return w.s.p.Stamp(w.ch, w.spec.WorkDir, st.resume)
}

// kept is false only when it is certain that a session cannot be resumed.
func (w *work) kept(id core.SessionID) bool {
	if !id.Valid() {
		return false
	}
	exists, known := w.s.p.Sessions(w.ch, w.spec.WorkDir, id)
	return exists || !known
}

// written is true only when it is certain that the CLI keeps a session: it writes
// a prompt down before the model has said anything.
func (w *work) written(id core.SessionID) bool {
	exists, known := w.s.p.Sessions(w.ch, w.spec.WorkDir, id)
	return exists && known
}

// keepSession lets the next run go on with the conversation of one that is being
// stopped: it is what an interrupting message refers to. It is stored before the
// run's end, so that nothing can be claimed in between. What was chosen for the next
// run meanwhile stays.
func (w *work) keepSession(ctx context.Context) {
	id := w.parser.Session
	if w.run.State != core.RunCancelled || !id.Valid() || id == w.ch.Session(w.run.Demo) || !w.worked() && !w.written(id) {
		return
	}
	next := core.SessionStart{Mode: core.SessionResume, SessionID: id}
	if err := w.s.p.Store.SetChannelNext(ctx, w.run.ChannelID, w.run.Demo, next, w.run.ID); err != nil {
		w.log.Warn("keep the session of a stopped run", "error", err)
		return
	}
	w.nextSet = true
}

// dropLost forgets the channel's session when the CLI says that it does not exist.
func (w *work) dropLost(ctx context.Context) {
	own, r := w.ch.Session(w.run.Demo), w.parser.Result
	lost := r != nil && r.Failed() && strings.Contains(strings.ToLower(r.Said()), noConversation)
	if own == "" || !lost || w.resumedFrom() != own {
		return
	}
	if err := w.s.p.Store.SetChannelSession(ctx, w.run.ChannelID, w.run.Demo, ""); err != nil {
		w.log.Error("drop the lost session", "error", err)
	}
}
