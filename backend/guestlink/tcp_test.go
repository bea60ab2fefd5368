package guestlink_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"loop/backend/core"
	"loop/backend/guestlink"
)

// tcpRig is a listener for callbacks, whose runs the test starts and ends.
type tcpRig struct {
	*guestlink.TCP
	rec *recorder

	mu      sync.Mutex
	live    map[core.RunID]bool
	unknown error
}

func newTCP(tb testing.TB, cb guestlink.Callbacks) *tcpRig {
	tb.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	return tcpOn(tb, ln, cb)
}

func tcpOn(tb testing.TB, ln net.Listener, cb guestlink.Callbacks) *tcpRig {
	r := &tcpRig{rec: &recorder{}, live: map[core.RunID]bool{"r1": true, "r2": true}}
	if cb == nil {
		cb = r.rec
	}
	r.TCP = guestlink.ServeTCP(ln, guestlink.TCPOptions{Key: "key", Callbacks: cb, Live: func(_ context.Context, id core.RunID) (bool, error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.live[id], r.unknown
	}})
	tb.Cleanup(r.Close)
	return r
}

func (r *tcpRig) set(id core.RunID, live bool, unknown error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.live[id], r.unknown = live, unknown
}

func (r *tcpRig) ask(t *testing.T, method, path, body string, headers ...string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://"+r.Addr().String()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Add(headers[i], headers[i+1])
	}
	tr := &http.Transport{DisableKeepAlives: true}
	resp, err := tr.RoundTrip(req)
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

func TestTCPKnowsItsCallersByToken(t *testing.T) {
	r := newTCP(t, nil)
	one := r.Grant(t.Context(), core.Caller{ChannelID: "chan", RunID: "r1"}).Reveal()
	two := r.Grant(t.Context(), core.Caller{ChannelID: "other", RunID: "r2"}).Reveal()
	if len(one) != 64 || one == two {
		t.Fatalf("tokens %q %q", one, two)
	}
	// The container becomes known later, and the token stays the same.
	if again := r.Grant(t.Context(), core.Caller{ChannelID: "chan", RunID: "r1"}).Reveal(); again != one {
		t.Error("granting again made another token")
	}
	const message = `{"content":"hi","channel_id":"x"}`
	for _, k := range []struct {
		method, path string
		headers      []string
		code         int
		said         string
	}{
		{"POST", "/api/messages", []string{"Authorization", "Bearer " + one}, 200, `chan send "x" "hi"`},
		{"POST", "/api/messages", []string{"Authorization", "Bearer " + two}, 200, `other send "x" "hi"`},
		{"POST", "/api/messages", nil, 401, ""},
		{"POST", "/api/messages", []string{"Authorization", "Bearer "}, 401, ""},
		{"POST", "/api/messages", []string{"Authorization", one}, 401, ""},
		{"POST", "/api/messages", []string{"Authorization", "Bearer " + one[:63]}, 401, ""},
		{"POST", "/api/messages", []string{"Authorization", "Bearer " + strings.Repeat("0", 64)}, 401, ""},
		{"POST", "/api/messages", []string{"Authorization", "Bearer " + one, "Authorization", "Bearer " + two}, 401, ""},
		{"POST", "/api/messages?token=" + one, nil, 401, ""},
		{"POST", "/api/messages", []string{"Authorization", "Bearer " + one, "Origin", "http://evil.example"}, 403, ""},
		// Without a token, every route gives the same answer.
		{"GET", "/nothing", nil, 401, ""},
		{"GET", "/nothing", []string{"Authorization", "Bearer " + one}, 404, ""},
		// Models and the owner's calls are not served here.
		{"POST", "/runs/r1/model/v1/messages", []string{"Authorization", "Bearer " + one}, 404, ""},
		{"POST", "/api/call/System.Snapshot", []string{"Authorization", "Bearer " + one}, 404, ""},
		{"GET", "/api/ws", []string{"Authorization", "Bearer " + one}, 404, ""},
	} {
		r.rec.said = nil
		code, body := r.ask(t, k.method, k.path, message, k.headers...)
		if said := strings.Join(r.rec.said, ";"); code != k.code || said != k.said {
			t.Errorf("%s %s %q: %d %s, asked %q", k.method, k.path, k.headers, code, body, said)
		}
		if strings.Contains(body, one) {
			t.Error("a token is in the answer")
		}
	}
}

