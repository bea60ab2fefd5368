package api

import (
	"net/http"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// TestClients: browsers and command lines count as clients. Loop's own window does not,
// nor does a caller without the token.
func TestClients(t *testing.T) {
	src := &source{}
	s, c := serve(t, src)
	count := func(want int, ever bool) {
		t.Helper()
		if n, left := s.Clients(); n != want || left.IsZero() == ever {
			t.Errorf("%d connected, the last one left at %v", n, left)
		}
	}
	call := func(header map[string]string) {
		request(t, c, "POST", s.URL()+"api/call/Echo.Add", "[1,2]", header)
	}
	call(map[string]string{"Content-Type": "application/json"})
	for _, origin := range webviewOrigins {
		call(map[string]string{"Authorization": "Bearer " + token, "Content-Type": "application/json", "Origin": origin})
	}
	count(0, false)
	open := func(origin string) *websocket.Conn {
		conn, _, err := websocket.Dial(t.Context(), "ws://"+s.Addr()+"/api/ws", &websocket.DialOptions{
			HTTPClient: c, Subprotocols: []string{"loop", "loop.token." + token}, HTTPHeader: http.Header{"Origin": {origin}},
		})
		if err != nil {
			t.Fatal(err)
		}
		return conn
	}
	own := open(webviewOrigins[0])
	defer own.CloseNow()
	count(0, false)
	page := open("http://" + s.Addr())
	count(1, false)
	before := time.Now()
	_ = page.CloseNow()
	for n := 1; n > 0; n, _ = s.Clients() {
	}
	if _, left := s.Clients(); left.Before(before) {
		t.Errorf("left at %v, closed at %v", left, before)
	}
	call(map[string]string{"Authorization": "Bearer " + token, "Content-Type": "application/json"})
	count(0, true)
}
