package demo

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

type apiError struct {
	Type  string
	Error struct{ Type, Message string }
}

func calls(all []turn) (names []string) {
	for _, a := range all {
		names = append(names, a.calls()...)
	}
	return names
}

func TestTourFirstVisit(t *testing.T) {
	c := newTalk(t, Options{})
	c.say("user", []map[string]any{{"type": "text", "text": "<system-reminder>\nThe date.\n</system-reminder>"}, {"type": "text", "text": "Say “hello”"}})
	c.say("system", "Available agent types")
	all := c.play("dev in /srv/my project")
	want := []string{"Bash", "Write", "Bash", "Edit", "Bash", "Write", "mcp__loop__send_message"}
	if got := calls(all); !slices.Equal(got, want) {
		t.Errorf("calls %v, want %v", got, want)
	}
	last := all[len(all)-1].texts
	if !strings.Contains(last, "Say “hello”") || !strings.Contains(last, "/srv/my project") {
		t.Errorf("the summing-up quotes neither prompt nor folder: %q", last)
	}
	if p := all[1].blocks[1]["input"].(map[string]any)["file_path"]; p != "/srv/my project/hello-from-loop.sh" {
		t.Errorf("file path %v", p)
	}
}

func TestTourSecondVisit(t *testing.T) {
	c := newTalk(t, Options{})
	c.tools = []string{"Bash", "Read", "Write", "Edit"}
	c.say("user", "The first question")
	c.play("x")
	c.say("user", "demo:tour\nThe second question")
	all := c.play("found hello-from-loop.sh\nfound hello-from-loop.md")
	want := []string{"Bash", "Read", "Read", "Write", "Bash", "Edit", "Bash", "Write"}
	if got := calls(all); !slices.Equal(got, want) {
		t.Errorf("calls %v, want %v", got, want)
	}
	if got := all[0].texts; !strings.Contains(got, "The first question") {
		t.Errorf("the earlier prompt is not quoted: %q", got)
	}
	if got := all[len(all)-1].texts; !strings.Contains(got, "The second question") || strings.Contains(got, "demo:") {
		t.Errorf("the prompt is quoted wrong: %q", got)
	}
	ids := map[any]bool{}
	for _, m := range c.messages {
		blocks, _ := m["content"].([]map[string]any)
		for _, b := range blocks {
			if b["type"] != "tool_use" {
				continue
			}
			if ids[b["id"]] {
				t.Errorf("id %v is used twice in one session", b["id"])
			}
			ids[b["id"]] = true
		}
	}
}

// TestRestart answers each request of a run from a new handler. The conversation alone
// decides the step.
func TestRestart(t *testing.T) {
	c := newTalk(t, Options{})
	c.say("user", "demo:tools\ngo")
	var got []string
	for range 20 {
		fresh := httptest.NewServer(New(Options{Pace: Instant}))
		c.srv = fresh
		a := c.next()
		fresh.Close()
		got = append(got, a.calls()...)
		if a.stop == "end_turn" {
			break
		}
		var results []map[string]any
		for range a.calls() {
			results = append(results, map[string]any{"type": "tool_result", "tool_use_id": "any", "content": []map[string]any{{"type": "text", "text": "found loop-demo-tools.txt"}}})
		}
		c.say("user", results)
	}
	if want := []string{"Bash", "Bash", "Read", "Write", "Edit", "Bash", "mcp__loop__send_message"}; !slices.Equal(got, want) {
		t.Errorf("calls %v, want %v", got, want)
	}
}

// TestDeferredTools: newer CLIs give only the names of MCP tools. The model first has
// to fetch a tool, and the script's step comes after.
func TestDeferredTools(t *testing.T) {
	c := newTalk(t, Options{})
	c.tools = []string{"Bash", "Write", "Edit", "ToolSearch"}
	c.say("user", "demo:tools\ngo")
	c.say("system", "# Environment\n - Primary working directory: /elsewhere\n\nThe following deferred tools are now available via ToolSearch. Their schemas are NOT loaded.\nWebFetch\nmcp__loop__send_message\n\nAvailable agent types:\n- claude")
	all := c.play("nothing")
	want := []string{"Bash", "Bash", "Write", "Edit", "Bash", "ToolSearch", "mcp__loop__send_message"}
	if got := calls(all); !slices.Equal(got, want) {
		t.Errorf("calls %v, want %v", got, want)
	}
	search := all[len(all)-3].blocks[0]["input"].(map[string]any)
	if search["query"] != "select:mcp__loop__send_message" || search["max_results"] != float64(1) {
		t.Errorf("searched %v", search)
	}
	if p := all[1].blocks[0]["input"].(map[string]any)["file_path"]; p != "/elsewhere/loop-demo-tools.txt" {
		t.Errorf("file path %v", p)
	}
}

