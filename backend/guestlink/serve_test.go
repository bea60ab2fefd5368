package guestlink_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/yamux"

	"loop/backend/core"
	"loop/backend/guestlink"
	"loop/backend/wire"
)

// callbacks takes messages. Every other callback panics.
func callbacks(f func(ctx context.Context, from core.Caller, text string) error) guestlink.Callbacks {
	return messages{f: f}
}

type messages struct {
	guestlink.Callbacks
	f func(ctx context.Context, from core.Caller, text string) error
}

func (m messages) SendMessage(ctx context.Context, from core.Caller, _ core.ChannelID, text string) error {
	return m.f(ctx, from, text)
}

func idle(_ wire.Request, st *yamux.Stream) { reply(st, wire.Reply{}) }

func do(t *testing.T, c *http.Client, method, path, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://link"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Do(req)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(data)
}

func TestMessages(t *testing.T) {
	var got []string
	_, g := open(t, guestlink.Options{Callbacks: callbacks(func(_ context.Context, from core.Caller, text string) error {
		switch text {
		case "fail":
			return core.Fail(core.CodeNotFound, errors.New("secret detail"), "The channel is gone.", "")
		case "panic":
			panic("boom")
		}
		got = append(got, string(from.ChannelID)+":"+text)
		return nil
	})}, idle)
	c := g.client(t)
	for _, k := range []struct {
		method, path, body string
		code               int
		want               string
	}{
		{"POST", "/api/messages", `{"content":"hello"}`, 200, "ok"},
		{"POST", "/api/messages", `{"content":"hello","channel_id":"chan"}`, 200, "ok"},
		{"POST", "/api/messages", `{"content":" "}`, 400, "empty"},
		{"POST", "/api/messages", `{`, 400, "JSON"},
		{"POST", "/api/messages", `{"content":"fail"}`, 404, "The channel is gone."},
		{"POST", "/api/messages", `{"content":"panic"}`, 500, "inside Loop"},
		{"POST", "/api/messages", `{"content":"` + strings.Repeat("x", wire.MaxCallbackBody) + `"}`, 413, "too large"},
		{"GET", "/api/messages", "", 405, "POST"},
		{"POST", "/api/call/System.Snapshot", `[]`, 404, "nothing"},
		{"GET", "/api/ws", "", 404, "nothing"},
		{"GET", "/", "", 404, "nothing"},
		{"GET", "/api/messages/../messages", "", 404, "nothing"},
	} {
		code, body := do(t, c, k.method, k.path, k.body)
		if code != k.code || !strings.Contains(body, k.want) || strings.Contains(body, "secret") {
			t.Errorf("%s %s %.40s: %d %s", k.method, k.path, k.body, code, body)
		}
	}
	if fmt.Sprint(got) != "[chan:hello chan:hello]" {
		t.Errorf("%q", got)
	}
}

// everyCharacter is an id of the greatest length, made of all characters that an id may
// have.
const everyCharacter = "aA0-_bcdefghijklmnopqrstuvwxyzBCDEFGHIJKLMNOPQRSTUVWXYZ123456789"

// TestEveryIDHasARoute: with any id, a run's agent reaches its own model and no other
// run's.
func TestEveryIDHasARoute(t *testing.T) {
	l, g := open(t, guestlink.Options{AdmitHold: -1, DemoModel: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.URL.Path)
	})}, idle)
	c := g.client(t)
	for _, id := range []string{
		everyCharacter, "a", "A", "0", "model", "runs", core.NewID(), "018f3c2e-8d5a-7b1e-9f00-1234567890ab", "01ARZ3NDEKTSV4RRFFQ69G5FAV",
	} {
		path := "/runs/" + id + "/model/v1/messages"
		if !wire.ValidID(id) {
			t.Errorf("%s cannot be an id", id)
		}
		if code, _ := do(t, c, "POST", path, ""); code != 404 && code != 403 {
			t.Errorf("%s has a route of another's: %d", id, code)
		}
		model(l, core.RunID(id), core.ModelUpstream{Demo: true})
		if code, body := do(t, c, "POST", path, ""); code != 200 || body != "/v1/messages" {
			t.Errorf("%s: %d %s", id, code, body)
		}
	}
}

