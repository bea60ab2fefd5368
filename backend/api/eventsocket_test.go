package api

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/coder/websocket"
)

func dialEvents(t *testing.T, s *Server, c *http.Client, query string) *websocket.Conn {
	t.Helper()
	conn, _, err := websocket.Dial(t.Context(), "ws://"+s.Addr()+"/api/ws"+query, &websocket.DialOptions{HTTPClient: c, Subprotocols: []string{"loop", "loop.token." + token}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.CloseNow() })
	return conn
}

func TestEventsGoOnWhereThePageWas(t *testing.T) {
	src := &source{}
	s, c := serve(t, src)
	dialEvents(t, s, c, "?launch=abc&since=41")
	src.wait(t.Context())
	src.mu.Lock()
	defer src.mu.Unlock()
	if !slices.Equal(src.asked, []string{"abc/41"}) {
		t.Fatalf("asked for %v", src.asked)
	}
	for _, bad := range []string{"?since=-1", "?since=x", "?since=99999999999999999999"} {
		if _, res, err := websocket.Dial(t.Context(), "ws://"+s.Addr()+"/api/ws"+bad, &websocket.DialOptions{HTTPClient: c, Subprotocols: []string{"loop", "loop.token." + token}}); err == nil || res.StatusCode != 400 {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func TestEventSocketTakesNothingElse(t *testing.T) {
	for name, say := range map[string]func(*websocket.Conn) error{
		"unknown": func(c *websocket.Conn) error {
			return c.Write(t.Context(), websocket.MessageText, []byte(`{"type":"do"}`))
		},
		"not JSON": func(c *websocket.Conn) error { return c.Write(t.Context(), websocket.MessageText, []byte(`{`)) },
		"binary": func(c *websocket.Conn) error {
			return c.Write(t.Context(), websocket.MessageBinary, []byte(`{"type":"do"}`))
		},
		"too long": func(c *websocket.Conn) error {
			return c.Write(t.Context(), websocket.MessageText, []byte(`{"type":"`+strings.Repeat("x", maxEventMessage)+`"}`))
		},
	} {
		t.Run(name, func(t *testing.T) {
			src := &source{}
			s, c := serve(t, src)
			conn := dialEvents(t, s, c, "")
			if err := say(conn); err != nil {
				t.Fatal(err)
			}
			if _, _, err := conn.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusPolicyViolation && websocket.CloseStatus(err) != websocket.StatusMessageTooBig {
				t.Fatalf("the socket stayed: %v", err)
			}
		})
	}
}
