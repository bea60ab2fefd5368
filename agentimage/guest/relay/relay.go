//go:build linux

package relay

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"strings"
	"sync"
	"time"

	"loop/backend/wire"
)

// Session is the part of a link the relay needs.
type Session interface {
	Open() (net.Conn, error)
}

// Options of a Relay; zero values take the protocol's.
type Options struct {
	ModelHold    time.Duration
	CallbackHold time.Duration
	MaxRequests  int // at a time; more are answered 503 at once
	Log          *slog.Logger
}

// maxRequests leaves half of a link's streams to the host.
const maxRequests = wire.MaxStreams / 2

// Relay is an http.Handler. Attach and Detach may be called from any goroutine.
type Relay struct {
	opts  Options
	proxy *httputil.ReverseProxy
	slots chan struct{}

	mu      sync.Mutex
	session Session
	changed chan struct{} // closed when session changes
}

// New makes a relay without a link.
func New(opts Options) *Relay {
	if opts.ModelHold == 0 {
		opts.ModelHold = wire.ModelHold
	}
	if opts.CallbackHold == 0 {
		opts.CallbackHold = wire.CallbackHold
	}
	if opts.MaxRequests == 0 {
		opts.MaxRequests = maxRequests
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	r := &Relay{opts: opts, slots: make(chan struct{}, opts.MaxRequests), changed: make(chan struct{})}
	r.proxy = &httputil.ReverseProxy{
		Rewrite: func(pr *httputil.ProxyRequest) {
			pr.Out.URL.Scheme, pr.Out.URL.Host = "http", "link"
		},
		// One stream per request: a kept connection would belong to a link that
		// may be gone, and a stream costs one round trip.
		Transport:     &http.Transport{DialContext: r.dial, DisableKeepAlives: true, DisableCompression: true, MaxResponseHeaderBytes: wire.MaxHeader},
		FlushInterval: -1, // server-sent events pass as they come
		ErrorHandler:  r.failed,
		ErrorLog:      slog.NewLogLogger(opts.Log.Handler(), slog.LevelDebug),
	}
	return r
}

// Attach makes s the link that requests take.
func (r *Relay) Attach(s Session) { r.set(s) }

// Detach forgets s if it is still the current link.
func (r *Relay) Detach(s Session) {
	r.mu.Lock()
	mine := r.session == s
	r.mu.Unlock()
	if mine {
		r.set(nil)
	}
}

func (r *Relay) set(s Session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.session = s
	close(r.changed)
	r.changed = make(chan struct{})
}

// Listen serves on addr; the returned function ends it and waits.
func (r *Relay) Listen(addr string) (func(), error) {
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	srv := &http.Server{
		Handler:           r,
		ReadHeaderTimeout: wire.RequestTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    wire.MaxHeader,
		ErrorLog:          slog.NewLogLogger(r.opts.Log.Handler(), slog.LevelDebug),
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := srv.Serve(limit(ln, maxConns)); !errors.Is(err, http.ErrServerClosed) {
			r.opts.Log.Error("relay ended", "err", err)
		}
	}()
	return func() { _ = srv.Close(); <-done }, nil
}

// kind is what a path leads to.
type kind int

const (
	unknown kind = iota
	callback
	model
)

func classify(path string) kind {
	switch {
	case strings.HasPrefix(path, "/api/"):
		return callback
	case strings.HasPrefix(path, "/runs/"):
		return model
	}
	return unknown
}

type holdKey struct{}

func (r *Relay) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	k := classify(req.URL.Path)
	if k == unknown {
		writeError(w, k, http.StatusNotFound, "nothing is served here")
		return
	}
	select {
	case r.slots <- struct{}{}:
		defer func() { <-r.slots }()
	default:
		writeError(w, k, http.StatusServiceUnavailable, "too many requests from this container at a time")
		return
	}
	hold := r.opts.ModelHold
	if k == callback {
		hold = r.opts.CallbackHold
	}
	ctx := context.WithValue(req.Context(), holdKey{}, time.Now().Add(hold))
	r.proxy.ServeHTTP(w, req.WithContext(ctx))
}

var errNoLink = errors.New("the link to Loop is down")

// dial opens a stream on the current link, waiting for one within the hold. The
// request has not been sent yet, so trying again on the next link is safe.
func (r *Relay) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	until, ok := ctx.Value(holdKey{}).(time.Time)
	if !ok {
		until = time.Now().Add(r.opts.CallbackHold)
	}
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	for {
		r.mu.Lock()
		s, changed := r.session, r.changed
		r.mu.Unlock()
		if s != nil {
			conn, err := open(s)
			if err == nil {
				return conn, nil
			}
			if e, ok := errors.AsType[*wire.Error](err); ok {
				return nil, e
			}
			// Not asked again before something about the link changes.
			r.opts.Log.Debug("relay stream", "err", err)
		}
		select {
		case <-changed:
		case <-timer.C:
			return nil, errNoLink
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// open starts one exchange.
func open(s Session) (net.Conn, error) {
	conn, err := s.Open()
	if err != nil {
		return nil, err
	}
	if err := greet(conn); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

func greet(conn net.Conn) error {
	if err := conn.SetDeadline(time.Now().Add(wire.RequestTimeout)); err != nil {
		return err
	}
	if err := wire.WriteFrame(conn, wire.Request{Op: wire.OpHTTP}); err != nil {
		return err
	}
	if _, err := wire.ReadReply(conn); err != nil {
		return err
	}
	return conn.SetDeadline(time.Time{})
}

// failed answers for a host that could not.
func (r *Relay) failed(w http.ResponseWriter, req *http.Request, err error) {
	if req.Context().Err() != nil {
		return // the caller has left
	}
	text := "the link to Loop broke during the request"
	if errors.Is(err, errNoLink) {
		text = errNoLink.Error()
	} else if e, ok := errors.AsType[*wire.Error](err); ok {
		text = e.Text
	}
	writeError(w, classify(req.URL.Path), http.StatusServiceUnavailable, text)
}

// writeError answers a model request in the Messages API's own words, so that
// the CLI knows to try again, and anything else as plain JSON.
func writeError(w http.ResponseWriter, k kind, status int, text string) {
	var body any = map[string]string{"error": text}
	if k == model {
		typ := "overloaded_error"
		if status == http.StatusNotFound {
			typ = "not_found_error"
		}
		body = map[string]any{"type": "error", "error": map[string]string{"type": typ, "message": text}}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the caller may have left
}
