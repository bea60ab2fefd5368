package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"loop/backend/api"
	"loop/backend/bind"
	"loop/backend/bus"
	"loop/backend/callbacks"
	"loop/backend/config"
	"loop/backend/core"
	"loop/backend/guestlink"
)

// said is a guestlink.Callbacks of which only messages are used.
type said struct {
	guestlink.Callbacks
	who []core.Caller
}

func (s *said) SendMessage(_ context.Context, from core.Caller, _ core.ChannelID, _ string) error {
	s.who = append(s.who, from)
	return nil
}

type tcpWorld struct {
	*guestTCP
	cb   *said
	runs map[core.RunID]core.RunState
}

func newTCPWorld(t *testing.T, home, gateway string) *tcpWorld {
	t.Helper()
	w := &tcpWorld{cb: &said{}, runs: map[core.RunID]core.RunState{"r1": core.RunStarting}}
	w.guestTCP = &guestTCP{
		home: home, callbacks: w.cb, gateway: func(context.Context) (string, error) { return gateway, nil },
		here: func(net.IP) bool { return true }, log: slog.New(slog.DiscardHandler),
		run: func(_ context.Context, id core.RunID) (core.Run, error) {
			st, ok := w.runs[id]
			if !ok {
				return core.Run{}, core.ErrNotFound
			}
			return core.Run{ID: id, State: st}, nil
		},
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

func (w *tcpWorld) enter(t *testing.T, cfg config.Config, network string) (url, token, notice string, err error) {
	t.Helper()
	url, env, notice, err := w.admit(t.Context(), cfg, core.EngineStatus{}, core.Caller{ChannelID: "c1", RunID: "r1"}, network)
	for _, e := range env {
		switch e.Name {
		case apiURLEnv:
			if e.Value != url || e.Secret {
				t.Errorf("%+v", e)
			}
		case apiTokenEnv:
			if token = e.Value; !e.Secret {
				t.Error("the token is not marked as a secret")
			}
		default:
			t.Errorf("%s is set", e.Name)
		}
	}
	return url, token, notice, err
}

// ownAddress is one of this computer's where no other program listens or calls
// from: a port of it that was let go of is free.
func ownAddress() string {
	if hostOS != "linux" {
		return "127.0.0.1"
	}
	pid := os.Getpid()
	return fmt.Sprintf("127.%d.%d.9", 10+pid%200, pid/200%250)
}

func overTCP() config.Config {
	cfg := keyed()
	cfg.GuestTransport = transportTCP
	return cfg
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

func TestGuestTCPIsOffByDefault(t *testing.T) {
	home := t.TempDir()
	w := newTCPWorld(t, home, "127.0.0.1")
	url, token, notice, err := w.enter(t, keyed(), "bridge")
	if url+token+notice != "" || err != nil || w.server != nil {
		t.Errorf("%q %q %q %v", url, token, notice, err)
	}
	if _, err := os.Stat(filepath.Join(home, guestTCPFile)); err == nil {
		t.Error("a key was made")
	}
	if _, _, launch, err := newSpecRig(t).resolve(t.Context(), core.Run{ID: "r1"}, core.Channel{ID: "c", Kind: core.KindDemo, Dir: realDir(t)}); err != nil || launch.APIURL != "" {
		t.Errorf("%q %v", launch.APIURL, err)
	}
}

// TestGuestTCPOutlivesLoop: a token works until the run ends, also at the next
// start, and the listener goes when it is switched off and nobody needs it.
func TestGuestTCPOutlivesLoop(t *testing.T) {
	home := t.TempDir()
	w := newTCPWorld(t, home, ownAddress())
	url, token, _, err := w.enter(t, overTCP(), "bridge")
	if err != nil || len(token) != 64 || url != fmt.Sprintf("http://host.docker.internal:%d", portOf(w.server.Addr())) {
		t.Fatalf("%q %d %v", url, len(token), err)
	}
	w.attend(t.Context(), core.Caller{ChannelID: "c1", RunID: "r1", ContainerID: "box"})
	w.attend(t.Context(), core.Caller{ChannelID: "c2", RunID: "over the link", ContainerID: "other"})
	if w.server.Admitted("over the link") {
		t.Error("a run that uses the link has a token")
	}
	if code, body := post(t, w.base()+"/api/messages", token); code != 200 || w.cb.who[0] != (core.Caller{ChannelID: "c1", RunID: "r1", ContainerID: "box"}) {
		t.Fatalf("%d %s %+v", code, body, w.cb.who)
	}
	info, err := os.Stat(filepath.Join(home, guestTCPFile))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	if b, err := os.ReadFile(filepath.Join(home, guestTCPFile)); err != nil || strings.Contains(string(b), token) {
		t.Errorf("the token is stored, or %v", err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}

	next := newTCPWorld(t, home, ownAddress())
	next.runs["r1"] = core.RunRunning
	again, same, _, err := next.enter(t, overTCP(), "bridge")
	if err != nil || again != url || same != token {
		t.Fatalf("after a restart: %q %v, same token %v", again, err, same == token)
	}
	if _, _, _, err := next.enter(t, keyed(), "bridge"); err != nil || next.server == nil {
		t.Fatalf("switched off under a run: %v", err)
	}
	if code, _ := post(t, next.base()+"/api/messages", token); code != 200 {
		t.Errorf("after it was switched off: %d", code)
	}
	next.runs["r1"] = core.RunDone
	if code, _ := post(t, next.base()+"/api/messages", token); code != 401 {
		t.Errorf("after the run's end: %d", code)
	}
	if _, _, _, err := next.enter(t, keyed(), "bridge"); err != nil || next.server != nil {
		t.Error("the listener stayed")
	}
}

func TestGuestTCPWhereItCannotBe(t *testing.T) {
	w := newTCPWorld(t, t.TempDir(), "203.0.113.1") // no address of anybody's
	url, token, notice, err := w.enter(t, overTCP(), "none")
	if url+token != "" || err != nil || !strings.Contains(notice, "over the link") {
		t.Errorf("without a network: %q %q %v", url, notice, err)
	}
	_, _, _, err = w.enter(t, overTCP(), "bridge")
	if hostOS == "linux" && (core.AsFailure(err).Code != core.CodeConfig || !strings.Contains(core.AsFailure(err).Remedy, "link")) {
		t.Errorf("an address that cannot be bound: %v", err)
	}
	// A bridge that is in a virtual machine: its host forwards to loopback.
	w.here = func(net.IP) bool { return false }
	cfg := overTCP()
	cfg.APIAdvertiseURL = "https://loop.example/in/"
	if url, _, _, err := w.enter(t, cfg, "bridge"); err != nil || url != "https://loop.example/in" || !strings.HasPrefix(w.base(), "http://127.0.0.1:") {
		t.Errorf("%q %v", url, err)
	}
	_, _, _, err = w.admit(t.Context(), overTCP(), core.EngineStatus{Rootless: true}, core.Caller{RunID: "r1"}, "bridge")
	if core.AsFailure(err).Code != core.CodeConfig {
		t.Errorf("rootless: %v", err)
	}
}

// TestGuestTCPPortTaken: another program has the port of the last start.
func TestGuestTCPPortTaken(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	home := t.TempDir()
	if err := writeGuestTCP(home, guestTCPState{Key: strings.Repeat("a", 64), Port: portOf(ln.Addr())}); err != nil {
		t.Fatal(err)
	}
	w := newTCPWorld(t, home, "127.0.0.1")
	if _, token, _, err := w.enter(t, overTCP(), "bridge"); err != nil || portOf(w.server.Addr()) == portOf(ln.Addr()) || token == "" {
		t.Errorf("%v", err)
	}
	if st, err := readGuestTCP(home); err != nil || st.Port != portOf(w.server.Addr()) || st.Key != strings.Repeat("a", 64) {
		t.Errorf("%+v %v", st, err)
	}
	// A file that is damaged is replaced.
	if err := os.WriteFile(filepath.Join(home, guestTCPFile), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if st, err := readGuestTCP(home); err != nil || len(st.Key) != 64 || st.Key == strings.Repeat("a", 64) {
		t.Errorf("%+v %v", st, err)
	}
}

// TestNeitherTokenOpensTheOther goes through everything the owner may call: a
// guest reaches none of it on its own listener, nor with its token on the
// owner's; and the owner's token is nothing on the guests'.
func TestNeitherTokenOpensTheOther(t *testing.T) {
	d := Daemon{bound: bound{channels: &bind.Channels{}, runs: &bind.Runs{}, settings: &bind.Settings{}, system: &bind.System{}}}
	calls, err := api.Tabulate(d.services())
	if err != nil {
		t.Fatal(err)
	}
	if len(calls) < 40 {
		t.Fatalf("only %d calls", len(calls))
	}
	p := &pages{Bus: bus.New(nil)}
	owner := newToken()
	s, err := api.New(api.Options{Token: owner, Calls: calls, Events: p, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve() }()
	defer func() {
		_ = s.Close()
		<-served
		p.Close()
		p.wg.Wait()
	}()
	w := newTCPWorld(t, t.TempDir(), "127.0.0.1")
	_, guest, _, err := w.enter(t, overTCP(), "bridge")
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for name := range calls {
		paths = append(paths, "/api/call/"+name)
	}
	paths = append(paths, "/api/ws", "/api/health", "/", "/index.html")
	slices.Sort(paths)
	for _, path := range paths {
		if code, body := post(t, w.base()+path, guest); code != 404 || !strings.Contains(body, "nothing is served here") {
			t.Errorf("guest on its own listener, %s: %d %s", path, code, body)
		}
		if code, _ := post(t, w.base()+path, owner); code != 401 {
			t.Errorf("owner on the guests' listener, %s: %d", path, code)
		}
		if strings.HasPrefix(path, "/api/call/") || path == "/api/ws" {
			if code, _ := post(t, strings.TrimSuffix(s.URL(), "/")+path, guest); code != 401 && code != 405 {
				t.Errorf("guest on the owner's listener, %s: %d", path, code)
			}
		}
	}
	if code, _ := post(t, strings.TrimSuffix(s.URL(), "/")+"/api/messages", guest); code != 401 {
		t.Errorf("a guest route on the owner's listener: %d", code)
	}
	if code, _ := post(t, w.base()+"/api/messages", owner); code != 401 || len(w.cb.who) > 0 {
		t.Errorf("the owner's token on a guest route: %d", code)
	}
}

// TestATokenIsNotInAResolvedContainer: what the engine is told holds neither
// token nor address.
func TestATokenIsNotInAResolvedContainer(t *testing.T) {
	r := newSpecRig(t)
	w := newTCPWorld(t, r.home, "127.0.0.1")
	r.tcp = w.guestTCP
	r.snap.Config = overTCP()
	spec, why, launch, err := r.resolve(t.Context(), core.Run{ID: "r1"}, r.channel)
	if err != nil || !strings.HasPrefix(launch.APIURL, "http://host.docker.internal:") {
		t.Fatalf("%q %v", launch.APIURL, err)
	}
	i := slices.IndexFunc(launch.Env, func(e core.EnvVar) bool { return e.Name == apiTokenEnv })
	if i < 0 || len(launch.Env[i].Value) != 64 {
		t.Fatalf("%+v", launch.Env)
	}
	token := launch.Env[i].Value
	for _, v := range []any{spec, why} {
		if b, err := json.Marshal(v); err != nil || strings.Contains(string(b), token) {
			t.Errorf("%T holds the token, or %v", v, err)
		}
	}
	if code, _ := post(t, w.base()+"/api/messages", token); code != 200 {
		t.Errorf("%d", code)
	}
}

var _ callbacks.Channels = guestChannels{}