// TestModelRequestIsNotHeldForEver: only a young link holds requests back.
func TestModelRequestIsNotHeldForEver(t *testing.T) {
	_, g := open(t, guestlink.Options{AdmitHold: time.Millisecond}, idle)
	if code, body := do(t, g.client(t), "POST", "/runs/r1/model/v1/messages", ""); code != 404 || !strings.Contains(body, "not_found_error") {
		t.Errorf("%d %s", code, body)
	}
}

func TestDemoModel(t *testing.T) {
	l, g := open(t, guestlink.Options{AdmitHold: -1, DemoModel: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, "%s?%s", r.URL.Path, r.URL.RawQuery)
	})}, idle)
	c := g.client(t)
	if code, body := do(t, c, "POST", "/runs/r1/model/v1/messages", ""); code != 404 || !strings.Contains(body, "not_found_error") {
		t.Errorf("without a route: %d %s", code, body)
	}
	model(l, "r1", core.ModelUpstream{Demo: true})
	for path, want := range map[string]string{
		"/runs/r1/model/v1/messages?beta=true": "200 /v1/messages?beta=true",
		"/runs/r1/model":                       "200 /?",
		"/runs/r2/model/v1/messages":           "403",
		"/runs/r1/modelx":                      "404",
		"/runs/r1":                             "404",
		"/runs//model/x":                       "404",
		"/runs/r1%2fmodel/x":                   "404",
		"/runs/r1/model/../../x":               "400",
		"/runs/r1/model/%2e%2e/x":              "400",
		`/runs/r1/model/a%5c..%5cb`:            "400",
	} {
		code, body := do(t, c, "GET", path, "")
		if !strings.HasPrefix(fmt.Sprint(code, " ", body), want) {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
	model(l, "r1", core.ModelUpstream{})
	if code, _ := do(t, c, "GET", "/runs/r1/model/x", ""); code != 404 {
		t.Errorf("after removal: %d", code)
	}
}

func TestBaseURL(t *testing.T) {
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprintf(w, "%s %s %s %s\n", r.Method, r.RequestURI, r.Header.Get("X-Api-Key"), r.Header.Get("X-Forwarded-For"))
		_ = http.NewResponseController(w).Flush()
		_, _ = io.Copy(w, r.Body) // echoes as the body comes
	}))
	defer up.Close()
	u, err := url.Parse(up.URL)
	if err != nil {
		t.Fatal(err)
	}
	l, g := open(t, guestlink.Options{}, idle)
	c := g.client(t)
	// Each name means the host, on its own side or in a container.
	for _, name := range []string{"127.0.0.1", "localhost", "host.docker.internal", "127.9.9.9", "[::1]"} {
		model(l, "r1", core.ModelUpstream{BaseURL: "http://" + net.JoinHostPort(strings.Trim(name, "[]"), u.Port()) + "/prefix/"})
		req, err := http.NewRequestWithContext(t.Context(), "POST", "http://link/runs/r1/model/v1/messages?beta=true", strings.NewReader("body"))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Api-Key", "k")
		resp, err := c.Do(req)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		line, _ := bufio.NewReader(resp.Body).ReadString('\n')
		_ = resp.Body.Close()
		if line != "POST /prefix/v1/messages?beta=true k \n" {
			t.Errorf("%s: %q", name, line)
		}
	}
	for base, want := range map[string]string{
		"ftp://x":            "not an http",
		"http://":            "not an http",
		"::":                 "not an http",
		"http://127.0.0.1:1": "could not reach the model at 127.0.0.1:1",
	} {
		model(l, "r1", core.ModelUpstream{BaseURL: base})
		if code, body := do(t, c, "POST", "/runs/r1/model/v1/messages", "x"); code != 502 || !strings.Contains(body, want) || !strings.Contains(body, `"api_error"`) {
			t.Errorf("%s: %d %s", base, code, body)
		}
	}
}

