package daemon

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"loop/backend/api"
	"loop/backend/bind"
	"loop/backend/bus"
	"loop/backend/config"
	"loop/backend/core"
	"loop/backend/guestlink"
	"loop/backend/instance"
	"loop/backend/wire"
)

// said notes who sends messages. Its other callbacks are not used.
type said struct {
	guestlink.Callbacks
	who []core.Caller
}

func (s *said) SendMessage(_ context.Context, from core.Caller, _ core.ChannelID, _ string) error {
	s.who = append(s.who, from)
	return nil
}

// startingRuns finds every run and says that it may call Loop.
type startingRuns struct{}

func (startingRuns) Run(_ context.Context, id core.RunID) (core.Run, error) {
	return core.Run{ID: id, State: core.RunStarting}, nil
}

// loopbackBridge stands for the engine's network, but on this machine alone.
type loopbackBridge struct{}

func (loopbackBridge) GatewayIP(context.Context) (string, error) { return "127.0.0.1", nil }

func newGuestListener(t *testing.T, home string) (*guestlink.Listener, *said) {
	t.Helper()
	cb := &said{}
	l := guestlink.NewListener(guestlink.ListenerOptions{
		Home: home, Callbacks: cb, Network: loopbackBridge{}, Runs: startingRuns{}, Log: slog.New(slog.DiscardHandler),
	})
	t.Cleanup(l.Close)
	return l, cb
}

// hereOf turns the address for containers into one that works on this machine.
func hereOf(t *testing.T, advertised string) string {
	t.Helper()
	u, err := url.Parse(advertised)
	if err != nil {
		t.Fatal(err)
	}
	return "http://127.0.0.1:" + u.Port()
}

func overTCP() config.Config {
	cfg := keyed()
	cfg.GuestTransport = config.TransportTCP
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

// TestNeitherTokenOpensTheOther tries every call that the owner may make. A guest's
// token opens none of them, neither on the guests' listener nor on the owner's. The
// owner's token opens nothing on the guests' listener.
func TestNeitherTokenOpensTheOther(t *testing.T) {
	d := Daemon{bound: bound{channels: &bind.Channels{}, runs: &bind.Runs{}, settings: &bind.Settings{}, system: &bind.System{}}}
	calls, err := api.Tabulate(d.services())
	if err != nil {
		t.Fatal(err)
	}
	if len(calls) < 40 {
		t.Fatalf("only %d calls", len(calls))
	}
	events := bus.New()
	pages, owner := api.NewBatches(events), instance.NewToken()
	s, err := api.New(api.Options{Token: owner, Calls: calls, Events: pages, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve() }()
	defer func() {
		_ = s.Close()
		<-served
		events.Close()
		pages.Wait()
	}()
	l, cb := newGuestListener(t, t.TempDir())
	access, err := l.Admit(t.Context(), core.Caller{ChannelID: "c1", RunID: "r1"}, guestlink.Wish{TCP: true})
	if err != nil {
		t.Fatal(err)
	}
	guest, base := access.Token.Reveal(), hereOf(t, access.URL)
	var paths []string
	for name := range calls {
		paths = append(paths, "/api/call/"+name)
	}
	paths = append(paths, "/api/ws", "/api/health", "/", "/index.html")
	slices.Sort(paths)
	for _, path := range paths {
		if code, body := post(t, base+path, guest); code != 404 || !strings.Contains(body, "nothing is served here") {
			t.Errorf("guest on its own listener, %s: %d %s", path, code, body)
		}
		if code, _ := post(t, base+path, owner); code != 401 {
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
	if code, _ := post(t, base+"/api/messages", owner); code != 401 || len(cb.who) > 0 {
		t.Errorf("the owner's token on a guest route: %d", code)
	}
}

// TestATokenIsNotInAResolvedContainer: the spec for the engine holds neither the token
// nor the address.
func TestATokenIsNotInAResolvedContainer(t *testing.T) {
	r := newSpecRig(t)
	if _, _, launch, err := r.resolve(t.Context(), core.Run{ID: "r1"}, r.channel); err != nil || launch.APIURL != "" {
		t.Errorf("without the setting: %q %v", launch.APIURL, err)
	}
	r.tcp, _ = newGuestListener(t, r.home)
	r.snap.Config = overTCP()
	spec, why, launch, err := r.resolve(t.Context(), core.Run{ID: "r1"}, r.channel)
	if err != nil || !strings.HasPrefix(launch.APIURL, "http://host.docker.internal:") {
		t.Fatalf("%q %v", launch.APIURL, err)
	}
	i := slices.IndexFunc(launch.Env, func(e core.EnvVar) bool { return e.Name == wire.TokenEnv })
	if i < 0 || len(launch.Env[i].Value) != 64 {
		t.Fatalf("%+v", launch.Env)
	}
	token := launch.Env[i].Value
	for _, v := range []any{spec, why} {
		if b, err := json.Marshal(v); err != nil || strings.Contains(string(b), token) {
			t.Errorf("%T holds the token, or %v", v, err)
		}
	}
	if code, _ := post(t, hereOf(t, launch.APIURL)+"/api/messages", token); code != 200 {
		t.Errorf("%d", code)
	}
}
