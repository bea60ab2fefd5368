package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"loop/backend/core"
	"loop/backend/leaktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(leaktest.Patient(m)) }

const token = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

type echo struct{}

func (echo) Add(a, b int) (int, error) { return a + b, nil }
func (echo) Nothing() error            { return nil }
func (echo) Refuse() (string, error) {
	return "", core.Fail(core.CodeNotFound, nil, "It is not there.", "Look elsewhere.")
}
func (echo) Break() error { return errors.New("secret path /x") }

type source struct {
	mu    sync.Mutex
	subs  []chan []core.Event
	asked []string // launch/since of each call
}

func (s *source) Follow(_ context.Context, launch string, since uint64) <-chan []core.Event {
	c := make(chan []core.Event, 4)
	s.mu.Lock()
	s.subs = append(s.subs, c)
	s.asked = append(s.asked, fmt.Sprintf("%s/%d", launch, since))
	s.mu.Unlock()
	return c
}

func serve(t *testing.T, src EventSource) (*Server, *http.Client) {
	t.Helper()
	calls, err := Tabulate(map[string]any{"Echo": echo{}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(Options{Token: token, Calls: calls, Events: src,
		Frontend: fstest.MapFS{"index.html": {Data: []byte("<!doctype html><title>Loop</title>")}},
		Log:      slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return s, runs(t, s)
}

// runs serves s until the test ends, and returns a client.
func runs(t testing.TB, s *Server) *http.Client {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- s.Serve() }()
	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(func() {
		client.CloseIdleConnections()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return client
}

func request(t *testing.T, c *http.Client, method, url, body string, header map[string]string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range header {
		if k == "Host" {
			req.Host = v
			continue
		}
		req.Header.Set(k, v)
	}
	res, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(bytes.TrimSpace(b))
}

// TestFrontDoor tries every pair of Host and Origin. The listener accepts its own names
// with no Origin, with its own origin or with the webview's.
func TestFrontDoor(t *testing.T) {
	s, c := serve(t, &source{})
	port := s.Addr()[strings.LastIndex(s.Addr(), ":"):]
	hosts := map[string]bool{"127.0.0.1" + port: true, "localhost" + port: true, "evil.example" + port: false, "127.0.0.1": false, "127.0.0.1:1": false}
	origins := map[string]bool{"": true, "http://127.0.0.1" + port: true, "wails://wails": true, "http://evil.example": false,
		"null": false, "http://127.0.0.1": false, "https://127.0.0.1" + port: false, "wails://wails.evil": false}
	for host, hostOK := range hosts {
		for origin, originOK := range origins {
			h := map[string]string{"Host": host, "Authorization": "Bearer " + token, "Content-Type": "application/json"}
			if origin != "" {
				h["Origin"] = origin
			}
			code, body := request(t, c, "POST", s.URL()+"api/call/Echo.Add", "[1,2]", h)
			if want := hostOK && originOK; (code == 200) != want {
				t.Errorf("host %q origin %q: %d %s, want admitted=%v", host, origin, code, body, want)
			}
		}
	}
}

func TestToken(t *testing.T) {
	s, c := serve(t, &source{})
	for name, auth := range map[string]string{"none": "", "wrong": "Bearer " + strings.Repeat("0", 64), "prefix": "Bearer " + token[:32], "basic": "Basic " + token} {
		code, _ := request(t, c, "POST", s.URL()+"api/call/Echo.Add?token="+token, "[1,2]", map[string]string{"Authorization": auth, "Content-Type": "application/json"})
		if code != http.StatusUnauthorized {
			t.Errorf("%s: %d", name, code)
		}
	}
	for _, call := range []string{"GET api/gate/approvals", "POST api/gate/approvals/a1", "GET api/ws", "GET api/ws/terminal", "GET api/recordings/x"} {
		method, path, _ := strings.Cut(call, " ")
		if code, _ := request(t, c, method, s.URL()+path, `{"decision":"once","digest":"d1"}`, nil); code != http.StatusUnauthorized {
			t.Errorf("%s without a token: %d", call, code)
		}
	}
	for _, path := range []string{"", "api/health"} {
		if code, _ := request(t, c, "GET", s.URL()+path, "", nil); code != 200 {
			t.Errorf("%q needs no token: %d", path, code)
		}
	}
}

func TestCalls(t *testing.T) {
	s, c := serve(t, &source{})
	for _, tc := range []struct {
		method, body string
		code         int
		want         string
	}{
		{"Echo.Add", "[2,3]", 200, "5"},
		{"Echo.Nothing", "[]", 200, "null"},
		{"Echo.Nothing", "", 200, "null"},
		{"Echo.Refuse", "[]", 404, `"cause":"It is not there."`},
		{"Echo.Break", "[]", 500, `"code":"internal"`},
		{"Echo.Gone", "[]", 404, `"not_found"`},
		{"Echo.Add", "[1]", 400, `"invalid_input"`},
		{"Echo.Add", `["x",1]`, 400, `"invalid_input"`},
		{"Echo.Add", `{`, 400, `"invalid_input"`},
		{"Echo.Add", "[2,3]\n", 200, "5"},
		{"Echo.Add", `[2,3] [4,5]`, 400, `"invalid_input"`},
	} {
		code, body := request(t, c, "POST", s.URL()+"api/call/"+tc.method, tc.body, map[string]string{"Authorization": "Bearer " + token, "Content-Type": "application/json"})
		if code != tc.code || !strings.Contains(body, tc.want) {
			t.Errorf("%s %s: %d %s", tc.method, tc.body, code, body)
		}
	}
	if code, _ := request(t, c, "POST", s.URL()+"api/call/Echo.Add", "[1,2]", map[string]string{"Authorization": "Bearer " + token, "Content-Type": "text/plain"}); code != 415 {
		t.Errorf("plain text was accepted: %d", code)
	}
	if code, body := request(t, c, "POST", s.URL()+"api/call/Echo.Add", "["+strings.Repeat(" ", maxCallBytes)+"1,2]", map[string]string{"Authorization": "Bearer " + token, "Content-Type": "application/json"}); code != 400 || !strings.Contains(body, "MiB") {
		t.Errorf("oversize call: %d %.200s", code, body)
	}
}

func TestEvents(t *testing.T) {
	src := &source{}
	s, c := serve(t, src)
	ctx := t.Context()
	if _, _, err := websocket.Dial(ctx, "ws://"+s.Addr()+"/api/ws", &websocket.DialOptions{HTTPClient: c, Subprotocols: []string{"loop"}}); err == nil {
		t.Fatal("a socket without the token was accepted")
	}
	conn, _, err := websocket.Dial(ctx, "ws://"+s.Addr()+"/api/ws", &websocket.DialOptions{HTTPClient: c, Subprotocols: []string{"loop", "loop.token." + token}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.CloseNow()
	if conn.Subprotocol() != "loop" {
		t.Errorf("subprotocol %q", conn.Subprotocol())
	}
	sub := src.wait(ctx)
	sub <- []core.Event{{Seq: 7, Type: core.EventNotice}}
	_, data, err := conn.Read(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var got []core.Event
	if err := json.Unmarshal(data, &got); err != nil || len(got) != 1 || got[0].Seq != 7 {
		t.Fatalf("%s %v", data, err)
	}
	close(sub)
	if _, _, err = conn.Read(ctx); websocket.CloseStatus(err) != websocket.StatusGoingAway {
		t.Fatalf("a page must be told that Loop closes: %v", err)
	}
}

func (s *source) wait(ctx context.Context) chan []core.Event {
	for ctx.Err() == nil {
		s.mu.Lock()
		n := len(s.subs)
		s.mu.Unlock()
		if n > 0 {
			return s.subs[0]
		}
	}
	return nil
}

func TestAddresses(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for addr, want := range map[string]core.Code{
		"0.0.0.0:0": core.CodeInvalid, ":0": core.CodeInvalid, "192.0.2.1:0": core.CodeInvalid, "nonsense": core.CodeInvalid,
		"127.0.0.1:99999": core.CodeInvalid, "127.0.0.1:-1": core.CodeInvalid, "localhost:no-such-port": core.CodeInvalid,
		taken.Addr().String(): core.CodeConfig, // not a conflict: waiting would not help
	} {
		_, err := New(Options{Addr: addr, Log: slog.New(slog.DiscardHandler)})
		if f := core.AsFailure(err); err == nil || f.Code != want || f.Remedy == "" {
			t.Errorf("%q: %v, want code %s", addr, err, want)
		}
	}
}

// TestPageListsNothing: a folder of the built page is no page.
func TestPageListsNothing(t *testing.T) {
	files := fstest.MapFS{"index.html": {Data: []byte("x")}, "assets/a.js": {Data: []byte("y")}}
	for path, want := range map[string]int{"/": 200, "/assets/a.js": 200, "/assets/": 404, "/assets": 301, "/none": 404} {
		w := httptest.NewRecorder()
		page(files).ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		if w.Code != want {
			t.Errorf("%s: %d, want %d", path, w.Code, want)
		}
	}
}

// TestContentPolicy: a page may talk to the listener that served it, and to no other
// program of this computer.
func TestContentPolicy(t *testing.T) {
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Host = "localhost:8222"
	page(fstest.MapFS{"index.html": {Data: []byte("x")}}).ServeHTTP(w, r)
	s, _ := serveTerms(t, newFakeTerms(), nil)
	for where, policy := range map[string]string{" ws://localhost:8222": w.Header().Get("Content-Security-Policy"), " http://" + s.Addr() + " ws://" + s.Addr(): s.WindowPolicy()} {
		if want := "; connect-src 'self'" + where + "; "; !strings.Contains(policy, want) {
			t.Errorf("%s has no %s", policy, want)
		}
		if strings.Contains(policy, "*") || !strings.HasPrefix(policy, "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; ") {
			t.Error(policy)
		}
	}
}

// TestRefusalsDoNotFillTheLog: many refused requests with long names leave one short
// line.
func TestRefusalsDoNotFillTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		log := slog.New(slog.NewTextHandler(&out, nil))
		var l refusals
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Host = strings.Repeat("x", 60<<10)
		r.Header.Set("Origin", "http://"+strings.Repeat("y", 60<<10))
		for range 1000 {
			l.log(log, r)
		}
		if n := bytes.Count(out.Bytes(), []byte("\n")); n != 1 || out.Len() > 1000 {
			t.Errorf("%d lines, %d bytes", n, out.Len())
		}
		<-time.After(refusalEvery)
		l.log(log, r)
		if !strings.Contains(out.String(), "more_before=999") {
			t.Errorf("%s", out.String())
		}
	})
}
