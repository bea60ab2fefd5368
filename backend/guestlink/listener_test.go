package guestlink

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"loop/backend/core"
)

// said notes messages. Its other callbacks are not used.
type said struct {
	Callbacks
	who []core.Caller
}

func (s *said) SendMessage(_ context.Context, from core.Caller, _ core.ChannelID, _ string) error {
	s.who = append(s.who, from)
	return nil
}

// runStates are the runs of a test, with their states.
type runStates map[core.RunID]core.RunState

func (r runStates) Run(_ context.Context, id core.RunID) (core.Run, error) {
	st, ok := r[id]
	if !ok {
		return core.Run{}, core.ErrNotFound
	}
	return core.Run{ID: id, State: st}, nil
}

type tcpWorld struct {
	*Listener
	cb   *said
	runs runStates
}

func newTCPWorld(t *testing.T, home, gateway string) *tcpWorld {
	t.Helper()
	w := &tcpWorld{cb: &said{}, runs: runStates{"r1": core.RunStarting}}
	w.Listener = NewListener(ListenerOptions{Home: home, Callbacks: w.cb, Network: bridge(gateway), Runs: w.runs, Log: slog.New(slog.DiscardHandler)})
	w.here = func(net.IP) bool { return true }
	t.Cleanup(w.Close)
	return w
}

func (w *tcpWorld) enter(t *testing.T, wish Wish) (url, token, notice string, err error) {
	t.Helper()
	a, err := w.Admit(t.Context(), core.Caller{ChannelID: "c1", RunID: "r1"}, wish)
	return a.URL, a.Token.Reveal(), a.Notice, err
}

// overTCP is the wish of a run whose settings say guest_transport tcp.
func overTCP() Wish { return Wish{TCP: true} }

// ownAddress is a loopback address that no other program uses, so a port that was
// closed on it is free again.
func ownAddress() string {
	if runtime.GOOS != "linux" {
		return "127.0.0.1"
	}
	pid := os.Getpid()
	return fmt.Sprintf("127.%d.%d.9", 10+pid%200, pid/200%250)
}

