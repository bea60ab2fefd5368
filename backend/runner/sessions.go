package runner

import (
	"context"
	"regexp"

	"loop/backend/core"
)

// startAt is how one try takes up a conversation.
type startAt struct {
	resume core.SessionID // empty: a new one
	fork   bool           // a copy of it
	at     string         // fork: the last message of the copy
}

// Both end up on the CLI's command line, where a leading hyphen would make
// another option of them; session ids come out of containers.
var (
	sessionID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)
	messageID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)
)

func validSession(id core.SessionID) bool { return sessionID.MatchString(string(id)) }

// checkStart says whether a start can be asked for.
func checkStart(st core.SessionStart) error {
	bad := func(cause string) error {
		return core.Fail(core.CodeInvalid, nil, cause, "Choose a conversation from the list of sessions, or start a new one.")
	}
	switch st.Mode {
	case core.SessionContinue, core.SessionFresh:
		if st.SessionID != "" || st.At != "" {
			return bad("A session is named, but not whether to resume or to fork it.")
		}
	case core.SessionResume:
		if st.SessionID == "" || st.At != "" {
			return bad("To resume a conversation, name its session and nothing else.")
		}
	case core.SessionFork:
	default:
		return bad("Loop does not know this way to begin a conversation.")
	}
	if st.SessionID != "" && !validSession(st.SessionID) {
		return bad("This is not the id of a session.")
	}
	if st.At != "" && !messageID.MatchString(st.At) {
		return bad("This is not the id of a message.")
	}
	return nil
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
		if st.SessionID == "" {
			st.SessionID = own
		}
		if st.SessionID == "" {
			return startAt{}
		}
		return startAt{resume: st.SessionID, fork: true, at: st.At}
	}
	return startAt{resume: own}
}

// start is how the present try begins. A session that is proven to be gone is
// left out, because the CLI would refuse it for ever: Claude deletes transcripts
// after a month.
func (w *work) start(ctx context.Context) (startAt, error) {
	st := startAt{resume: w.run.Attempt.SessionID}
	if w.run.Attempt.Number <= 1 {
		st = wanted(w.run, w.ch)
	}
	if st.resume == "" || w.kept(st.resume) {
		return st, nil
	}
	own := w.ch.Session(w.run.Demo)
	if own != "" && own != st.resume && w.kept(own) {
		err := w.say(ctx, "info", "The conversation that was asked for is no longer kept by the agent, so this run goes on with the channel's own.")
		return startAt{resume: own}, err
	}
	err := w.say(ctx, "info", "The earlier conversation is no longer kept by the agent, so this run starts a new one.")
	return startAt{}, err
}

// kept is false only when it is certain that a session cannot be resumed.
func (w *work) kept(id core.SessionID) bool {
	if !validSession(id) {
		return false
	}
	if w.s.p.Sessions == nil {
		return true
	}
	exists, known := w.s.p.Sessions(w.ch, w.spec.WorkDir, id)
	return exists || !known
}

// written is true only when it is certain that the CLI keeps a session: it writes
// a prompt down before the model has said anything.
func (w *work) written(id core.SessionID) bool {
	if w.s.p.Sessions == nil {
		return false
	}
	exists, known := w.s.p.Sessions(w.ch, w.spec.WorkDir, id)
	return exists && known
}

// keepSession lets the next run go on with the conversation of one that is being
// stopped: it is what an interrupting message refers to. It is stored before the
// run's end, so that nothing can be claimed in between.
func (w *work) keepSession(ctx context.Context) {
	id := w.parser.Session()
	if w.run.State != core.RunCancelled || !validSession(id) || id == w.ch.Session(w.run.Demo) || !w.worked() && !w.written(id) {
		return
	}
	next := core.SessionStart{Mode: core.SessionResume, SessionID: id}
	if err := w.s.p.Store.SetChannelNext(ctx, w.run.ChannelID, w.run.Demo, next); err != nil {
		w.log.Warn("keep the session of a stopped run", "error", err)
		return
	}
	w.nextSet = true
}

// dropLost forgets the channel's session when the CLI says that it does not exist.
func (w *work) dropLost(ctx context.Context) {
	own := w.ch.Session(w.run.Demo)
	if own == "" || !w.noSession() || w.resumedFrom() != own {
		return
	}
	if err := w.s.p.Store.SetChannelSession(ctx, w.run.ChannelID, w.run.Demo, ""); err != nil {
		w.log.Error("drop the lost session", "error", err)
	}
}