// TestModelStreams reads an event before the next one is written, through link and
// proxy.
func TestModelStreams(t *testing.T) {
	next := make(chan struct{})
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for i := range 3 {
			_, _ = fmt.Fprintf(w, "data: %d\n", i)
			_ = http.NewResponseController(w).Flush()
			<-next
		}
	}))
	defer up.Close()
	l, g := open(t, guestlink.Options{}, idle)
	model(l, "r1", core.ModelUpstream{BaseURL: up.URL})
	resp, err := g.client(t).Get("http://link/runs/r1/model/v1/messages")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	lines := bufio.NewReader(resp.Body)
	for i := range 3 {
		line, err := lines.ReadString('\n')
		if err != nil || line != fmt.Sprintf("data: %d\n", i) {
			t.Fatalf("%q %v", line, err)
		}
		next <- struct{}{}
	}
}

// TestCloseEndsRequests closes the link while a request waits.
func TestCloseEndsRequests(t *testing.T) {
	arrived, left := make(chan struct{}), make(chan struct{})
	l, g := open(t, guestlink.Options{Callbacks: callbacks(func(ctx context.Context, _ core.Caller, _ string) error {
		close(arrived)
		<-ctx.Done()
		close(left)
		return ctx.Err()
	})}, idle)
	c := g.client(t)
	go func() {
		if resp, err := c.Post("http://link/api/messages", "application/json", strings.NewReader(`{"content":"x"}`)); err == nil {
			_ = resp.Body.Close()
		}
	}()
	<-arrived
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	<-left
}

func FuzzGuestRequest(f *testing.F) {
	f.Add("/runs/r1/model/v1/messages", "{}")
	f.Add("/api/messages", `{"content":"x","channel_id":"other"}`)
	f.Add("/runs/r1/model/%2e%2e/x", "")
	f.Add("/runs/%/model", "")
	f.Fuzz(func(t *testing.T, path, body string) {
		h := guestlink.HandlerForTest(guestlink.Options{
			Callbacks: callbacks(func(_ context.Context, from core.Caller, _ string) error {
				if from.ChannelID != "chan" {
					t.Fatal("another channel")
				}
				return nil
			}),
			DemoModel: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if !strings.HasPrefix(r.URL.Path, "/") || strings.Contains(r.URL.Path+"/", "/../") {
					t.Fatalf("the model sees %q", r.URL.Path)
				}
			}),
		}, core.Identity{ChannelID: "chan", RunID: "r1", Upstream: core.ModelUpstream{Demo: true}})
		req := httptest.NewRequest("POST", "/", strings.NewReader(body))
		u, err := url.ParseRequestURI(path)
		if err != nil {
			return
		}
		req.URL = u
		h.ServeHTTP(httptest.NewRecorder(), req)
	})
}

// TestSpawnsAreApart: a spawn cannot use the rights of another spawn of the same
// container, whatever it claims to be.
func TestSpawnsAreApart(t *testing.T) {
	type said struct {
		from core.Caller
		text string
	}
	got := make(chan said, 8)
	l, g := open(t, guestlink.Options{AdmitHold: -1, Callbacks: callbacks(func(_ context.Context, from core.Caller, text string) error {
		got <- said{from, text}
		return nil
	}), DemoModel: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})}, idle)
	demo := core.ModelUpstream{Demo: true}
	l.Admit("s1", core.Identity{ChannelID: "c1", RunID: "r1", Upstream: demo})
	l.Admit("s2", core.Identity{ChannelID: "c2", RunID: "r2", Upstream: demo})
	l.Admit("term", core.Identity{ChannelID: "c1", Upstream: demo})
	for _, k := range []struct {
		spawn, path string
		code        int
	}{
		{"s1", "/runs/r1/model/v1/messages", 200},
		{"s1", "/runs/r2/model/v1/messages", 403},
		{"s1", "/runs/term/model/v1/messages", 403},
		{"s2", "/runs/r2/model/v1/messages", 200},
		{"s2", "/runs/r1/model/v1/messages", 403},
		{"term", "/runs/term/model/v1/messages", 200},
		{"term", "/runs/r1/model/v1/messages", 403},
		{"nobody", "/runs/r1/model/v1/messages", 404},
	} {
		req, err := http.NewRequestWithContext(t.Context(), "POST", "http://link"+k.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range []string{"X-Loop-Spawn", "X-Loop-Run", "Loop-Spawn", "Spawn", "X-Forwarded-For"} {
			req.Header.Set(h, strings.Split(k.path, "/")[2])
		}
		resp, err := g.clientOf(t, k.spawn).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != k.code {
			t.Errorf("%s asks for %s: %d, want %d", k.spawn, k.path, resp.StatusCode, k.code)
		}
	}
	for spawn, want := range map[string]core.Caller{
		"s1":   {ChannelID: "c1", SpawnID: "s1", RunID: "r1"},
		"s2":   {ChannelID: "c2", SpawnID: "s2", RunID: "r2"},
		"term": {ChannelID: "c1", SpawnID: "term"},
	} {
		if code, body := do(t, g.clientOf(t, spawn), "POST", "/api/messages", `{"content":"`+spawn+`"}`); code != 200 {
			t.Errorf("%s: %d %s", spawn, code, body)
			continue
		}
		if s := <-got; s.from != want || s.text != spawn {
			t.Errorf("%s spoke as %+v", spawn, s)
		}
	}
	if code, _ := do(t, g.clientOf(t, "nobody"), "POST", "/api/messages", `{"content":"x"}`); code != 403 {
		t.Errorf("a stranger's callback: %d", code)
	}
	// A run's route and identity end with its spawn.
	if err := l.Forget(t.Context(), "s1"); err != nil {
		t.Fatal(err)
	}
	if code, _ := do(t, g.clientOf(t, "s1"), "POST", "/runs/r1/model/v1/messages", ""); code != 404 {
		t.Errorf("the model of a run that has ended: %d", code)
	}
	if code, _ := do(t, g.clientOf(t, "s1"), "POST", "/api/messages", `{"content":"x"}`); code != 403 {
		t.Errorf("a callback of a run that has ended: %d", code)
	}
}

