package guestlink

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"loop/backend/core"
	"loop/backend/wire"
)

// Bounds of the TCP listener. A guest keeps at most a few connections; what a
// hostile one opens besides is closed at once and takes nothing from others.
const (
	maxTCPConns     = 256
	maxTCPPeerConns = 32
	tcpIdle         = 30 * time.Second
	tcpRead         = 30 * time.Second
	// tcpAnswer bounds a callback from its header to the end of its answer; the
	// longest, a new worktree, runs git in a container of its own.
	tcpAnswer = 2 * time.Minute
)

// TCPOptions of a TCP listener.
type TCPOptions struct {
	// Key makes the tokens: the same key and run give the same token, so that a
	// container that outlives Loop is known again at the next start.
	Key       core.Secret
	Callbacks Callbacks
	// Live says whether a run may still ask; it is asked with each request. An
	// error refuses the request and keeps the token.
	Live func(ctx context.Context, run core.RunID) (bool, error)
	Log  *slog.Logger
}

// TCP serves guest callbacks on a port instead of links, to callers that show
// the token of their container. Models are not reached through it, and nothing
// of the owner's is. Its methods may be called from any goroutine.
type TCP struct {
	o      TCPOptions
	ln     *peerListener
	http   *http.Server
	ctx    context.Context
	cancel context.CancelFunc
	served sync.WaitGroup

	mu       sync.Mutex
	closed   bool
	grants   map[core.RunID]grant
	handlers sync.WaitGroup
}

type grant struct {
	sum  [sha256.Size]byte // of the token
	from core.Caller
}

// ServeTCP serves on a bound listener, which it takes over, until Close.
func ServeTCP(ln net.Listener, o TCPOptions) *TCP {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	t := &TCP{o: o, grants: map[core.RunID]grant{}, ln: &peerListener{Listener: ln, peers: map[string]int{}}}
	t.ctx, t.cancel = context.WithCancel(context.Background())
	t.http = &http.Server{
		Handler:           contain(o.Log, t),
		ReadHeaderTimeout: wire.RequestTimeout,
		ReadTimeout:       tcpRead,
		WriteTimeout:      tcpAnswer,
		IdleTimeout:       tcpIdle,
		MaxHeaderBytes:    wire.MaxHeader,
		BaseContext:       func(net.Listener) context.Context { return t.ctx },
		ErrorLog:          slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug),
	}
	t.served.Go(func() {
		if err := t.http.Serve(t.ln); !errors.Is(err, http.ErrServerClosed) {
			o.Log.Error("guest listener ended", "err", err)
		}
	})
	return t
}

// Addr is the bound address.
func (t *TCP) Addr() net.Addr { return t.ln.Addr() }

// Stop frees the port and ends every connection and what was asked for on it,
// without waiting for that: a callback may need what the caller of Stop holds.
func (t *TCP) Stop() error {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	t.cancel()
	err := t.http.Close()
	t.served.Wait()
	return err
}

// Close stops and waits for every callback under way.
func (t *TCP) Close() error {
	err := t.Stop()
	t.handlers.Wait()
	return err
}

// Grant lets a container's programs call until its run has ended, and returns
// their token: 32 bytes in hex. Granting a run again gives the same token; the
// container may become known only then. A caller without a run gets none, an empty
// secret: tokens are told apart by runs, and all such callers would be one.
func (t *TCP) Grant(ctx context.Context, from core.Caller) core.Secret {
	if from.RunID == "" {
		return ""
	}
	t.sweep(ctx)
	mac := hmac.New(sha256.New, []byte(t.o.Key.Reveal()))
	_, _ = mac.Write([]byte("guest over tcp\x00" + string(from.RunID)))
	token := hex.EncodeToString(mac.Sum(nil))
	t.mu.Lock()
	defer t.mu.Unlock()
	if old, ok := t.grants[from.RunID]; ok && from.ContainerID == "" {
		from.ContainerID = old.from.ContainerID
	}
	t.grants[from.RunID] = grant{sum: sha256.Sum256([]byte(token)), from: from}
	return core.Secret(token)
}

