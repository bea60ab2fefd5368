package guestlink

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"loop/backend/core"
	"loop/backend/wire"
)

// Callbacks are what a guest may ask of the app. Methods are called from the
// goroutine of the request, several at a time; ctx ends with the request. They
// judge what the caller may name: this package only says who it is.
type Callbacks interface {
	SendMessage(ctx context.Context, from core.Caller, ch core.ChannelID, text string) error
	QueueMessage(ctx context.Context, from core.Caller, m core.GuestMessage) (core.Run, error)
	Queued(ctx context.Context, from core.Caller, ch core.ChannelID) ([]core.Run, error)
	RemoveQueued(ctx context.Context, from core.Caller, id core.RunID) error
	Sessions(ctx context.Context, from core.Caller, ch core.ChannelID) ([]core.SessionInfo, error)
	SetSession(ctx context.Context, from core.Caller, ch core.ChannelID, start core.SessionStart) error
	CreateThread(ctx context.Context, from core.Caller, t core.GuestThread) (core.ChannelInfo, error)
	CreateWorktree(ctx context.Context, from core.Caller, w core.GuestWorktree) (core.ChannelInfo, error)
	SearchChannels(ctx context.Context, from core.Caller, query string) ([]core.ChannelInfo, error)
	Agents(ctx context.Context, from core.Caller) ([]core.AgentInfo, error)
	MessageAgent(ctx context.Context, from core.Caller, agent core.ChannelID, text string) error
}

// Browsers are the channels' browsers, as their agents reach them. It is called as
// Callbacks is. An error says that there is none; a failed action is in the result.
type Browsers interface {
	Agent(ctx context.Context, from core.Caller, a core.BrowserAction) (core.BrowserResult, error)
}

// maxDelaySeconds bounds delay_seconds before it becomes a duration: a week is
// longer than anything an agent has a reason to wait for.
const maxDelaySeconds = 7 * 24 * 3600

// callbackHandler serves the guest routes of one caller, over the link as over
// TCP. Nothing of the owner's surface is here: a path that is not in the table
// does not exist.
type callbackHandler struct {
	from      core.Caller
	callbacks Callbacks
	browsers  Browsers
	log       *slog.Logger
}

// guestRoute is one guest call. id is the part of the path in the place of *.
type guestRoute struct {
	method, pattern string
	serve           func(h callbackHandler, r *http.Request, id string) (any, error)
}

var guestRoutes = []guestRoute{
	{http.MethodPost, "/api/messages", decoded(callbackHandler.message)},
	{http.MethodDelete, "/api/messages/*", func(h callbackHandler, r *http.Request, id string) (any, error) {
		return done(h.callbacks.RemoveQueued(r.Context(), h.from, core.RunID(id)))
	}},
	{http.MethodGet, "/api/channels", func(h callbackHandler, r *http.Request, _ string) (any, error) {
		list, err := h.callbacks.SearchChannels(r.Context(), h.from, r.URL.Query().Get("q"))
		return listed("channels", list), err
	}},
	{http.MethodGet, "/api/channels/*/queued", func(h callbackHandler, r *http.Request, id string) (any, error) {
		list, err := h.callbacks.Queued(r.Context(), h.from, core.ChannelID(id))
		return listed("queued", list), err
	}},
	{http.MethodGet, "/api/channels/*/sessions", func(h callbackHandler, r *http.Request, id string) (any, error) {
		list, err := h.callbacks.Sessions(r.Context(), h.from, core.ChannelID(id))
		return listed("sessions", list), err
	}},
	{http.MethodPut, "/api/channels/*/session",
		decoded(func(h callbackHandler, ctx context.Context, id string, start core.SessionStart) (any, error) {
			if start.Mode == core.SessionContinue && start.SessionID != "" {
				start.Mode = core.SessionResume
			}
			return done(h.callbacks.SetSession(ctx, h.from, core.ChannelID(id), start))
		})},
	{http.MethodPost, "/api/threads",
		decoded(func(h callbackHandler, ctx context.Context, _ string, t core.GuestThread) (any, error) {
			return h.callbacks.CreateThread(ctx, h.from, t)
		})},
	{http.MethodPost, "/api/worktrees",
		decoded(func(h callbackHandler, ctx context.Context, _ string, w core.GuestWorktree) (any, error) {
			return h.callbacks.CreateWorktree(ctx, h.from, w)
		})},
	// The original's route for what a supervisor holds. Ours asks over the link, which no
	// program of the container can: a question that comes this way is an agent's own.
	{http.MethodPost, "/api/gate/container-approval", func(callbackHandler, *http.Request, string) (any, error) {
		return nil, core.Fail(core.CodeForbidden, nil, "Programs of the container cannot ask for approvals.",
			"Only the supervisor does, for a call that it holds.")
	}},
	{http.MethodPost, "/api/browser/action", decoded(callbackHandler.browse)},
	{http.MethodGet, "/api/agents", func(h callbackHandler, r *http.Request, _ string) (any, error) {
		list, err := h.callbacks.Agents(r.Context(), h.from)
		return listed("agents", list), err
	}},
	{http.MethodPost, "/api/agents/*/message",
		decoded(func(h callbackHandler, ctx context.Context, id string, m message) (any, error) {
			return done(h.callbacks.MessageAgent(ctx, h.from, core.ChannelID(id), m.Content))
		})},
}

// listed is a list in an object, [] where it is empty.
func listed[T any](name string, list []T) any { return map[string]any{name: append([]T{}, list...)} }