// TestTCPNoTokenWithoutARun: containers of terminals have no run. With one token for
// all of them, each could act as another.
func TestTCPNoTokenWithoutARun(t *testing.T) {
	r := newTCP(t, nil)
	r.set("", true, nil)
	for range 2 {
		if token := r.Grant(t.Context(), core.Caller{ChannelID: "chan"}); token != "" || r.Admitted("") {
			t.Error("got a token")
		}
	}
}

func TestTCPTokenEndsWithTheRun(t *testing.T) {
	r := newTCP(t, nil)
	token := r.Grant(t.Context(), core.Caller{ChannelID: "chan", RunID: "r1"}).Reveal()
	say := func() int {
		code, _ := r.ask(t, "POST", "/api/messages", `{"content":"hi"}`, "Authorization", "Bearer "+token)
		return code
	}
	if code := say(); code != 200 || !r.Admitted("r1") || r.Idle(t.Context()) {
		t.Fatalf("while it runs: %d", code)
	}
	// When the database does not answer, the request is refused, but the grant stays.
	r.set("r1", true, errors.New("disk trouble"))
	if code := say(); code != 503 || r.Idle(t.Context()) {
		t.Errorf("while nobody knows: %d", code)
	}
	r.set("r1", false, nil)
	if code := say(); code != 401 || r.Admitted("r1") || !r.Idle(t.Context()) {
		t.Errorf("after its end: %d", code)
	}
	r.Grant(t.Context(), core.Caller{ChannelID: "chan", RunID: "r1"})
	r.Grant(t.Context(), core.Caller{ChannelID: "other", RunID: "r2"})
	if r.Admitted("r1") {
		t.Error("a run that has ended was kept")
	}
}

// TestTCPTokenSurvivesARestart: the same key makes the same tokens, and another key
// makes others.
func TestTCPTokenSurvivesARestart(t *testing.T) {
	from := core.Caller{ChannelID: "chan", RunID: "r1"}
	a, b := newTCP(t, nil), newTCP(t, nil)
	if a.Grant(t.Context(), from) != b.Grant(t.Context(), from) {
		t.Error("another token after a restart")
	}
}

func TestTCPPanicIsOneRequest(t *testing.T) {
	r := newTCP(t, callbacks(func(context.Context, core.Caller, string) error { panic("boom") }))
	token := r.Grant(t.Context(), core.Caller{ChannelID: "chan", RunID: "r1"}).Reveal()
	for range 2 {
		if code, body := r.ask(t, "POST", "/api/messages", `{"content":"x"}`, "Authorization", "Bearer "+token); code != 500 || strings.Contains(body, "boom") {
			t.Errorf("%d %s", code, body)
		}
	}
}

// TestTCPCloseWaits: Close cancels a callback under way and waits for it.
func TestTCPCloseWaits(t *testing.T) {
	arrived, left := make(chan struct{}), make(chan struct{})
	r := newTCP(t, callbacks(func(ctx context.Context, _ core.Caller, _ string) error {
		close(arrived)
		<-ctx.Done()
		close(left)
		return ctx.Err()
	}))
	token := r.Grant(t.Context(), core.Caller{ChannelID: "chan", RunID: "r1"}).Reveal()
	done := make(chan struct{})
	go func() {
		defer close(done)
		req, _ := http.NewRequest("POST", "http://"+r.Addr().String()+"/api/messages", strings.NewReader(`{"content":"x"}`))
		req.Header.Set("Authorization", "Bearer "+token)
		if resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req); err == nil {
			_ = resp.Body.Close()
		}
	}()
	<-arrived
	r.Close()
	select {
	case <-left:
	default:
		t.Error("Close did not wait")
	}
	<-done
	w := httptest.NewRecorder()
	if r.ServeHTTP(w, httptest.NewRequest("GET", "/", nil)); w.Code != 503 {
		t.Errorf("after Close: %d", w.Code)
	}
}

// far is a connection from any address that the test chooses.
type far struct {
	net.Conn
	ip string
}

func (f far) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.ParseIP(f.ip), Port: 1} }

// fars is a listener for such connections.
type fars struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func (l *fars) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}
func (l *fars) Close() error   { l.once.Do(func() { close(l.done) }); return nil }
func (l *fars) Addr() net.Addr { return &net.TCPAddr{} }

