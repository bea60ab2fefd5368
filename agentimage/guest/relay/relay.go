//go:build linux

package relay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"strings"
	"sync"
	"time"

	"loop/backend/wire"
)

// Session is the part of a link the relay needs.
type Session interface {
	Open() (net.Conn, error)
}

// Spawns says which spawn's processes hold a socket; it may be asked from any
// goroutine. An error that is a *wire.Error is for the caller to read.
type Spawns interface {
	Holder(inode uint64) (spawn string, err error)
}

// Options of a Relay; zero values take the protocol's.
type Options struct {
	Spawns       Spawns
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
	find  lookup // set by Listen

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
	ln, err := net.Listen("tcp4", addr)
	if err != nil {
		return nil, err
	}
	stop, err := r.serve(ln)
	if err != nil {
		_ = ln.Close()
	}
	return stop, err
}

func (r *Relay) serve(ln net.Listener) (func(), error) {
	own, err := netip.ParseAddrPort(ln.Addr().String())
	if err != nil {
		return nil, fmt.Errorf("read the relay's address: %w", err)
	}
	r.find = lookupFor(own)
	srv := &http.Server{
		Handler: r,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, &caller{conn: c})
		},
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

type (
	connKey     struct{} // *caller
	exchangeKey struct{}
)

// caller is one connection from inside the container. Its requests come one after
// another, so that nothing guards it.
type caller struct {
	conn  net.Conn
	spawn string // empty until it is known
}

// exchange is what a request's stream on the link begins with.
type exchange struct {
	spawn string    // who asks
	until time.Time // how long it waits for a link
}

// asker is the spawn that asks. It is looked up with the first request of a
// connection, while its program waits for the answer, and then kept: whoever gets
// the connection later got it from that spawn and asks in its name.
func (r *Relay) asker(ctx context.Context) (string, error) {
	c, ok := ctx.Value(connKey{}).(*caller)
	if !ok {
		return "", errors.New("the request has no connection")
	}
	spawn := c.spawn
	if spawn == "" {
		inode, err := peerInode(c.conn, r.find)
		if err != nil {
			return "", err
		}
		if spawn, err = r.opts.Spawns.Holder(inode); err != nil {
			return "", err
		}
	}
	if err := intact(c.conn); err != nil {
		return "", err
	}
	c.spawn = spawn
	return spawn, nil
}

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
	spawn, err := r.asker(req.Context())
	if err != nil {
		r.unknown(w, k, err)
		return
	}
	hold := r.opts.ModelHold
	if k == callback {
		hold = r.opts.CallbackHold
	}
	ctx := context.WithValue(req.Context(), exchangeKey{}, exchange{spawn: spawn, until: time.Now().Add(hold)})
	r.proxy.ServeHTTP(w, req.WithContext(ctx))
}

// unknown refuses a request of which it is not known who asks.
func (r *Relay) unknown(w http.ResponseWriter, k kind, err error) {
	r.opts.Log.Info("relay does not know who asks", "err", err)
	text := "Loop cannot tell which program asks: "
	if e, ok := errors.AsType[*wire.Error](err); ok {
		writeError(w, k, http.StatusForbidden, text+e.Text)
		return
	}
	if errors.Is(err, errNoPeer) {
		writeError(w, k, http.StatusForbidden, text+err.Error())
		return
	}
	writeError(w, k, http.StatusInternalServerError, text+"the container's connections could not be read")
}

var errNoLink = errors.New("the link to Loop is down")

// dial opens a stream on the current link, waiting for one within the hold. The
// request has not been sent yet, so trying again on the next link is safe.
func (r *Relay) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	x, ok := ctx.Value(exchangeKey{}).(exchange)
	if !ok {
		return nil, errors.New("the request has no asker")
	}
	timer := time.NewTimer(time.Until(x.until))
	defer timer.Stop()
	for {
		r.mu.Lock()
		s, changed := r.session, r.changed
		r.mu.Unlock()
		if s != nil {
			conn, err := open(s, x.spawn)
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

// open starts one exchange of a spawn. What it asks with cannot say who it is:
// that is in the stream's first frame, which only loop init writes.
func open(s Session, spawn string) (net.Conn, error) {
	conn, err := s.Open()
	if err != nil {
		return nil, err
	}
	if err := greet(conn, spawn); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

func greet(conn net.Conn, spawn string) error {
	if err := conn.SetDeadline(time.Now().Add(wire.RequestTimeout)); err != nil {
		return err
	}
	if err := wire.WriteFrame(conn, wire.Request{Op: wire.OpHTTP, ID: spawn}); err != nil {
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
		switch status {
		case http.StatusNotFound:
			typ = "not_found_error"
		case http.StatusForbidden:
			typ = "permission_error"
		case http.StatusInternalServerError:
			typ = "api_error"
		}
		body = map[string]any{"type": "error", "error": map[string]string{"type": typ, "message": text}}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the caller may have left
}
