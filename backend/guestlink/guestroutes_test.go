package guestlink_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"loop/backend/core"
	"loop/backend/guestlink"
	"loop/backend/wire"
)

// recorder answers everything and notes who asked what.
type recorder struct{ said []string }

func (r *recorder) note(from core.Caller, what string, args ...any) {
	text := fmt.Sprintf("%s %s", from.ChannelID, what)
	for _, a := range args {
		b, _ := json.Marshal(a)
		text += " " + string(b)
	}
	r.said = append(r.said, text)
}

func (r *recorder) SendMessage(_ context.Context, from core.Caller, ch core.ChannelID, text string) error {
	r.note(from, "send", ch, text)
	return nil
}
func (r *recorder) QueueMessage(_ context.Context, from core.Caller, m core.GuestMessage) (core.Run, error) {
	r.note(from, "queue", m)
	run := core.Run{ID: "run1", ChannelID: "c"}
	if m.ChannelID == "asked" {
		run.WaitsFor = core.Wait{Reason: core.WaitQuestion, QuestionID: "q"}
	}
	return run, nil
}
func (r *recorder) Queued(_ context.Context, from core.Caller, ch core.ChannelID) ([]core.Run, error) {
	r.note(from, "queued", ch)
	return nil, nil
}
func (r *recorder) RemoveQueued(_ context.Context, from core.Caller, id core.RunID) error {
	r.note(from, "remove", id)
	return core.Fail(core.CodeTooMany, nil, "Too many.", "Wait.")
}
func (r *recorder) Sessions(_ context.Context, from core.Caller, ch core.ChannelID) ([]core.SessionInfo, error) {
	r.note(from, "sessions", ch)
	return nil, core.Fail(core.CodeForbidden, nil, "Not yours.", "")
}
func (r *recorder) SetSession(_ context.Context, from core.Caller, ch core.ChannelID, start core.SessionStart) error {
	r.note(from, "session", ch, start)
	return nil
}
func (r *recorder) CreateThread(_ context.Context, from core.Caller, t core.GuestThread) (core.ChannelInfo, error) {
	r.note(from, "thread", t)
	return core.ChannelInfo{ID: "new"}, nil
}
func (r *recorder) CreateWorktree(_ context.Context, from core.Caller, w core.GuestWorktree) (core.ChannelInfo, error) {
	r.note(from, "worktree", w)
	return core.ChannelInfo{}, core.Fail(core.CodeConflict, nil, "It is there already.", "Take another name.")
}
func (r *recorder) SearchChannels(_ context.Context, from core.Caller, q string) ([]core.ChannelInfo, error) {
	r.note(from, "search", q)
	return nil, nil
}
func (r *recorder) Agents(_ context.Context, from core.Caller) ([]core.AgentInfo, error) {
	r.note(from, "agents")
	return nil, nil
}
func (r *recorder) MessageAgent(_ context.Context, from core.Caller, agent core.ChannelID, text string) error {
	r.note(from, "tell", agent, text)
	return nil
}

func (r *recorder) Agent(_ context.Context, from core.Caller, a core.BrowserAction) (core.BrowserResult, error) {
	r.note(from, "browse", a.Action, string(a.Params))
	if a.Action == "off" {
		return core.BrowserResult{}, core.Fail(core.CodeOff, nil, "The browser is switched off.", "Switch it on.")
	}
	return core.BrowserResult{Error: "Nothing answers there."}, nil
}

