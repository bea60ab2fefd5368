package egress

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"

	"loop/backend/core"
)

// rig is a proxy for clients that come over connections, and a site behind it at a public
// address.
type rig struct {
	proxy  *Proxy
	site   http.Handler
	client *http.Client
	addr   string // of a listener whose connections the proxy serves
}

func newRig(t *testing.T, secure bool, o Options) *rig {
	t.Helper()
	r := &rig{site: http.NotFoundHandler()}
	h := http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) { r.site.ServeHTTP(w, q) })
	site := httptest.NewUnstartedServer(h)
	if secure {
		site.StartTLS()
	} else {
		site.Start()
	}
	t.Cleanup(site.Close)
	if o.Lookup == nil {
		o.Lookup = func(_ context.Context, host string) ([]netip.Addr, error) {
			switch host {
			case "site.example.":
				return []netip.Addr{public}, nil
			case "router.example.":
				return []netip.Addr{netip.MustParseAddr("192.168.0.1")}, nil
			}
			return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
		}
	}
	o.Dial = func(ctx context.Context, a netip.AddrPort) (net.Conn, error) {
		if a.Addr() != public {
			t.Errorf("dialed %s", a)
		}
		return (&net.Dialer{}).DialContext(ctx, "tcp", site.Listener.Addr().String())
	}
	o.Own = func() ([]netip.Addr, error) { return nil, nil }
	r.proxy = New(o)

	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r.addr = ln.Addr().String()
	ctx, cancel := context.WithCancel(t.Context())
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			serving.Go(func() { r.proxy.Serve(ctx, c) })
		}
	})
	tr := &http.Transport{Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: r.addr})}
	if secure {
		tr.TLSClientConfig = &tls.Config{InsecureSkipVerify: true}
	}
	r.client = &http.Client{Transport: tr, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	t.Cleanup(func() {
		tr.CloseIdleConnections()
		cancel()
		_ = ln.Close()
		serving.Wait()
	})
	return r
}

func (r *rig) get(t *testing.T, at string) (int, string, http.Header) {
	t.Helper()
	res, err := r.client.Get(at)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(b), res.Header
}

func TestPlainRequests(t *testing.T) {
	r := newRig(t, false, Options{})
	r.site = http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		for _, h := range []string{"Proxy-Authorization", "Proxy-Connection", "X-Forwarded-For", "Forwarded", "Via"} {
			if q.Header.Get(h) != "" {
				t.Errorf("%s reached the site", h)
			}
		}
		if q.URL.Path == "/away" {
			http.Redirect(w, q, "http://router.example/", http.StatusFound)
			return
		}
		_, _ = fmt.Fprintf(w, "%s %s %s", q.Method, q.Host, q.URL)
	})
	if status, body, _ := r.get(t, "http://site.example/a%2Fb?c=%20d"); status != 200 || body != "GET site.example /a%2Fb?c=%20d" {
		t.Errorf("%d %q", status, body)
	}
	status, _, h := r.get(t, "http://site.example/away")
	if status != http.StatusFound || h.Get("Location") != "http://router.example/" {
		t.Errorf("a redirect is %d %v", status, h)
	}
	status, body, h := r.get(t, h.Get("Location")) // which the browser asks for itself
	if status != http.StatusForbidden || !strings.Contains(body, "a private network") || strings.Contains(body, "192.168") || h.Get("X-Loop-Refused") == "" {
		t.Errorf("%d %s", status, body)
	}
	for at, want := range map[string]int{
		"http://169.254.169.254/latest/meta-data/": 403, "http://[::ffff:10.0.0.1]/": 403, "http://localhost:3000/": 403,
		"http://nowhere.example/": 502, "http://0x7f.1/": 400,
	} {
		status, body, _ := r.get(t, at)
		if status != want || !strings.Contains(body, "<h1>Loop did not connect</h1>") {
			t.Errorf("%s: %d %s", at, status, body)
		}
	}
}

// TestOddRequests also shows that the host that counts is the address's, not the header's.
func TestOddRequests(t *testing.T) {
	r := newRig(t, false, Options{})
	r.site = http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) { _, _ = io.WriteString(w, "host "+q.Host) })
	for raw, want := range map[string]string{
		"GET / HTTP/1.1\r\nHost: site.example\r\n\r\n":                                    "400",
		"GET https://site.example/ HTTP/1.1\r\nHost: site.example\r\n\r\n":                "400",
		"GET file:///etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n":                              "400",
		"CONNECT site.example HTTP/1.1\r\nHost: site.example\r\n\r\n":                     "200",
		"CONNECT site.example:0 HTTP/1.1\r\nHost: x\r\n\r\n":                              "400",
		"CONNECT site.example:99999 HTTP/1.1\r\nHost: x\r\n\r\n":                          "400",
		"CONNECT router.example:22 HTTP/1.1\r\nHost: site.example:22\r\n\r\n":             "403",
		"CONNECT [::1]:22 HTTP/1.1\r\nHost: x\r\n\r\n":                                    "403",
		"CONNECT [fe80::1%25lo]:22 HTTP/1.1\r\nHost: x\r\n\r\n":                           "400",
		"GET http://site.example/ HTTP/1.1\r\nHost: router.example\r\n\r\n":               "host site.example",
		"GET http://u:p@site.example/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n":   "host site.example",
		"GET http://site.example/ HTTP/1.1\r\nA: " + strings.Repeat("a", 80<<10) + "\r\n": "431",
		"\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03\r\n\r\n":                            "400",
	} {
		c, err := net.Dial("tcp", r.addr)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(c, raw)
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Errorf("%.60q: %v", raw, err)
			_ = c.Close()
			continue
		}
		got := fmt.Sprint(res.StatusCode)
		if strings.HasPrefix(want, "host") {
			b, _ := io.ReadAll(res.Body)
			got = string(b)
		}
		if got != want {
			t.Errorf("%.60q: %s, not %s", raw, got, want)
		}
		_ = c.Close()
	}
}

