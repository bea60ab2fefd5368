package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/coder/websocket"

	"loop/backend/bind"
	"loop/backend/core"
)

// Limits of one request. The longest call is a pasted file of 10 MiB, in base64;
// more than this is a mistake.
const (
	maxCallBytes     = 16 << 20
	headerTimeout    = 10 * time.Second
	idleTimeout      = 2 * time.Minute // of a connection between requests; pages ask more often or come back
	shutdownTimeout  = 3 * time.Second
	eventWriteBudget = 15 * time.Second // a page that takes longer is let go and resynchronises
)

// EventSource is where pages get their events, from now on or, with a launch, after
// event since of it. Follow is called on a request's goroutine. The channel is closed
// when ctx or the app ends.
type EventSource interface {
	Follow(ctx context.Context, launch string, since uint64) <-chan []core.Event
}

// Options assemble a Server.
type Options struct {
	Addr     string // "127.0.0.1:0" by default
	Token    string // 256 bits in hex, made at every launch
	Calls    Calls
	Events   EventSource
	Frontend fs.FS // the built page; nil serves a hint on how to build it
	Log      *slog.Logger

	Terminals  Terminals
	Screens    Screens
	Recordings Recordings
	Browsers   Browsers
	Frames     Frames
	Exports    Exports
	Approvals  bind.GateService // nil: there is no gate
}

// Server is the one listener of the app. New binds it; Serve runs until Close.
type Server struct {
	opts  Options
	ln    net.Listener
	http  *http.Server
	door  *frontDoor
	ctx   context.Context
	stop  context.CancelFunc
	conns sync.WaitGroup

	clients      clients
	refused      refusals
	termBudget   time.Duration // termWriteBudget; shorter in a test
	termGoodbye  time.Duration // termGoodbye; longer in a test
	termFarewell time.Duration // typedFarewell; longer in a test
}

// New binds the listener, so that the address is known before anything is
// served. A taken port is a Failure that names the setting.
func New(opts Options) (*Server, error) {
	ln, err := listen(cmp.Or(opts.Addr, "127.0.0.1:0"))
	if err != nil {
		return nil, err
	}
	s := &Server{opts: opts, ln: ln, door: newFrontDoor(ln.Addr().String(), opts.Token),
		termBudget: termWriteBudget, termGoodbye: termGoodbye, termFarewell: typedFarewell}
	s.ctx, s.stop = context.WithCancel(context.Background())
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/health", s.health)
	mux.HandleFunc("POST /api/call/{method}", s.owner(s.serveCall))
	mux.HandleFunc("GET /api/ws", s.owner(s.serveEvents))
	mux.HandleFunc("GET /api/ws/terminal", s.owner(s.serveTerminal))
	mux.HandleFunc("GET /api/ws/browser", s.owner(s.serveBrowser))
	mux.HandleFunc("POST /api/browser/files", s.owner(s.takeBrowserFile))
	mux.HandleFunc("GET /api/gate/approvals", s.owner(s.listApprovals))
	mux.HandleFunc("POST /api/gate/approvals/{id}", s.owner(s.answerApproval))
	mux.HandleFunc("GET /api/recordings/{name}", s.owner(s.serveRecording))
	mux.HandleFunc("GET /api/frames/{id}/{picture}", s.owner(s.serveFrame))
	mux.HandleFunc("GET /api/runs/{id}/export", s.owner(s.serveExport))
	mux.HandleFunc("/api/", s.owner(func(w http.ResponseWriter, _ *http.Request) {
		writeFailure(w, core.Fail(core.CodeNotFound, nil, "There is no such route.", "Look at docs/protocol.md for the routes of this version."))
	}))
	mux.Handle("/", page(opts.Frontend))
	s.http = &http.Server{
		Handler:           s.guard(mux),
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    64 << 10,
		BaseContext:       func(net.Listener) context.Context { return s.ctx },
		ConnContext:       func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connKey{}, c) },
		ErrorLog:          slog.NewLogLogger(opts.Log.Handler(), slog.LevelDebug),
	}
	return s, nil
}