func TestCallbackRoutes(t *testing.T) {
	rec := &recorder{}
	_, g := open(t, guestlink.Options{Callbacks: rec, Browsers: rec}, idle)
	c := g.client(t)
	for _, k := range []struct {
		method, path, body string
		code               int
		want, said         string
	}{
		{"POST", "/api/messages", `{"content":"hi","future":1}`, 200, "ok", `send "" "hi"`},
		{"POST", "/api/messages", `{"content":"hi","channel_id":"x","mode":"send"}`, 200, "ok", `send "x" "hi"`},
		{"POST", "/api/messages", `{"content":"hi","mode":"queue","interrupt":true,"delay_seconds":3}`, 200, `"message_id":"run1"`, `queue {"ChannelID":"","Content":"hi","Interrupt":true,"Delay":3000000000}`},
		{"POST", "/api/messages", `{"content":"hi","mode":"queue","channel_id":"asked"}`, 200, `"waits_for":{"reason":"question","question_id":"q"}`,
			`queue {"ChannelID":"asked","Content":"hi","Interrupt":false,"Delay":0}`},
		{"POST", "/api/messages", `{"content":"hi","mode":"queue","delay_seconds":-1}`, 400, "week", ""},
		{"POST", "/api/messages", `{"content":"hi","mode":"queue","delay_seconds":1e30}`, 400, "", ""},
		{"POST", "/api/messages", `{"content":"hi","mode":"shout"}`, 400, "mode", ""},
		{"POST", "/api/messages", `[1]`, 400, "JSON", ""},
		{"DELETE", "/api/messages/m1", "", 429, "Too many. Wait.", `remove "m1"`},
		{"DELETE", "/api/messages/", "", 404, "", ""},
		{"GET", "/api/channels", "", 200, `"channels":[]`, `search ""`},
		{"GET", "/api/channels?q=a%20b", "", 200, `"channels":[]`, `search "a b"`},
		{"GET", "/api/channels/c1/queued", "", 200, `"queued":[]`, `queued "c1"`},
		{"GET", "/api/channels/c1/sessions", "", 403, "Not yours", `sessions "c1"`},
		{"PUT", "/api/channels/c1/session", `{"session_id":"s"}`, 200, "ok", `session "c1" {"mode":"resume","session_id":"s"}`},
		{"PUT", "/api/channels/c1/session", `{"session_id":"s","mode":"fork","at":"u"}`, 200, "ok", `session "c1" {"mode":"fork","session_id":"s","at":"u"}`},
		{"POST", "/api/threads", `{"name":"n","message":"m"}`, 200, `"channel_id":"new"`, `thread`},
		{"POST", "/api/worktrees", `{"branch":"b"}`, 409, "already. Take another", `worktree`},
		{"GET", "/api/agents", "", 200, `"agents":[]`, `agents`},
		{"POST", "/api/agents/a1/message", `{"content":"psst"}`, 200, "ok", `tell "a1" "psst"`},
		{"POST", "/api/agents/a1/message", `{"content":"` + strings.Repeat("x", wire.MaxCallbackBody) + `"}`, 413, "too large", ""},
		{"POST", "/api/browser/action", `{"channel_id":"","action":"navigate","params":{"url":"x"}}`, 200, `"error":"Nothing answers there."`, `browse "navigate" "{\"url\":\"x\"}"`},
		{"POST", "/api/browser/action", `{"action":"off"}`, 503, "switched off. Switch it on.", `browse "off" ""`},
		{"POST", "/api/browser/action", `{"channel_id":"another","action":"navigate"}`, 403, "own channel", ""},
		{"POST", "/api/browser/action", `{"params":{}}`, 400, "missing", ""},
		{"POST", "/api/browser/action", `{"action":7}`, 400, "JSON", ""},
		{"POST", "/api/browser/action", `{"action":"navigate"`, 400, "JSON", ""},
		{"POST", "/api/browser/action", `[]`, 400, "JSON", ""},
		{"POST", "/api/browser/action", "", 400, "JSON", ""},
		{"POST", "/api/browser/action", `{"action":"evaluate","params":{"expression":"` + strings.Repeat("x", wire.MaxCallbackBody) + `"}}`, 413, "too large", ""},
		// An agent can neither ask for an approval nor answer one.
		{"POST", "/api/gate/container-approval", `{"kind":"file","target":"/x","message":"","cache_key":""}`, 403, "Only the supervisor", ""},
		// These use another method on a known route, or no route at all.
		{"GET", "/api/messages", "", 405, "POST", ""},
		{"POST", "/api/agents", "{}", 405, "GET", ""},
		{"GET", "/api/channels/a/b/queued", "", 404, "nothing", ""},
		{"GET", "/api/channels/a%2Fb/queued", "", 404, "nothing", ""},
		{"GET", "/api/channels//queued", "", 404, "nothing", ""},
		{"GET", "/api/channels/../channels", "", 404, "nothing", ""},
		{"GET", "/api/agents/", "", 404, "nothing", ""},
		{"POST", "/API/messages", "{}", 404, "nothing", ""},
	} {
		rec.said = nil
		code, body := do(t, c, k.method, k.path, k.body)
		said := strings.Join(rec.said, ";")
		if code != k.code || !strings.Contains(body, k.want) || (k.said == "") != (said == "") || !strings.Contains(said, k.said) {
			t.Errorf("%s %s %.60s: %d %s; asked %q", k.method, k.path, k.body, code, body, said)
		}
		if said != "" && !strings.HasPrefix(said, "chan ") {
			t.Errorf("asked as %q", said)
		}
	}
}

// TestOwnerRoutesAreNotThere: no route of the owner answers a guest.
func TestOwnerRoutesAreNotThere(t *testing.T) {
	rec := &recorder{}
	_, g := open(t, guestlink.Options{Callbacks: rec}, idle)
	c := g.client(t)
	for _, path := range []string{
		"/api/ws", "/api/health", "/api/call/System.Snapshot", "/api/call/System.SaveCredential", "/api/call/Runs.Answer", "/api/call/Settings.Approve", "/api/call/Channels.RemoveTree",
		"/api/config", "/api/config/project/trust", "/api/gate/approvals", "/api/gate/approvals/a1", "/api/call/Gate.Answer", "/api/call/Gate.Pending", "/api/ws/terminal", "/api/terminal/claims", "/api/image/reclaim", "/api/browser/mode", "/", "/index.html",
	} {
		for _, method := range []string{"GET", "POST", "PUT", "DELETE"} {
			if code, body := do(t, c, method, path, `[]`); code != 404 || !strings.Contains(body, "nothing is served here") {
				t.Errorf("%s %s: %d %s", method, path, code, body)
			}
		}
	}
	if len(rec.said) > 0 {
		t.Errorf("something was asked: %v", rec.said)
	}
}

func FuzzCallbackBody(f *testing.F) {
	for _, s := range []string{`{"content":"hi"}`, `{"content":"hi","mode":"queue","delay_seconds":1}`, `{"session_id":"s","mode":"fork"}`, `{"branch":"b"}`, "", "\xff", `{"content":{}}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		h := guestlink.HandlerForTest(guestlink.Options{Callbacks: &recorder{}}, core.Identity{ChannelID: "chan"})
		for _, path := range []string{"POST /api/messages", "PUT /api/channels/c/session", "POST /api/threads", "POST /api/worktrees", "POST /api/agents/a/message"} {
			method, path, _ := strings.Cut(path, " ")
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest(method, path, strings.NewReader(in)))
			if w.Code != 200 && w.Code != 400 && w.Code != 409 {
				t.Fatalf("%s: %d %s", path, w.Code, w.Body)
			}
		}
	})
}
