package api

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"loop/backend/core"
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

func readEvents(ctx context.Context, t *testing.T, conn *websocket.Conn) []core.Event {
	t.Helper()
	_, data, err := conn.Read(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var got []core.Event
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	return got
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

func TestEventsOfSomeChannels(t *testing.T) {
	src := &source{}
	s, c := serve(t, src)
	conn := dialEvents(t, s, c, "?channels=a,b")
	sub := src.wait(t.Context())
	say := func(seq uint64, ch core.ChannelID, typ core.EventType) core.Event {
		return core.Event{Seq: seq, ChannelID: ch, Type: typ}
	}
	sub <- []core.Event{say(1, "x", core.EventThinking), say(2, "x", core.EventThinking), say(3, "b", core.EventThinking), say(4, "", core.EventEngineStatus), say(5, "x", core.EventStatus), say(6, "x", core.EventRaw)}
	got := readEvents(t.Context(), t, conn)
	if len(got) != 3 || got[0].Seq != 3 || got[0].FirstSeq != 1 || got[1].Seq != 4 || got[1].FirstSeq != 0 || got[2].Seq != 5 {
		t.Fatalf("%+v", got)
	}
	// A batch without a matching event sends nothing. The next batch covers its
	// numbers.
	sub <- []core.Event{say(7, "x", core.EventThinking)}
	if err := conn.Write(t.Context(), websocket.MessageText, []byte(`{"type":"subscribe","channels":["x"]}`)); err != nil {
		t.Fatal(err)
	}
	// The page's message and the events take different ways, so the test repeats until
	// the message took effect.
	for seq := uint64(8); ; seq += 2 {
		sub <- []core.Event{say(seq, "x", core.EventThinking), say(seq+1, "", core.EventEngineStatus)}
		got = readEvents(t.Context(), t, conn)
		if len(got) == 2 {
			break
		}
		if got[0].FirstSeq == 0 {
			t.Fatalf("held back without a word: %+v", got)
		}
	}
	if err := conn.Write(t.Context(), websocket.MessageText, []byte(`{"type":"subscribe"}`)); err != nil {
		t.Fatal(err)
	}
	for seq := uint64(1000); ; seq += 2 {
		sub <- []core.Event{say(seq, "elsewhere", core.EventThinking), say(seq+1, "", core.EventEngineStatus)}
		if len(readEvents(t.Context(), t, conn)) == 2 {
			break
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
			return c.Write(t.Context(), websocket.MessageBinary, []byte(`{"type":"subscribe"}`))
		},
		"too many": func(c *websocket.Conn) error {
			return c.Write(t.Context(), websocket.MessageText, []byte(`{"type":"subscribe","channels":["`+strings.Repeat(`","`, maxSubscribeChannels)+`"]}`))
		},
		"too long": func(c *websocket.Conn) error {
			return c.Write(t.Context(), websocket.MessageText, []byte(`{"type":"`+strings.Repeat("x", maxSubscribeBytes)+`"}`))
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