// Admitted reports whether a run may call.
func (t *TCP) Admitted(run core.RunID) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, ok := t.grants[run]
	return ok
}

// Idle reports whether no run is left that may call.
func (t *TCP) Idle(ctx context.Context) bool {
	t.sweep(ctx)
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.grants) == 0
}

// sweep forgets runs that have ended, so that the table holds little more than
// what is under way.
func (t *TCP) sweep(ctx context.Context) {
	t.mu.Lock()
	runs := make([]core.RunID, 0, len(t.grants))
	for id := range t.grants {
		runs = append(runs, id)
	}
	t.mu.Unlock()
	for _, id := range runs {
		if live, err := t.o.Live(ctx, id); err == nil && !live {
			t.forget(id)
		}
	}
}

func (t *TCP) forget(run core.RunID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.grants, run)
}

// caller finds whose token a request shows. Every grant is compared, each in
// the same time, so that how long it takes tells nothing.
func (t *TCP) caller(r *http.Request) (from core.Caller, ok bool) {
	said := r.Header.Values("Authorization")
	if len(said) != 1 {
		return from, false
	}
	token, ok := strings.CutPrefix(said[0], "Bearer ")
	if !ok {
		return from, false
	}
	sum := sha256.Sum256([]byte(token))
	ok = false
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, g := range t.grants {
		if subtle.ConstantTimeCompare(g.sum[:], sum[:]) == 1 {
			from, ok = g.from, true
		}
	}
	return from, ok
}

// enter counts a request; false says that the listener is closing.
func (t *TCP) enter() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closed {
		t.handlers.Add(1)
	}
	return !t.closed
}

// ServeHTTP answers one request. Nobody without a token is told even which
// routes there are.
func (t *TCP) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !t.enter() {
		writeError(w, http.StatusServiceUnavailable, "Loop is closing")
		return
	}
	defer t.handlers.Done()
	if len(r.Header.Values("Origin")) > 0 {
		writeError(w, http.StatusForbidden, "this address does not answer web pages")
		return
	}
	from, ok := t.caller(r)
	if !ok {
		unauthorized(w)
		return
	}
	live, err := t.o.Live(r.Context(), from.RunID)
	if err != nil {
		t.o.Log.Warn("guest request not judged", "run", string(from.RunID), "err", err)
		writeError(w, http.StatusServiceUnavailable, "nothing is taken at the moment")
		return
	}
	if !live {
		t.forget(from.RunID)
		unauthorized(w)
		return
	}
	callbackHandler{from: from, callbacks: t.o.Callbacks, log: t.o.Log}.ServeHTTP(w, r)
}

func unauthorized(w http.ResponseWriter) {
	w.Header().Set("WWW-Authenticate", "Bearer")
	writeError(w, http.StatusUnauthorized, "the token is not one of a container that runs")
}

// peerListener closes connections beyond its bounds as they come, which keeps
// Accept free for others. A loopback address stands for many containers, those
// of an engine in a virtual machine, and has the whole bound.
type peerListener struct {
	net.Listener

	mu    sync.Mutex
	all   int
	peers map[string]int
}

func (l *peerListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		peer := peerOf(c)
		if l.take(peer) {
			return &peerConn{Conn: c, release: sync.OnceFunc(func() { l.give(peer) })}, nil
		}
		_ = c.Close()
	}
}

// peerOf is who is counted; empty is nobody in particular.
func peerOf(c net.Conn) string {
	a, ok := c.RemoteAddr().(*net.TCPAddr)
	if !ok || a.IP.IsLoopback() {
		return ""
	}
	return a.IP.String()
}

func (l *peerListener) take(peer string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all >= maxTCPConns || peer != "" && l.peers[peer] >= maxTCPPeerConns {
		return false
	}
	l.all++
	if peer != "" {
		l.peers[peer]++
	}
	return true
}

func (l *peerListener) give(peer string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all--
	if l.peers[peer]--; l.peers[peer] <= 0 {
		delete(l.peers, peer)
	}
}

type peerConn struct {
	net.Conn
	release func()
}

func (c *peerConn) Close() error {
	c.release()
	return c.Conn.Close()
}