// TestKeyIsAddedOnTheWayOut: the key takes the place of the placeholder, and only in
// calls of the model.
func TestKeyIsAddedOnTheWayOut(t *testing.T) {
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprint(w, r.Header["Authorization"], r.Header["X-Api-Key"])
	}))
	defer up.Close()
	l, g := open(t, guestlink.Options{}, idle)
	c := g.client(t)
	key := core.ModelUpstream{BaseURL: up.URL, APIKey: "sk-real"}
	token := core.ModelUpstream{BaseURL: up.URL, OAuthToken: "oat-real"}
	for _, k := range []struct {
		up         core.ModelUpstream
		path       string
		head, said string
		want       string
	}{
		{key, "/v1/messages?beta=true", "Authorization", "Bearer loop-no-key", "[] [sk-real]"},
		{key, "/v1/messages", "X-Api-Key", "loop-no-key", "[] [sk-real]"},
		{token, "/v1/messages?beta=true", "Authorization", "Bearer loop-no-key", "[Bearer oat-real] []"},
		{token, "/v1/messages/count_tokens", "X-Api-Key", "loop-no-key", "[Bearer oat-real] []"},
		{token, "/v1/models", "Authorization", "Bearer loop-no-key", "[Bearer oat-real] []"},
		// A person's own login stays as it is, and so does a request without a key.
		{token, "/v1/messages", "Authorization", "Bearer mine", "[Bearer mine] []"},
		{key, "/v1/messages", "X-Api-Key", "mine", "[] [mine]"},
		{key, "/v1/messages", "X-Other", "loop-no-key", "[] []"},
		{core.ModelUpstream{BaseURL: up.URL}, "/v1/messages", "X-Api-Key", "loop-no-key", "[] [loop-no-key]"},
		// With a real token, these calls could make a new key.
		{token, "/api/oauth/claude_cli/create_api_key", "Authorization", "Bearer loop-no-key", "[Bearer loop-no-key] []"},
		{key, "/v1/organizations/api_keys", "X-Api-Key", "loop-no-key", "[] [loop-no-key]"},
		{key, "/v1/messages/batches", "X-Api-Key", "loop-no-key", "[] [loop-no-key]"},
		{key, "/v1//messages", "X-Api-Key", "loop-no-key", "[] [loop-no-key]"},
	} {
		model(l, "r1", k.up)
		req, err := http.NewRequestWithContext(t.Context(), "POST", "http://link/runs/r1/model"+k.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set(k.head, k.said)
		resp, err := c.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if string(body) != k.want {
			t.Errorf("%s with %s: %s goes out as %s, want %s", k.path, k.head, k.said, body, k.want)
		}
	}
}
