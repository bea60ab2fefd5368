package guestlink

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"loop/backend/core"
	"loop/backend/wire"
)

// serveModel serves /runs/<run>/model/… with that prefix taken away, to programs
// of that run alone.
func (t *askers) serveModel(w http.ResponseWriter, r *http.Request) {
	m := modelPath.FindStringSubmatch(r.URL.EscapedPath())
	if m == nil || !wire.ValidID(m[1]) {
		modelError(w, http.StatusNotFound, "not_found_error", "no model is served here")
		return
	}
	who, ok := t.find(r)
	if !ok || who.model.handler == nil {
		modelError(w, http.StatusNotFound, "not_found_error", "this program has no model route, or its run has ended")
		return
	}
	if core.RunID(m[1]) != who.route && m[1] != string(who.caller.SpawnID) {
		modelError(w, http.StatusForbidden, "permission_error", "this is the model route of another run")
		return
	}
	defer t.heard(who, m[2], r.Header.Get(sessionHeader))()
	passOn(w, r, m[2], who.model.handler)
}

// Talks hears which conversations ask the model from terminals.
type Talks interface {
	// Asks is called from the goroutine of a request, and done when it is answered.
	Asks(from core.Caller, session core.SessionID) (done func())
}

// sessionHeader is where the agent's CLI says of which session a request is (2.1.332). Any
// program of the terminal may write it.
const sessionHeader = "X-Claude-Code-Session-Id"

func (t *askers) heard(who asker, path, session string) (done func()) {
	if t.talks == nil || who.caller.RunID != "" || who.caller.ChannelID == "" || path != "/v1/messages" || session == "" {
		return func() {}
	}
	return t.talks.Asks(who.caller, core.SessionID(session))
}

// passOn has a model answer what is left of a path, escaped.
func passOn(w http.ResponseWriter, r *http.Request, rest string, model http.Handler) {
	rest = cmp.Or(rest, "/")
	path, err := url.PathUnescape(rest)
	if err != nil || slices.Contains(strings.Split(strings.ReplaceAll(path, `\`, "/"), "/"), "..") {
		modelError(w, http.StatusBadRequest, "invalid_request_error", "the path is not usable")
		return
	}
	r2 := r.Clone(r.Context())
	r2.URL.Path, r2.URL.RawPath = path, rest
	r2.RequestURI = ""
	r2.Body = http.MaxBytesReader(w, r.Body, wire.MaxModelBody)
	model.ServeHTTP(w, r2)
}

// modelPath cuts an escaped path into the run and what follows “model”.
var modelPath = regexp.MustCompile(`(?s)^/runs/([^/]+)/model(/.*)?$`)

func refusing(text string) route {
	return route{handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		modelError(w, http.StatusBadGateway, "api_error", text)
	})}
}

// modelError answers in the Messages API's own shape, which the CLI shows.
func modelError(w http.ResponseWriter, status int, typ, text string) {
	writeJSON(w, status, map[string]any{"type": "error", "error": map[string]string{"type": typ, "message": text}})
}

// proxy reaches a base URL from the host.
func (t *askers) proxy(up core.ModelUpstream) route {
	target, err := url.Parse(up.BaseURL)
	if err != nil || target.Host == "" || (target.Scheme != "http" && target.Scheme != "https") {
		return refusing("anthropic_base_url is not an http or https address")
	}
	transport := &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: dialTimeout}).DialContext,
		TLSHandshakeTimeout:    dialTimeout,
		IdleConnTimeout:        90 * time.Second, // as http.DefaultTransport
		ForceAttemptHTTP2:      true,
		DisableCompression:     true, // pass the model's own encoding through
		MaxResponseHeaderBytes: wire.MaxHeader,
	}
	if core.ThisComputer(target.Hostname()) {
		transport.Proxy = nil
		transport.DialContext = t.dialHost
	}
	p := &httputil.ReverseProxy{
		Rewrite: func(pr *httputil.ProxyRequest) {
			pr.SetURL(target)
			addKey(pr.Out.Header, pr.In.URL.Path, up)
		},
		Transport:     transport,
		FlushInterval: -1,
		ErrorLog:      slog.NewLogLogger(t.log.Handler(), slog.LevelDebug),
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			if r.Context().Err() != nil {
				return // the guest has left
			}
			if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
				modelError(w, http.StatusRequestEntityTooLarge, "request_too_large", "the request is larger than Loop passes on")
				return
			}
			t.log.Warn("model", "host", target.Host, "err", err)
			modelError(w, http.StatusBadGateway, "api_error", fmt.Sprintf("Loop could not reach the model at %s: %v", target.Host, err))
		},
	}
	return route{handler: p, close: transport.CloseIdleConnections}
}

// keyed are the calls that get a credential added. With others, of the same
// address, a token could make itself a lasting key.
var keyed = []string{"/v1/messages", "/v1/messages/count_tokens", "/v1/models"}

// addKey puts the upstream's credential in the place of core.NoKey. A request that
// shows another, a login of the person's own say, goes out with that.
func addKey(h http.Header, path string, up core.ModelUpstream) {
	bearer, key := h.Values("Authorization"), h.Values("X-Api-Key")
	said := append(slices.Clone(bearer), key...)
	if len(said) != 1 || strings.TrimPrefix(said[0], "Bearer ") != core.NoKey || !slices.Contains(keyed, path) {
		return
	}
	switch {
	case up.OAuthToken != "":
		h.Del("X-Api-Key")
		h.Set("Authorization", "Bearer "+up.OAuthToken.Reveal())
	case up.APIKey != "":
		h.Del("Authorization")
		h.Set("X-Api-Key", up.APIKey.Reveal())
	}
}

// dialTimeout bounds connecting to a model.
const dialTimeout = 10 * time.Second

// dialHost tries the host's loopback addresses, then the engine's bridge, where
// a server that containers were meant to reach may listen.
func (t *askers) dialHost(ctx context.Context, network, addr string) (net.Conn, error) {
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	hosts := []string{"127.0.0.1", "::1"}
	if t.gateway != "" {
		hosts = append(hosts, t.gateway)
	}
	var first error
	d := net.Dialer{Timeout: dialTimeout}
	for _, h := range hosts {
		conn, err := d.DialContext(ctx, network, net.JoinHostPort(h, port))
		if err == nil {
			return conn, nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}