// listen binds the address, or says why that cannot be. The failure is no
// conflict: that word is for another Loop on the same folder, which goes away.
func listen(address string) (net.Listener, error) {
	addr, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, core.Fail(core.CodeInvalid, err, fmt.Sprintf("The address %q is not of the form host:port.", address),
			"Use for example 127.0.0.1:8222; a port is a number from 1 to 65535, or 0 for any free one.")
	}
	if !addr.IP.IsLoopback() {
		return nil, core.Fail(core.CodeInvalid, nil, fmt.Sprintf("Loop only listens on this machine, and %q is not a loopback address.", address),
			"Use 127.0.0.1 and reach it from elsewhere through SSH port forwarding.")
	}
	ln, err := net.ListenTCP("tcp", addr)
	switch {
	case err == nil:
		return ln, nil
	case errors.Is(err, fs.ErrPermission):
		return nil, core.Fail(core.CodeConfig, err, fmt.Sprintf("Loop may not listen on %s.", addr),
			"Ports below 1024 are the system's: choose a higher one in api_addr or --addr.")
	}
	return nil, core.Fail(core.CodeConfig, err, fmt.Sprintf("Loop could not listen on %s.", addr),
		"Another program may use that port: choose another one in api_addr or --addr.")
}

// Addr is the bound host:port.
func (s *Server) Addr() string { return s.ln.Addr().String() }

// URL is the page's address without the token.
func (s *Server) URL() string { return "http://" + s.Addr() + "/" }

// Serve blocks until Close.
func (s *Server) Serve() error {
	if err := s.http.Serve(s.ln); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve api: %w", err)
	}
	return nil
}

// Close ends every connection and waits for its handlers.
func (s *Server) Close() error {
	s.stop()
	ctx, cancel := context.WithTimeout(context.Background(), shutdownTimeout)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if err != nil {
		err = s.http.Close()
	}
	_ = s.ln.Close() // a server that never served does not own its listener
	s.conns.Wait()
	return err
}

// guard is the front door: nothing is routed before Host and Origin are known.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.door.admit(r) {
			s.refused.log(s.opts.Log, r)
			http.Error(w, "This address belongs to Loop on this machine and answers only its own window.", http.StatusForbidden)
			return
		}
		allowCORS(w, r)
		if r.Method == http.MethodOptions {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// owner requires the token.
func (s *Server) owner(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !s.door.authenticated(r) {
			writeJSON(w, http.StatusUnauthorized, core.Fail("unauthorized", nil, "This page does not hold the token of the running Loop.",
				"Open the address that Loop printed when it started; each start makes a new one."))
			return
		}
		if !slices.Contains(webviewOrigins, r.Header.Get("Origin")) { // the window's own page is no client
			s.clients.count(1)
			defer s.clients.count(-1)
		}
		next(w, r)
	}
}

// accept makes a WebSocket of a request, with a bound on what a client may say at
// once; nil when the client asks for something else. The caller closes it.
func (s *Server) accept(w http.ResponseWriter, r *http.Request, most int64) *websocket.Conn {
	// Host and Origin were checked exactly by the front door, so the library's
	// own same-host rule would only refuse the webview's origin.
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{
		Subprotocols:       []string{subprotocol},
		InsecureSkipVerify: true,
		CompressionMode:    websocket.CompressionDisabled,
	})
	if err != nil {
		s.opts.Log.Debug("socket refused", "path", r.URL.Path, "err", err)
		return nil
	}
	conn.SetReadLimit(most)
	return conn
}

// clients counts the requests and sockets of others than the window.
type clients struct {
	mu   sync.Mutex
	now  int
	left time.Time
}

// count adds more, which is 1 or -1.
func (c *clients) count(more int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now += more; more < 0 {
		c.left = time.Now()
	}
}

// Clients says how many requests and sockets of browsers and command lines are
// open, and when the last one ended; the window's own do not count.
func (s *Server) Clients() (connected int, left time.Time) {
	s.clients.mu.Lock()
	defer s.clients.mu.Unlock()
	return s.clients.now, s.clients.left
}

func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]bool{"ok": true})
}