func TestTunnels(t *testing.T) {
	r := newRig(t, true, Options{})
	r.site = http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		// Without it, whether the tunnel is closed after the answer depends on how much was read before it.
		if err := http.NewResponseController(w).EnableFullDuplex(); err != nil {
			t.Error(err)
		}
		_, _ = io.Copy(w, q.Body)
	})
	res, err := r.client.Post("https://site.example/echo", "text/plain", strings.NewReader(strings.Repeat("words ", 100_000)))
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	if err != nil || len(b) != 600_000 {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	if _, err := r.client.Get("https://router.example/"); err == nil || !strings.Contains(err.Error(), "Forbidden") {
		t.Errorf("a tunnel to a private name: %v", err)
	}
	if n := len(r.proxy.conns); n == 0 {
		t.Error("the open tunnel is not counted")
	}
}

// TestWebSockets: as plain requests and in tunnels.
func TestWebSockets(t *testing.T) {
	for _, scheme := range []string{"ws", "wss"} {
		r := newRig(t, scheme == "wss", Options{})
		r.site = http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			c, err := websocket.Accept(w, q, nil)
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = c.CloseNow() }()
			kind, b, err := c.Read(q.Context())
			if err == nil {
				err = c.Write(q.Context(), kind, append(b, " heard"...))
			}
			if err != nil {
				t.Error(err)
			}
			_, _, _ = c.Read(q.Context())
		})
		c, _, err := websocket.Dial(t.Context(), scheme+"://site.example/", &websocket.DialOptions{HTTPClient: r.client})
		if err != nil {
			t.Fatal(scheme, err)
		}
		if err := c.Write(t.Context(), websocket.MessageText, []byte("word")); err != nil {
			t.Fatal(err)
		}
		if _, b, err := c.Read(t.Context()); string(b) != "word heard" || err != nil {
			t.Errorf("%q %v", b, err)
		}
		_ = c.CloseNow()
		for _, at := range []string{"ws://10.0.0.1/", "ws://router.example/", "wss://169.254.169.254/"} {
			if _, _, err := websocket.Dial(t.Context(), at, &websocket.DialOptions{HTTPClient: r.client}); err == nil {
				t.Errorf("%s was reached", at)
			}
		}
	}
}

// TestServersInTheContainer: every name of this computer means the agent's own container,
// and each end may say first that it has no more to say.
func TestServersInTheContainer(t *testing.T) {
	inside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) { _, _ = io.WriteString(w, "inside "+q.Host) }))
	t.Cleanup(inside.Close)
	r := newRig(t, false, Options{Inside: func(ctx context.Context, port uint16) (net.Conn, error) {
		if port != 3000 {
			return nil, core.Fail(core.CodeNotFound, nil, "Nothing there.", "")
		}
		return (&net.Dialer{}).DialContext(ctx, "tcp", inside.Listener.Addr().String())
	}})
	for _, at := range []string{"localhost:3000", "127.0.0.1:3000", "[::1]:3000", "api.localhost:3000", "preview.api:3000"} {
		if status, body, _ := r.get(t, "http://"+at+"/"); status != 200 || body != "inside "+at {
			t.Errorf("%s: %d %s", at, status, body)
		}
	}
	if status, body, _ := r.get(t, "http://localhost:3001/"); status != 502 || !strings.Contains(body, "port 3001") {
		t.Errorf("%d %s", status, body)
	}

	c, err := net.Dial("tcp", r.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	// The request comes with the CONNECT, and its end right after it.
	_, _ = io.WriteString(c, "CONNECT localhost:3000 HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.0\r\n\r\n")
	if err := c.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(c)
	if err != nil || !strings.HasSuffix(string(b), "inside ") {
		t.Errorf("%q %v", b, err)
	}
}

func TestServeEndsWithItsContext(t *testing.T) {
	block := make(chan struct{})
	r := newRig(t, false, Options{})
	r.site = http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		close(block)
		<-q.Context().Done()
	})
	here, there := net.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan struct{})
	go func() { defer close(over); r.proxy.Serve(ctx, there) }()
	if _, err := io.WriteString(here, "GET http://site.example/ HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	<-block
	cancel()
	<-over
	if _, err := here.Read(make([]byte, 1)); err == nil {
		t.Error("the connection is open")
	}
}