func TestSelection(t *testing.T) {
	for _, c := range []struct{ model, prompt, script string }{
		{"claude-opus-4-8", "hello", "tour"},
		{"claude-opus-4-8[1m]", "hello", "tour"},
		{"demo-quick", "hello", "quick"},
		{"demo-quick[1m]", "hello", "quick"},
		{"demo-quick", "demo:tools\nhello", "tools"},
		{"any", "hello\n  demo:quick  \r\nthere", "quick"},
		{"any", "user: demo:tools\ndemo:quick\nx", "quick"},
		{"any", "demo:tools\ndemo:quick", "quick"},
		{"any", "what does demo:quick do?", "tour"},
	} {
		var seen Observation
		k := newTalk(t, Options{Observe: func(o Observation) { seen = o }})
		k.model = c.model
		k.say("user", c.prompt)
		k.next()
		if seen.Script != c.script || seen.Purpose != "turn" || seen.At.IsZero() {
			t.Errorf("model %q, prompt %q: %+v, want script %s", c.model, c.prompt, seen, c.script)
		}
	}
	// The CLI says where it keeps a picture, in a message after the prompt.
	var seen Observation
	k := newTalk(t, Options{Observe: func(o Observation) { seen = o }})
	k.say("user", "demo:quick\nlook")
	k.say("user", "[Image: source: /tmp/claude-0/images/1.png]")
	if said := fmt.Sprint(k.next()); seen.Script != "quick" || !strings.Contains(said, "“look”") {
		t.Errorf("with a picture: %+v, %s", seen, said)
	}
	k = newTalk(t, Options{})
	k.say("user", "demo:nope")
	res := k.post(k.body(true))
	b, _ := io.ReadAll(res.Body)
	if res.StatusCode != 400 || !strings.Contains(string(b), "it has ask, background, browser, error-401") {
		t.Errorf("unknown script: %d %s", res.StatusCode, b)
	}
}

func TestSideRequests(t *testing.T) {
	var seen []Observation
	srv := httptest.NewServer(New(Options{Pace: Instant, Observe: func(o Observation) { seen = append(seen, o) }}))
	defer srv.Close()
	ask := func(method, path, body string) (int, string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, srv.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		res, err := srv.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, string(b)
	}
	title := `{"model":"m","max_tokens":64000,"system":"Generate a concise title","messages":[{"role":"user","content":"<session>\nplease look around\n</session>\n\nWrite the title in the language"}],
	  "output_config":{"format":{"type":"json_schema","schema":{"type":"object","properties":{"title":{"type":"string"}},"required":["title"]}}}}`
	for _, c := range []struct {
		name, method, path, body string
		status                   int
		says                     string
	}{
		{"warm-up", "HEAD", "/", "", 200, ""},
		{"root", "GET", "/", "", 200, "demo-quick"},
		{"models", "GET", "/v1/models", "", 200, "demo-tour"},
		{"quota", "POST", "/v1/messages", `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"quota"}]}`, 200, "OK."},
		{"title", "POST", "/v1/messages?beta=true", title, 200, `{\"title\":\"please look around\"}`},
		{"odd schema", "POST", "/v1/messages", `{"model":"m","messages":[{"role":"user","content":"hi"}],"output_config":{"format":{"schema":{"properties":[true]}}}}`, 200, "{}"},
		{"count", "POST", "/v1/messages/count_tokens", `{"model":"m","messages":[]}`, 200, "input_tokens"},
		{"unknown path", "POST", "/v1/nothing", "{}", 404, `"not_found_error"`},
		{"wrong method", "GET", "/v1/messages", "", 404, `"not_found_error"`},
		{"no JSON", "POST", "/v1/messages", "garbage", 400, `"invalid_request_error"`},
		{"half JSON", "POST", "/v1/messages", `{"model":`, 400, `"invalid_request_error"`},
		{"wrong type", "POST", "/v1/messages", `{"model":"m","messages":{"a":1}}`, 400, `"invalid_request_error"`},
		{"nothing", "POST", "/v1/messages", `{}`, 400, "required"},
	} {
		status, body := ask(c.method, c.path, c.body)
		if status != c.status || !strings.Contains(body, c.says) {
			t.Errorf("%s: %d %s", c.name, status, body)
		}
		if status >= 400 {
			var e apiError
			if err := json.Unmarshal([]byte(body), &e); err != nil || e.Type != "error" || e.Error.Message == "" {
				t.Errorf("%s: %s is no API error", c.name, body)
			}
		}
	}
	if len(seen) != 13 {
		t.Errorf("%d requests observed, want 13", len(seen))
	}
	for _, o := range seen {
		if o.Purpose == "turn" {
			t.Errorf("%+v consumed a step", o)
		}
	}
}

