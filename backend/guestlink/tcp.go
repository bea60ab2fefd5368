package guestlink

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
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
	Browsers  Browsers // nil: none
	// DemoModel answers model calls of those whose run is a demo; nil: none are answered.
	DemoModel http.Handler
	// Live says whether a run may still ask; it is asked with each request. An
	// error refuses the request and keeps the token.
	Live func(ctx context.Context, run core.RunID) (bool, error)
	Log  *slog.Logger
}

// TCP serves guest callbacks on a port instead of links, to callers that show
// the token of their run. No model but the demo's is reached through it, and nothing
// of the owner's is. Its methods may be called from any goroutine.
type TCP struct {
	o        TCPOptions
	addr     net.Addr
	http     *http.Server
	ctx      context.Context
	cancel   context.CancelFunc
	served   sync.WaitGroup
	handlers sync.RWMutex // every callback reads it

	mu     sync.Mutex
	grants map[core.RunID]grant
	conns  map[net.Conn]string // those that count, and who is at the other end
}

type grant struct {
	sum  [sha256.Size]byte // of the token
	from core.Caller
}

// ServeTCP serves on a bound listener, which it takes over, until Close.
func ServeTCP(ln net.Listener, o TCPOptions) *TCP {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	t := &TCP{o: o, addr: ln.Addr(), grants: map[core.RunID]grant{}, conns: map[net.Conn]string{}}
	t.ctx, t.cancel = context.WithCancel(context.Background())
	t.http = &http.Server{
		Handler:           contain(o.Log, t),
		ConnState:         t.bound,
		ReadHeaderTimeout: wire.RequestTimeout,
		ReadTimeout:       tcpRead,
		WriteTimeout:      tcpAnswer,
		IdleTimeout:       tcpIdle,
		MaxHeaderBytes:    wire.MaxHeader,
		BaseContext:       func(net.Listener) context.Context { return t.ctx },
		ErrorLog:          slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug),
	}
	t.served.Go(func() {
		if err := t.http.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			o.Log.Error("guest listener ended", "err", err)
		}
	})
	return t
}

// Addr is the bound address.
func (t *TCP) Addr() net.Addr { return t.addr }

// Stop frees the port, breaks every connection and cancels the callbacks, without
// waiting for them: a callback may need a lock that the caller of Stop holds.
func (t *TCP) Stop() {
	t.cancel()
	_ = t.http.Close() // it is gone then, whatever it says
	t.served.Wait()
}

// Close stops and waits for every callback under way.
func (t *TCP) Close() {
	t.Stop()
	t.handlers.Lock() // one that comes later sees that ctx has ended
	defer t.handlers.Unlock()
}

// Grant lets a container's programs call until its run has ended, and returns
// their token: 32 bytes in hex. Granting a run again gives the same token. A caller
// without a run gets none, an empty secret: tokens are told apart by runs, and all
// such callers would be one.
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
	t.grants[from.RunID] = grant{sum: sha256.Sum256([]byte(token)), from: from}
	return core.Secret(token)
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
	runs := slices.Collect(maps.Keys(t.grants))
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
	said, key := r.Header.Values("Authorization"), r.Header.Values("X-Api-Key")
	if len(said)+len(key) != 1 {
		return from, false
	}
	token, bearer := strings.CutPrefix(slices.Concat(said, key)[0], "Bearer ")
	if bearer != (len(said) == 1) { // a model's key comes bare
		return from, false
	}
	sum := sha256.Sum256([]byte(token))
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, g := range t.grants {
		if subtle.ConstantTimeCompare(g.sum[:], sum[:]) == 1 {
			from, ok = g.from, true
		}
	}
	return from, ok
}

// ServeHTTP answers one request. A caller without a token does not even learn which
// routes there are.
func (t *TCP) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	t.handlers.RLock()
	defer t.handlers.RUnlock()
	if t.ctx.Err() != nil {
		writeError(w, http.StatusServiceUnavailable, "Loop is closing")
		return
	}
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
	if m := modelPath.FindStringSubmatch(r.URL.EscapedPath()); m != nil {
		t.serveModel(w, r, from, m)
		return
	}
	callbackHandler{from: from, callbacks: t.o.Callbacks, browsers: t.o.Browsers, log: t.o.Log}.ServeHTTP(w, r)
}

// serveModel answers a model call of the caller's own run, for as long as that takes.
func (t *TCP) serveModel(w http.ResponseWriter, r *http.Request, from core.Caller, m []string) {
	switch {
	case t.o.DemoModel == nil:
		modelError(w, http.StatusNotFound, "not_found_error", "no model is served here")
		return
	case core.RunID(m[1]) != from.RunID:
		modelError(w, http.StatusForbidden, "permission_error", "this is the model route of another run")
		return
	}
	c := http.NewResponseController(w)
	if err := errors.Join(c.SetReadDeadline(time.Time{}), c.SetWriteDeadline(time.Time{})); err != nil {
		t.o.Log.Warn("model call has the deadlines of a callback", "err", err)
	}
	passOn(w, r, m[2], t.o.DemoModel)
}

func unauthorized(w http.ResponseWriter) {
	w.Header().Set("WWW-Authenticate", "Bearer")
	writeError(w, http.StatusUnauthorized, "the token is not one of a container that runs")
}

// bound closes connections beyond the bounds as they come, which keeps the listener
// free for others. A loopback address stands for many containers, those of an engine
// in a virtual machine, and has the whole bound.
func (t *TCP) bound(c net.Conn, state http.ConnState) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch state {
	case http.StateNew:
		peer, same := "", 0
		if a, ok := c.RemoteAddr().(*net.TCPAddr); ok && !a.IP.IsLoopback() {
			peer = a.IP.String()
		}
		for _, other := range t.conns {
			if peer != "" && other == peer {
				same++
			}
		}
		if len(t.conns) >= maxTCPConns || same >= maxTCPPeerConns {
			_ = c.Close()
			return
		}
		t.conns[c] = peer
	case http.StateClosed, http.StateHijacked:
		delete(t.conns, c)
	}
}