func done(err error) (any, error) { return map[string]bool{"ok": true}, err }

// matched reports whether path fits pattern, and returns the part in the place of the
// pattern's one *. The path is compared as it came: an encoded slash does not make
// another segment.
func matched(pattern, path string) (id string, ok bool) {
	before, after, wild := strings.Cut(pattern, "*")
	if !wild {
		return "", pattern == path
	}
	rest, ok := strings.CutPrefix(path, before)
	if !ok {
		return "", false
	}
	id, ok = strings.CutSuffix(rest, after)
	return id, ok && id != "" && !strings.ContainsAny(id, "/%")
}

func (h callbackHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var allowed []string
	for _, rt := range guestRoutes {
		id, ok := matched(rt.pattern, r.URL.EscapedPath())
		if !ok {
			continue
		}
		if rt.method != r.Method {
			allowed = append(allowed, rt.method)
			continue
		}
		if h.callbacks == nil {
			writeError(w, http.StatusServiceUnavailable, "nothing is taken at the moment")
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, wire.MaxCallbackBody)
		out, err := rt.serve(h, r, id)
		if err != nil {
			h.refuse(w, rt.pattern, err)
			return
		}
		writeJSON(w, http.StatusOK, out)
		return
	}
	if len(allowed) > 0 {
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		writeError(w, http.StatusMethodNotAllowed, "only "+strings.Join(allowed, " and ")+" is possible here")
		return
	}
	writeError(w, http.StatusNotFound, "nothing is served here")
}

func (h callbackHandler) refuse(w http.ResponseWriter, pattern string, err error) {
	if tooBig, ok := errors.AsType[*http.MaxBytesError](err); ok {
		h.log.Debug("guest request too large", "route", pattern, "limit", tooBig.Limit)
		writeError(w, http.StatusRequestEntityTooLarge, "the request is too large")
		return
	}
	h.log.Info("guest request refused", "route", pattern, "channel", string(h.from.ChannelID), "err", err)
	f := core.AsFailure(err)
	text := f.Cause
	if f.Remedy != "" && f.Code != core.CodeInternal {
		text += " " + f.Remedy
	}
	writeError(w, statusOf(err), text)
}

// decoded reads a call's bounded JSON object. Fields of a newer guest are passed over,
// and invalid UTF-8 becomes U+FFFD.
func decoded[In any](
	serve func(h callbackHandler, ctx context.Context, id string, in In) (any, error),
) func(callbackHandler, *http.Request, string) (any, error) {
	return func(h callbackHandler, r *http.Request, id string) (any, error) {
		raw, err := io.ReadAll(r.Body)
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return nil, err
		}
		if err != nil {
			return nil, core.Fail(core.CodeInvalid, err, "The request could not be read.", "")
		}
		var in In
		if err := json.Unmarshal(raw, &in); err != nil {
			return nil, core.Fail(core.CodeInvalid, err, "The request is not JSON of the expected form.", "")
		}
		return serve(h, r.Context(), id, in)
	}
}

// browserAct is the body of /api/browser/action.
type browserAct struct {
	ChannelID core.ChannelID  `json:"channel_id"`
	Action    string          `json:"action"`
	Params    json.RawMessage `json:"params"`
}

// browse does one action in the browser of the caller's own channel.
func (h callbackHandler) browse(ctx context.Context, _ string, in browserAct) (any, error) {
	switch {
	case h.browsers == nil:
		return nil, core.Fail(core.CodeOff, nil, "There are no browsers at the moment.", "Try again later.")
	case in.ChannelID != "" && in.ChannelID != h.from.ChannelID:
		return nil, core.Fail(core.CodeForbidden, nil, "An agent drives the browser of its own channel only.", "Leave channel_id out.")
	case in.Action == "":
		return nil, core.Fail(core.CodeInvalid, nil, "The action is missing.", "")
	}
	return h.browsers.Agent(ctx, h.from, core.BrowserAction{Action: in.Action, Params: in.Params})
}

// message is the body of /api/messages, and its content alone that of a message to
// an agent.
type message struct {
	ChannelID    core.ChannelID `json:"channel_id"`
	Content      string         `json:"content"`
	Mode         string         `json:"mode"` // send (default), queue
	Interrupt    bool           `json:"interrupt"`
	DelaySeconds int64          `json:"delay_seconds"`
}

func (h callbackHandler) message(ctx context.Context, _ string, in message) (any, error) {
	if strings.TrimSpace(in.Content) == "" {
		return nil, core.Fail(core.CodeInvalid, nil, "The content is empty.", "")
	}
	switch in.Mode {
	case "", "send":
		return done(h.callbacks.SendMessage(ctx, h.from, in.ChannelID, in.Content))
	case "queue":
	default:
		return nil, core.Fail(core.CodeInvalid, nil, "The mode is neither send nor queue.", "")
	}
	if in.DelaySeconds < 0 || in.DelaySeconds > maxDelaySeconds {
		return nil, core.Fail(core.CodeInvalid, nil, "delay_seconds is not between 0 and a week.", "")
	}
	run, err := h.callbacks.QueueMessage(ctx, h.from, core.GuestMessage{
		ChannelID: in.ChannelID, Content: in.Content, Interrupt: in.Interrupt, Delay: time.Duration(in.DelaySeconds) * time.Second,
	})
	answer := map[string]any{"ok": true, "message_id": run.ID, "channel_id": run.ChannelID}
	if run.WaitsFor.Reason != core.WaitNone {
		answer["waits_for"] = run.WaitsFor
	}
	return answer, err
}
