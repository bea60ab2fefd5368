package api

import (
	"crypto/sha256"
	"crypto/subtle"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Origins the window's own webview sends, by platform: WebKit uses the wails
// scheme, WebView2 plain http on a reserved name.
var webviewOrigins = []string{"wails://wails", "wails://wails.localhost", "http://wails.localhost"}

// subprotocol is the WebSocket protocol the server answers; the token travels
// beside it because browsers cannot set headers on a WebSocket.
const (
	subprotocol      = "loop"
	tokenSubprotocol = "loop.token."
)

// frontDoor refuses what does not come from the window, the owner's browser or
// the CLI. DNS rebinding fails on Host, other pages fail on Origin, and other
// local users fail on the token.
type frontDoor struct {
	hosts     map[string]bool
	origins   map[string]bool
	tokenHash [32]byte
}

func newFrontDoor(addr, token string) *frontDoor {
	d := &frontDoor{hosts: map[string]bool{}, origins: map[string]bool{}, tokenHash: sha256.Sum256([]byte(token))}
	port := addr[strings.LastIndexByte(addr, ':')+1:]
	for _, h := range []string{addr, "127.0.0.1:" + port, "localhost:" + port} {
		d.hosts[h] = true
		d.origins["http://"+h] = true
	}
	for _, o := range webviewOrigins {
		d.origins[o] = true
	}
	return d
}

// admit checks Host and Origin. A request without Origin is no cross-site
// request of a browser (CLI, navigation) and still needs the token.
func (d *frontDoor) admit(r *http.Request) bool {
	origins := r.Header.Values("Origin")
	return d.hosts[strings.ToLower(r.Host)] && (len(origins) == 0 || len(origins) == 1 && d.origins[origins[0]])
}

// authenticated looks for the token in the Authorization header or, for a
// WebSocket, among the offered subprotocols. It is never read from the query:
// addresses end up in logs and histories.
func (d *frontDoor) authenticated(r *http.Request) bool {
	if t, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return d.matches(t)
	}
	for _, line := range r.Header.Values("Sec-WebSocket-Protocol") {
		for p := range strings.SplitSeq(line, ",") {
			if t, ok := strings.CutPrefix(strings.TrimSpace(p), tokenSubprotocol); ok {
				return d.matches(t)
			}
		}
	}
	return false
}

func (d *frontDoor) matches(token string) bool {
	sum := sha256.Sum256([]byte(token))
	return subtle.ConstantTimeCompare(sum[:], d.tokenHash[:]) == 1
}

// allowCORS answers the webview, whose page has another origin than the
// listener. Only listed origins get here.
func allowCORS(w http.ResponseWriter, r *http.Request) {
	if o := r.Header.Get("Origin"); o != "" {
		h := w.Header()
		h.Set("Access-Control-Allow-Origin", o)
		h.Set("Vary", "Origin")
		h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type")
		h.Set("Access-Control-Allow-Methods", "GET, POST")
	}
}

// Bounds on what strangers can write into the log: any page that a browser
// shows may send requests, as many as it likes, with names of its own.
const (
	refusalEvery = 10 * time.Second // at most one line
	refusalName  = 100              // bytes of a Host or an Origin
)

// refusals writes into the log that requests were refused.
type refusals struct {
	mu     sync.Mutex
	last   time.Time
	unsaid int // since the last line
}

func (l *refusals) log(log *slog.Logger, r *http.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if now.Sub(l.last) < refusalEvery {
		l.unsaid++
		return
	}
	log.Warn("request refused", "host", clip(r.Host), "origin", clip(r.Header.Get("Origin")), "more_before", l.unsaid)
	l.last, l.unsaid = now, 0
}

func clip(name string) string { return name[:min(len(name), refusalName)] }