func TestCompactKeepsPrompts(t *testing.T) {
	c := newTalk(t, Options{})
	c.model = "demo-quick"
	c.say("user", "Remember\nthe pear")
	c.next()
	c.say("user", "CRITICAL: Respond with TEXT ONLY.\n\n"+compactMark+" so far")
	summary := c.next().texts
	if !strings.Contains(summary, "<summary>") {
		t.Fatalf("no summary: %q", summary)
	}
	c.messages = nil
	c.say("user", []map[string]any{{"type": "text", "text": continuedMark + " that ran out of context.\n\n" + summary}, {"type": "text", "text": "What did I say?"}})
	if got := c.next().texts; !strings.Contains(got, "Remember the pear") {
		t.Errorf("the prompt before the summary is lost: %q", got)
	}
}

// TestUnansweredPrompt: a run that failed or was stopped leaves its prompt unanswered
// in the session.
func TestUnansweredPrompt(t *testing.T) {
	c := newTalk(t, Options{})
	c.say("user", []map[string]any{{"type": "text", "text": "demo:error-500\nFirst"}, {"type": "text", "text": "demo:quick\nSecond"}})
	if got := c.next().texts; !strings.HasPrefix(got, "You said “Second”, and before that “First”.") {
		t.Errorf("said %q", got)
	}
}

func TestStatusErrors(t *testing.T) {
	for script, want := range map[string]int{"error-401": 401, "error-403": 403, "error-429": 429, "error-500": 500, "error-529": 529, "error-credit": 400} {
		c := newTalk(t, Options{})
		c.say("user", "demo:"+script)
		for _, stream := range []bool{true, false} {
			res := c.post(c.body(stream))
			var e apiError
			if err := json.NewDecoder(res.Body).Decode(&e); err != nil || res.StatusCode != want || e.Error.Type != cmp.Or(errorTypes[want], "api_error") {
				t.Errorf("%s: %d %+v %v", script, res.StatusCode, e, err)
			}
			if script == "error-429" && res.Header.Get("Retry-After") != "1" {
				t.Error("error-429 does not say when to try again")
			}
		}
	}
}

func TestStreamFaults(t *testing.T) {
	for script, says := range map[string]string{"error-cut": "EOF", "error-malformed": "event", "error-event": "overloaded_error"} {
		c := newTalk(t, Options{})
		c.say("user", "demo:"+script)
		res := c.post(c.body(true))
		if _, err := assemble(res.Body); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", script, err)
		}
	}
	c := newTalk(t, Options{})
	c.say("user", "demo:error-event")
	if res := c.post(c.body(false)); res.StatusCode != 529 {
		t.Errorf("error event without streaming: %d", res.StatusCode)
	}
	c.messages = nil
	c.say("user", "demo:error-cut")
	if _, err := c.srv.Client().Post(c.srv.URL+"/v1/messages", "application/json", strings.NewReader(string(c.body(false)))); err == nil {
		t.Error("cut without streaming: answered")
	}
}

func TestHangEndsWithItsCaller(t *testing.T) {
	c := newTalk(t, Options{})
	c.say("user", "demo:error-hang")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.srv.URL+"/v1/messages", strings.NewReader(string(c.body(true))))
	if err != nil {
		t.Fatal(err)
	}
	res, err := c.srv.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 1)
	if _, err := io.ReadFull(res.Body, buf); err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := io.ReadAll(res.Body); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the caller's own end", err)
	}
	res.Body.Close() // srv.Close and goleak wait for the end of the handler
}

func TestLimitedTries(t *testing.T) {
	c := newTalk(t, Options{})
	c.say("user", "demo:error-retry")
	var got []int
	for range 3 {
		res := c.post(c.body(true))
		got = append(got, res.StatusCode)
		_, _ = io.Copy(io.Discard, res.Body)
	}
	if !slices.Equal(got, []int{529, 529, 200}) {
		t.Errorf("tries %v", got)
	}
}

