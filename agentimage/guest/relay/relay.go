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
	Close() error
}

// Spawns says which spawn's processes hold a socket; it may be asked from any
// goroutine. An error that is a *wire.Error is for the caller to read.
type Spawns interface {
	Holder(inode uint64) (spawn string, err error)
}

const (
	// maxRequests at a time leave half of a link's streams to the host; more are
	// answered 503 at once.
	maxRequests = wire.MaxStreams / 2
	// maxConns bounds the connections from inside the container: each takes a
	// descriptor and some 20 KiB of loop init, whether or not it ever asks for
	// anything. It is several times what maxRequests can use.
	maxConns = 256
	// idleTimeout ends connections that ask for nothing more. Clients keep theirs
	// for some seconds and drop them first.
	idleTimeout = 2 * time.Minute
)

// Relay is an http.Handler. Attach and Detach may be called from any goroutine.
type Relay struct {
	spawns                  Spawns
	log                     *slog.Logger
	modelHold, callbackHold time.Duration // how long a request waits for a link
	proxy                   *httputil.ReverseProxy
	slots                   chan struct{} // one for each request at a time

	mu      sync.Mutex
	session Session
	changed chan struct{} // closed when session changes
}

// New makes a relay without a link.
func New(spawns Spawns, log *slog.Logger) *Relay {
	r := &Relay{spawns: spawns, log: log, modelHold: wire.ModelHold, callbackHold: wire.CallbackHold,
		slots: make(chan struct{}, maxRequests), changed: make(chan struct{})}
	r.proxy = &httputil.ReverseProxy{
		Rewrite: func(pr *httputil.ProxyRequest) { pr.Out.URL.Scheme, pr.Out.URL.Host = "http", "link" },
		// One stream per request: a kept connection would belong to a link that
		// may be gone, and a stream costs one round trip.
		Transport: &http.Transport{
			DialContext: r.dial, DisableKeepAlives: true, DisableCompression: true, MaxResponseHeaderBytes: wire.MaxHeader,
		},
		FlushInterval: -1, // server-sent events pass as they come
		ErrorHandler:  r.failed,
		ErrorLog:      slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	return r
}

// Attach makes s the link that requests take, and returns the one before.
func (r *Relay) Attach(s Session) (old Session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.set(s)
}

// Detach forgets s if it is still the current link.
func (r *Relay) Detach(s Session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.session == s {
		r.set(nil)
	}
}

// Attached reports whether there is a link.
func (r *Relay) Attached() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.session != nil
}

// set is called with the lock held.
func (r *Relay) set(s Session) (old Session) {
	old, r.session = r.session, s
	close(r.changed)
	r.changed = make(chan struct{})
	return old
}

// Serve serves the connections of ln; the returned function ends it and waits.
func (r *Relay) Serve(ln net.Listener) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	srv := &http.Server{
		Handler:   r,
		ConnState: atMost(ctx, maxConns),
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, &caller{conn: c})
		},
		ReadHeaderTimeout: wire.RequestTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    wire.MaxHeader,
		ErrorLog:          slog.NewLogLogger(r.log.Handler(), slog.LevelDebug),
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := srv.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			r.log.Error("relay ended", "err", err)
		}
	}()
	return func() { cancel(); _ = srv.Close(); <-done }
}

// atMost lets a server have n connections at a time, until ctx ends: a server calls
// it with a new one before it accepts the next, which waits in the kernel's queue.
func atMost(ctx context.Context, n int) func(net.Conn, http.ConnState) {
	slots := make(chan struct{}, n)
	return func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			select {
			case slots <- struct{}{}:
			case <-ctx.Done():
			}
		case http.StateClosed, http.StateHijacked:
			select {
			case <-slots:
			default: // it came in after ctx had ended
			}
		}
	}
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

// exchange is the beginning of a request's stream on the link.
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
		inode, err := peerInode(c.conn)
		if err != nil {
			return "", err
		}
		if spawn, err = r.spawns.Holder(inode); err != nil {
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
	hold := r.callbackHold
	switch {
	case ofModel(req):
		hold = r.modelHold
	case !strings.HasPrefix(req.URL.Path, "/api/"):
		refuse(w, req, http.StatusNotFound, "nothing is served here")
		return
	}
	select {
	case r.slots <- struct{}{}:
		defer func() { <-r.slots }()
	default:
		refuse(w, req, http.StatusServiceUnavailable, "too many requests from this container at a time")
		return
	}
	spawn, err := r.asker(req.Context())
	if err != nil {
		r.unknown(w, req, err)
		return
	}
	ctx := context.WithValue(req.Context(), exchangeKey{}, exchange{spawn: spawn, until: time.Now().Add(hold)})
	r.proxy.ServeHTTP(w, req.WithContext(ctx))
}

// unknown refuses a request whose spawn is not known.
func (r *Relay) unknown(w http.ResponseWriter, req *http.Request, err error) {
	r.log.Info("relay does not know who asks", "err", err)
	status, why := http.StatusInternalServerError, "the container's connections could not be read"
	if e, ok := errors.AsType[*wire.Error](err); ok {
		status, why = http.StatusForbidden, e.Text
	} else if errors.Is(err, errNoPeer) {
		status, why = http.StatusForbidden, err.Error()
	}
	refuse(w, req, status, "Loop cannot tell which program asks: "+why)
}

var errNoLink = errors.New("the link to Loop is down")

// dial opens a stream on the current link, waiting for one within the hold. The
// request has not been sent yet, so trying again on the next link is safe.
func (r *Relay) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	x, ok := ctx.Value(exchangeKey{}).(exchange)
	if !ok {
		return nil, errors.New("the request has no asker")
	}
	late := time.After(time.Until(x.until))
	for {
		r.mu.Lock()
		s, changed := r.session, r.changed
		r.mu.Unlock()
		if s != nil {
			conn, err := open(s, wire.OpHTTP, x.spawn)
			if err == nil {
				return conn, nil
			}
			if e, ok := errors.AsType[*wire.Error](err); ok {
				return nil, e
			}
			// Not asked again before something about the link changes.
			r.log.Debug("relay stream", "err", err)
		}
		select {
		case <-changed:
		case <-late:
			return nil, errNoLink
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// open starts one exchange or connection of a spawn. The request cannot say who asks: the name is in
// the stream's first frame, which only loop init writes.
func open(s Session, op wire.Op, spawn string) (net.Conn, error) {
	conn, err := s.Open()
	if err != nil {
		return nil, err
	}
	err = conn.SetDeadline(time.Now().Add(wire.RequestTimeout))
	if err == nil {
		err = wire.WriteFrame(conn, wire.Request{Op: op, ID: spawn})
	}
	if err == nil {
		_, err = wire.ReadReply(conn)
	}
	if err == nil {
		err = conn.SetDeadline(time.Time{})
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
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
	refuse(w, req, http.StatusServiceUnavailable, text)
}

// ofModel reports whether a request is to a run's model.
func ofModel(req *http.Request) bool { return strings.HasPrefix(req.URL.Path, "/runs/") }

// refuse answers a model request in the Messages API's own words, so that the CLI
// knows to try again, and anything else as plain JSON.
func refuse(w http.ResponseWriter, req *http.Request, status int, text string) {
	var body any = map[string]string{"error": text}
	if ofModel(req) {
		typ := "overloaded_error"
		switch status {
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
