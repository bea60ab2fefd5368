package egress

import (
	"bufio"
	"context"
	"errors"
	"html"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"strconv"
	"sync"
	"time"

	"loop/backend/core"
)

const (
	headerTimeout = 30 * time.Second
	idleTimeout   = 5 * time.Minute // of a connection without a request
	maxHeader     = 64 << 10        // bytes
)

// Serve is an HTTP proxy on one connection: CONNECT, and requests for http:// addresses.
// It returns when the connection has ended, and closes it. When ctx ends, so does the
// connection.
//
// A redirect is an answer like any other: where it leads is a request of its own, which is
// checked as well.
func (p *Proxy) Serve(ctx context.Context, conn net.Conn) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	one := &oneConn{conn: &watched{Conn: conn, closed: make(chan struct{})}}
	stop := context.AfterFunc(ctx, func() { _ = one.conn.Close() })
	defer stop()
	forward := p.forwarder()
	defer forward.CloseIdleConnections()
	var tunnels sync.WaitGroup
	srv := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			tunnels.Add(1)
			defer tunnels.Done()
			p.serve(ctx, w, r, forward)
		}),
		ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		BaseContext: func(net.Listener) context.Context { return ctx },
		ErrorLog:    slog.NewLogLogger(p.o.Log.Handler(), slog.LevelDebug),
	}
	_ = srv.Serve(one) // it ends with the connection
	cancel()
	tunnels.Wait()
	_ = conn.Close()
}

func (p *Proxy) serve(ctx context.Context, w http.ResponseWriter, r *http.Request, forward *http.Transport) {
	switch {
	case r.Method == http.MethodConnect:
		p.tunnel(ctx, w, r)
	case r.URL.Scheme == "http" && r.URL.Host != "":
		(&httputil.ReverseProxy{
			Rewrite:       func(pr *httputil.ProxyRequest) { pr.Out.Host = pr.In.URL.Host },
			Transport:     forward,
			FlushInterval: -1, // a page's events come when they come
			ErrorLog:      slog.NewLogLogger(p.o.Log.Handler(), slog.LevelDebug),
			ErrorHandler:  func(w http.ResponseWriter, _ *http.Request, err error) { refuse(w, err) },
		}).ServeHTTP(w, r)
	default:
		refuse(w, core.Fail(core.CodeInvalid, nil, "This is a proxy for addresses with http and https.",
			"Set it as HTTP proxy, and use whole addresses."))
	}
}

// forwarder sends plain requests on. It adds nothing to them.
func (p *Proxy) forwarder() *http.Transport {
	return &http.Transport{
		DialContext: func(ctx context.Context, _, addr string) (net.Conn, error) {
			host, port, err := splitPort(addr, 0)
			if err != nil {
				return nil, err
			}
			return p.Dial(ctx, host, port)
		},
		DisableCompression:     true,
		MaxIdleConnsPerHost:    4,
		IdleConnTimeout:        time.Minute,
		MaxResponseHeaderBytes: 256 << 10,
	}
}

// tunnel connects the two ends of a CONNECT. It goes by the context of the whole connection:
// a request's ends when its client says no more, which a tunnel's may.
func (p *Proxy) tunnel(ctx context.Context, w http.ResponseWriter, r *http.Request) {
	host, port, err := splitPort(r.Host, 443)
	if err != nil {
		refuse(w, err)
		return
	}
	there, err := p.Dial(ctx, host, port)
	if err != nil {
		refuse(w, err)
		return
	}
	defer func() { _ = there.Close() }()
	here, early, err := http.NewResponseController(w).Hijack()
	if err != nil {
		refuse(w, err)
		return
	}
	defer func() { _ = here.Close() }()
	_ = here.SetDeadline(time.Time{})
	if _, err := io.WriteString(here, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	stop := context.AfterFunc(ctx, func() { _, _ = here.Close(), there.Close() })
	defer stop()
	join(here, early.Reader, there)
}

// join copies both ways until both have ended. One that has said all it has to say may
// still listen.
func join(here net.Conn, early *bufio.Reader, there net.Conn) {
	var back sync.WaitGroup
	back.Go(func() {
		_, err := io.Copy(here, there)
		finish(here, err)
	})
	_, err := io.Copy(there, early)
	finish(there, err)
	back.Wait()
}

// finish says that no more comes, or ends a connection whose other end is broken.
func finish(c net.Conn, err error) {
	if h, ok := c.(interface{ CloseWrite() error }); ok && err == nil {
		if h.CloseWrite() == nil {
			return
		}
	}
	_ = c.Close()
}

// splitPort reads host:port; 0 as standard means that there must be a port.
func splitPort(addr string, standard uint16) (string, uint16, error) {
	u := url.URL{Host: addr}
	host := u.Hostname()
	if a, err := netip.ParseAddr(host); err == nil && a.Is6() {
		host = "[" + host + "]"
	}
	if u.Port() == "" && standard != 0 {
		return host, standard, nil
	}
	n, err := strconv.ParseUint(u.Port(), 10, 16)
	if err != nil {
		return "", 0, core.Fail(core.CodeInvalid, err, "The address "+strconv.Quote(cut(addr))+" has no port.", "Write it as host:port.")
	}
	return host, uint16(n), nil
}

// refuse says why nothing came of a request, as a page.
func refuse(w http.ResponseWriter, err error) {
	status := http.StatusBadGateway
	f, ok := errors.AsType[*core.Failure](err)
	if !ok {
		f = core.Fail(core.CodeInternal, err, "The site broke the connection off.", "Try again.")
	}
	switch f.Code {
	case core.CodeForbidden:
		status = http.StatusForbidden
	case core.CodeInvalid:
		status = http.StatusBadRequest
	case core.CodeTooMany:
		status = http.StatusServiceUnavailable
	case core.CodeTimeout:
		status = http.StatusGatewayTimeout
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Loop-Refused", string(f.Code))
	w.WriteHeader(status)
	_, _ = io.WriteString(w, "<!doctype html><meta charset=utf-8><title>"+core.NotConnected+"</title>"+
		"<style>body{font:16px system-ui;margin:4em auto;max-width:36em;color-scheme:light dark}</style><h1>"+core.NotConnected+"</h1><p>"+
		html.EscapeString(f.Cause)+"</p><p>"+html.EscapeString(f.Remedy)+"</p>\n")
}

// oneConn is a listener with one connection. After it, Accept waits until that is closed.
type oneConn struct {
	conn *watched
	gave bool // Accept is called by one goroutine
}

func (l *oneConn) Accept() (net.Conn, error) {
	if !l.gave {
		l.gave = true
		return l.conn, nil
	}
	<-l.conn.closed
	return nil, net.ErrClosed
}

func (l *oneConn) Close() error   { return nil }
func (l *oneConn) Addr() net.Addr { return l.conn.LocalAddr() }

// watched says when it is closed.
type watched struct {
	net.Conn
	once   sync.Once
	closed chan struct{}
}

func (w *watched) Close() error {
	w.once.Do(func() { close(w.closed) })
	return w.Conn.Close()
}

func (w *watched) CloseWrite() error {
	if h, ok := w.Conn.(interface{ CloseWrite() error }); ok {
		return h.CloseWrite()
	}
	return w.Close()
}