func TestTriesAreBounded(t *testing.T) {
	h := &handler{tries: map[string]int{}}
	f := answer{fault: &Fault{Times: 1}}
	for i := range maxCounted + 10 {
		h.faultFor(f, strings.Repeat("x", i))
	}
	if len(h.tries) > maxCounted {
		t.Errorf("%d counted", len(h.tries))
	}
}

// zeros is a body that is too large, but takes no memory.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

func TestHugeRequest(t *testing.T) {
	rec := httptest.NewRecorder()
	New(Options{}).ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/messages", io.LimitReader(zeros{}, maxRequestBytes+1)))
	if rec.Code != http.StatusRequestEntityTooLarge || !strings.Contains(rec.Body.String(), "request_too_large") {
		t.Errorf("%d %s", rec.Code, rec.Body)
	}
}

func TestNotStreamed(t *testing.T) {
	c := newTalk(t, Options{})
	c.say("user", "demo:tools")
	res := c.post(c.body(false))
	var m struct {
		Content    []any
		StopReason string `json:"stop_reason"`
		Usage      Usage
	}
	if err := json.NewDecoder(res.Body).Decode(&m); err != nil {
		t.Fatal(err)
	}
	if m.StopReason != "tool_use" || len(m.Content) != 3 || m.Usage.Output == 0 {
		t.Errorf("%+v", m)
	}
}

func TestPace(t *testing.T) {
	took := func(pace float64) (d time.Duration) {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			body := strings.NewReader(`{"model":"demo-quick","stream":true,"messages":[{"role":"user","content":"hi"}],"tools":[{"name":"Bash"}]}`)
			New(Options{Pace: pace}).ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/messages", body))
			d = time.Since(began)
		})
		return d
	}
	one, three, none := took(1), took(3), took(Instant)
	if one < 300*time.Millisecond || one > 5*time.Second || three != 3*one || none != 0 {
		t.Errorf("waited %v at 1, %v at 3, %v at Instant", one, three, none)
	}
}

func TestPieces(t *testing.T) {
	for _, s := range []string{"", "short", "a longer text with spaces in it, and a word thatisverylongindeedwithoutaspace", "Grüße 結果 😀 " + strings.Repeat("é", 40)} {
		parts := textPiece.FindAllString(s, -1)
		if strings.Join(parts, "") != s {
			t.Errorf("%q became %q", s, parts)
		}
		for _, p := range parts {
			if strings.ToValidUTF8(p, "") != p {
				t.Errorf("%q is cut in a character", p)
			}
		}
	}
}

func FuzzRequest(f *testing.F) {
	f.Add([]byte(`{"model":"m","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"demo:tools"}],"tools":[{"name":"Bash"}]}`))
	f.Add([]byte(`{"model":"demo-tour","messages":[{"role":"user","content":[{"type":"tool_result","content":[{"type":"text","text":"x"}]}]}],"system":"Working directory: /x"}`))
	f.Add([]byte(`{"model":"m","messages":[{"role":"assistant","content":[{"type":"tool_use","id":"toolu_demo_999_00_x"}]},{"role":"user","content":null}],"tools":[{}]}`))
	h := New(Options{Pace: Instant})
	f.Fuzz(func(t *testing.T, body []byte) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // ends a script that hangs
		rec := httptest.NewRecorder()
		defer func() {
			p := recover()
			if err, ok := p.(error); p != nil && (!ok || !errors.Is(err, http.ErrAbortHandler)) {
				t.Fatal(p)
			}
		}()
		h.ServeHTTP(rec, httptest.NewRequestWithContext(ctx, http.MethodPost, "/v1/messages", strings.NewReader(string(body))))
		if rec.Code >= 400 && !json.Valid(rec.Body.Bytes()) {
			t.Fatalf("%d %s", rec.Code, rec.Body)
		}
	})
}

// TestWorkingDirectoryInASystemMessage: newer CLIs put the environment into a message
// of its own.
func TestWorkingDirectoryInASystemMessage(t *testing.T) {
	for name, body := range map[string]string{
		"system":  `{"model":"m","system":"# Environment\n - Primary working directory: /w\n","messages":[{"role":"user","content":"hi"}]}`,
		"message": `{"model":"m","system":"x","messages":[{"role":"user","content":"hi"},{"role":"system","content":[{"type":"text","text":"# Environment\nas follows: \n - Primary working directory: /w\n - Platform: linux"}]}]}`,
	} {
		var r request
		if err := json.Unmarshal([]byte(body), &r); err != nil {
			t.Fatal(err)
		}
		if got := r.read().cwd; got != "/w" {
			t.Errorf("%s: %q", name, got)
		}
	}
}