func post(t *testing.T, url, token string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(`{"content":"hi"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

func (w *tcpWorld) base() string { return "http://" + w.server.Addr().String() }

func TestListenerIsOffByDefault(t *testing.T) {
	home := t.TempDir()
	w := newTCPWorld(t, home, "127.0.0.1")
	url, token, notice, err := w.enter(t, Wish{})
	if url+token+notice != "" || err != nil || w.server != nil {
		t.Errorf("%q %q %q %v", url, token, notice, err)
	}
	if _, err := os.Stat(filepath.Join(home, listenerFile)); err == nil {
		t.Error("a key was made")
	}
}

// TestListenerOutlivesLoop: a token works until its run ends, even after a restart of
// Loop. The listener ends when it is switched off and no run needs it.
func TestListenerOutlivesLoop(t *testing.T) {
	home := t.TempDir()
	w := newTCPWorld(t, home, ownAddress())
	url, token, _, err := w.enter(t, overTCP())
	if err != nil || len(token) != 64 || url != fmt.Sprintf("http://host.docker.internal:%d", portOf(w.server.Addr())) {
		t.Fatalf("%q %d %v", url, len(token), err)
	}
	if a, err := w.Admit(t.Context(), core.Caller{ChannelID: "c2", RunID: "over the link"}, Wish{}); err != nil || a != (Access{}) || w.server.Admitted("over the link") {
		t.Errorf("a run that uses the link has a token: %+v %v", a, err)
	}
	if code, body := post(t, w.base()+"/api/messages", token); code != 200 || w.cb.who[0] != (core.Caller{ChannelID: "c1", RunID: "r1"}) {
		t.Fatalf("%d %s %+v", code, body, w.cb.who)
	}
	info, err := os.Stat(filepath.Join(home, listenerFile))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	if b, err := os.ReadFile(filepath.Join(home, listenerFile)); err != nil || strings.Contains(string(b), token) {
		t.Errorf("the token is stored, or %v", err)
	}
	w.Close()

	next := newTCPWorld(t, home, ownAddress())
	next.runs["r1"] = core.RunRunning
	again, same, _, err := next.enter(t, overTCP())
	if err != nil || again != url || same != token {
		t.Fatalf("after a restart: %q %v, same token %v", again, err, same == token)
	}
	if _, _, _, err := next.enter(t, Wish{}); err != nil || next.server == nil {
		t.Fatalf("switched off under a run: %v", err)
	}
	if code, _ := post(t, next.base()+"/api/messages", token); code != 200 {
		t.Errorf("after it was switched off: %d", code)
	}
	next.runs["r1"] = core.RunDone
	if code, _ := post(t, next.base()+"/api/messages", token); code != 401 {
		t.Errorf("after the run's end: %d", code)
	}
	if _, _, _, err := next.enter(t, Wish{}); err != nil || next.server != nil {
		t.Error("the listener stayed")
	}
}

func TestListenerWhereItCannotBe(t *testing.T) {
	w := newTCPWorld(t, t.TempDir(), "203.0.113.1") // no computer has this address
	url, token, notice, err := w.enter(t, Wish{TCP: true, NoNetwork: true})
	if url+token != "" || err != nil || !strings.Contains(notice, "over the link") {
		t.Errorf("without a network: %q %q %v", url, notice, err)
	}
	_, _, _, err = w.enter(t, overTCP())
	if runtime.GOOS == "linux" && (core.AsFailure(err).Code != core.CodeConfig || !strings.Contains(core.AsFailure(err).Remedy, "link")) {
		t.Errorf("an address that cannot be bound: %v", err)
	}
	// The bridge is in a virtual machine, whose host forwards to loopback.
	w.here = func(net.IP) bool { return false }
	wish := overTCP()
	wish.AdvertiseURL = "https://loop.example/in/"
	if url, _, _, err := w.enter(t, wish); err != nil || url != "https://loop.example/in" || !strings.HasPrefix(w.base(), "http://127.0.0.1:") {
		t.Errorf("%q %v", url, err)
	}
	_, _, _, err = w.enter(t, Wish{TCP: true, Rootless: true})
	if core.AsFailure(err).Code != core.CodeConfig {
		t.Errorf("rootless: %v", err)
	}
}

// TestListenerPortTaken: another program has taken the port of the last start.
func TestListenerPortTaken(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	home := t.TempDir()
	if err := writeListener(filepath.Join(home, listenerFile), listenerState{Key: strings.Repeat("a", 64), Port: portOf(ln.Addr())}); err != nil {
		t.Fatal(err)
	}
	w := newTCPWorld(t, home, "127.0.0.1")
	if _, token, _, err := w.enter(t, overTCP()); err != nil || portOf(w.server.Addr()) == portOf(ln.Addr()) || token == "" {
		t.Errorf("%v", err)
	}
	if st, err := readListener(filepath.Join(home, listenerFile)); err != nil || st.Port != portOf(w.server.Addr()) || st.Key != strings.Repeat("a", 64) {
		t.Errorf("%+v %v", st, err)
	}
	// A damaged file is replaced.
	if err := os.WriteFile(filepath.Join(home, listenerFile), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if st, err := readListener(filepath.Join(home, listenerFile)); err != nil || len(st.Key) != 64 || st.Key == strings.Repeat("a", 64) {
		t.Errorf("%+v %v", st, err)
	}
}

// TestListenerForRunsOnThisComputer asks no engine, listens on loopback alone, and serves
// the demo's model to the run that shows its token, as a key or as a bearer's.
func TestListenerForRunsOnThisComputer(t *testing.T) {
	home := t.TempDir()
	model := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, "model %s", r.URL.Path) })
	l := NewListener(ListenerOptions{
		Home: home, Host: "127.0.0.1", DemoModel: model, Callbacks: &said{}, Runs: runStates{"r1": core.RunRunning, "r2": core.RunRunning},
		Log: slog.New(slog.DiscardHandler),
	})
	defer l.Close()
	a, err := l.Admit(t.Context(), core.Caller{ChannelID: "c1", RunID: "r1"}, Wish{TCP: true})
	if err != nil || !strings.HasPrefix(a.URL, "http://127.0.0.1:") || a.Token == "" {
		t.Fatalf("%+v, %v", a, err)
	}
	other, err := l.Admit(t.Context(), core.Caller{ChannelID: "c2", RunID: "r2"}, Wish{TCP: true})
	if err != nil || other.Token == a.Token || other.URL != a.URL {
		t.Fatalf("%+v, %v", other, err)
	}
	for name, tc := range map[string]struct {
		path, header, value string
		code                int
		body                string
	}{
		"key":       {"/runs/r1/model/v1/messages", "X-Api-Key", a.Token.Reveal(), http.StatusOK, "model /v1/messages"},
		"bearer":    {"/runs/r1/model/v1/messages", "Authorization", "Bearer " + a.Token.Reveal(), http.StatusOK, "model /v1/messages"},
		"other run": {"/runs/r1/model/v1/messages", "X-Api-Key", other.Token.Reveal(), http.StatusForbidden, "another run"},
		"no token":  {"/runs/r1/model/v1/messages", "X-Api-Key", core.NoKey, http.StatusUnauthorized, ""},
		"bare":      {"/runs/r1/model/v1/messages", "Authorization", a.Token.Reveal(), http.StatusUnauthorized, ""},
		"as bearer": {"/runs/r1/model/v1/messages", "X-Api-Key", "Bearer " + a.Token.Reveal(), http.StatusUnauthorized, ""},
		"dots":      {"/runs/r1/model/..%2f..%2fx", "X-Api-Key", a.Token.Reveal(), http.StatusBadRequest, "not usable"},
		"callback":  {"/api/messages", "Authorization", "Bearer " + a.Token.Reveal(), http.StatusOK, "ok"},
		"owner":     {"/api/call/System.Snapshot", "Authorization", "Bearer " + a.Token.Reveal(), http.StatusNotFound, ""},
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, a.URL+tc.path, strings.NewReader(`{"content":"hi"}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set(tc.header, tc.value)
		resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode != tc.code || !strings.Contains(string(b), tc.body) {
			t.Errorf("%s: %d %s", name, resp.StatusCode, b)
		}
	}
	if _, err := os.Stat(filepath.Join(home, listenerFile)); err == nil {
		t.Error("it shares its file with the listener for containers")
	}
}