// answered reports whether a connection from ip gets an answer.
func (l *fars) answered(t *testing.T, ip string) (bool, func()) {
	t.Helper()
	ours, theirs := net.Pipe()
	l.conns <- far{theirs, ip}
	// A refused connection may be closed before either of these calls.
	if err := ours.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		return false, func() { _ = ours.Close() }
	}
	if _, err := io.WriteString(ours, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		return false, func() { _ = ours.Close() }
	}
	b := make([]byte, len("HTTP/1.1 401"))
	_, err := io.ReadFull(ours, b)
	return err == nil && string(b) == "HTTP/1.1 401", func() { _ = ours.Close() }
}

// TestTCPConnectionsAreBounded: a container that opens as many connections as it can
// does not shut another one out.
func TestTCPConnectionsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // on its clock no connection is idle for long
		l := &fars{conns: make(chan net.Conn), done: make(chan struct{})}
		tcpOn(t, l, nil)
		var closers []func()
		defer func() {
			for _, c := range closers {
				c()
			}
		}()
		count := func(n int, ip func(int) string) (got int) {
			for i := range n {
				ok, c := l.answered(t, ip(i))
				closers = append(closers, c)
				if ok {
					got++
				}
			}
			return got
		}
		if n := count(40, func(int) string { return "172.17.0.2" }); n != 32 {
			t.Errorf("one container got %d connections", n)
		}
		if ok, c := l.answered(t, "172.17.0.3"); !ok {
			t.Error("another container was shut out")
		} else {
			c()
		}
		if n := count(250, func(i int) string { return fmt.Sprintf("172.18.%d.%d", i/32, i%32) }); n < 220 || n > 224 {
			t.Errorf("%d more connections were served", n)
		}
	})
}

// FuzzTCPBytes: whatever bytes arrive, in whatever pieces, no callback is made without
// a token and the listener goes on.
func FuzzTCPBytes(f *testing.F) {
	for _, s := range []string{
		"POST /api/messages HTTP/1.1\r\nHost: x\r\nContent-Length: 16\r\n\r\n{\"content\":\"hi\"}",
		"POST /api/messages HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer 00\r\nContent-Length: 99999999999\r\n\r\n{",
		"POST /api/messages HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n",
		"GET /api/agents HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer a\r\nAuthorization: Bearer b\r\n\r\nGET / HTTP/1.0\r\n\r\n",
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "\x16\x03\x01\x00\x00", "", "\x00\x00\x00\x05{\"op",
	} {
		f.Add([]byte(s))
	}
	l := &fars{conns: make(chan net.Conn), done: make(chan struct{})}
	r := tcpOn(f, l, nil)
	r.Grant(context.Background(), core.Caller{ChannelID: "chan", RunID: "r1"})
	f.Fuzz(func(t *testing.T, in []byte) {
		ours, theirs := net.Pipe()
		l.conns <- far{theirs, "127.0.0.1"} // this address may have the most connections
		gone := make(chan struct{})
		go func() { defer close(gone); _, _ = io.Copy(io.Discard, ours) }()
		_ = ours.SetWriteDeadline(time.Now().Add(10 * time.Second))
		_, _ = ours.Write(in)
		_ = ours.Close()
		<-gone
		if len(r.rec.said) > 0 {
			t.Fatalf("asked: %v", r.rec.said)
		}
	})
}

// BenchmarkCallback times one callback from request to answer, without the app's work
// on it.
func BenchmarkCallback(b *testing.B) {
	r := newTCP(b, &quiet{})
	token := r.Grant(b.Context(), core.Caller{ChannelID: "chan", RunID: "r1"}).Reveal()
	c := &http.Client{Transport: &http.Transport{}}
	defer c.CloseIdleConnections()
	for b.Loop() {
		req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, "http://"+r.Addr().String()+"/api/messages", strings.NewReader(`{"content":"hi"}`))
		if err != nil {
			b.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		resp, err := c.Do(req)
		if err != nil {
			b.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			b.Fatal(resp.Status)
		}
	}
}

// quiet accepts messages and drops them.
type quiet struct{ guestlink.Callbacks }

func (quiet) SendMessage(context.Context, core.Caller, core.ChannelID, string) error { return nil }
