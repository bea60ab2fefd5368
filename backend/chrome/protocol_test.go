package chrome

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// peer is Chromium's end of a connection in memory.
type peer struct {
	c  net.Conn
	br *bufio.Reader
}

func pipe(t *testing.T, known func(string) (class, bool)) (*conn, *peer) {
	t.Helper()
	ours, theirs := net.Pipe()
	c := newConn(ours, ours, known)
	p := &peer{theirs, bufio.NewReader(theirs)}
	t.Cleanup(func() { _ = theirs.Close(); c.close() })
	return c, p
}

type sent struct {
	ID      int64          `json:"id"`
	Session string         `json:"sessionId"`
	Method  string         `json:"method"`
	Params  jsontext.Value `json:"params"`
}

func (p *peer) next() (sent, error) {
	var c sent
	raw, _, err := readMessage(p.br, maxMessage)
	if err != nil {
		return c, err
	}
	return c, json.Unmarshal(raw, &c)
}

func (p *peer) say(s string) { _, _ = io.WriteString(p.c, s+"\x00") }

func TestCallsAndEvents(t *testing.T) {
	c, p := pipe(t, func(m string) (class, bool) { return kept, m == "A.event" })
	go func() {
		for {
			cmd, err := p.next()
			if err != nil {
				return
			}
			switch cmd.Method {
			case "A.refused":
				p.say(fmt.Sprintf(`{"id":%d,"error":{"code":-32000,"message":"no"}}`, cmd.ID))
			case "A.large":
				p.say(fmt.Sprintf(`{"id":%d,"result":{"x":"%s"}}`, cmd.ID, strings.Repeat("x", maxMessage)))
			case "A.silent":
			default:
				p.say(`{"method":"B.ignored","params":{}}`)
				p.say(`{"method":"A.event","params":{},"sessionId":"s"}`)
				p.say(fmt.Sprintf(`{"id":%d,"result":{"method":%q}}`, cmd.ID, cmd.Method+cmd.Session))
			}
		}
	}()
	var got struct {
		Method string `json:"method"`
	}
	if err := c.call(t.Context(), nil, "s", "A.b", obj{"x": 1}, &got); err != nil || got.Method != "A.bs" {
		t.Errorf("%v, %+v", err, got)
	}
	if e, ok := c.events.pop(); !ok || e.session != "s" || e.method != "A.event" {
		t.Errorf("event %+v", e)
	}
	err := c.call(t.Context(), nil, "", "A.refused", nil, nil)
	if e, ok := errors.AsType[*protocolError](err); !ok || e.Message != "no" {
		t.Errorf("refused: %v", err)
	}
	if err := c.call(t.Context(), nil, "", "A.large", nil, nil); !errors.Is(err, errTooLarge) {
		t.Errorf("large: %v", err)
	}
	stop := make(chan struct{})
	close(stop)
	if err := c.call(t.Context(), stop, "", "A.silent", nil, nil); !errors.Is(err, errStopped) {
		t.Errorf("stopped: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.call(ctx, nil, "", "A.silent", nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.call(t.Context(), nil, "", "A.silent", nil, nil) }()
	_ = p.c.Close()
	if err := <-ended; !errors.Is(err, errEnded) {
		t.Errorf("ended: %v", err)
	}
	if err := c.call(t.Context(), nil, "", "A.b", nil, nil); !errors.Is(err, errEnded) {
		t.Errorf("after the end: %v", err)
	}
	if len(c.pending) != 0 {
		t.Errorf("%d calls are kept", len(c.pending))
	}
}

func TestNonsenseEndsTheConnection(t *testing.T) {
	c, p := pipe(t, func(string) (class, bool) { return kept, true })
	p.say("this is not JSON")
	<-c.ended
}

func TestEventQueueBounds(t *testing.T) {
	q := newEventQueue()
	for range maxLogged + 50 {
		if !q.push(event{session: "a", method: "log", class: logged}) {
			t.Fatal("the end")
		}
	}
	if !q.push(event{session: "b", method: "log", class: logged}) || q.dropped != 50 {
		t.Errorf("dropped %d", q.dropped)
	}
	if q.push(event{method: "big", class: kept, params: make(jsontext.Value, maxPending+1)}) {
		t.Error("took more than it may")
	}
	for range maxLogged + 1 {
		if e, ok := q.pop(); !ok || e.method != "log" {
			t.Fatalf("%+v", e)
		}
	}
	if len(q.logged) != 0 || q.bytes != 0 {
		t.Errorf("left: %v, %d bytes", q.logged, q.bytes)
	}
	for range maxKept {
		if !q.push(event{class: kept}) {
			t.Fatal("the end")
		}
	}
	if q.push(event{class: kept}) {
		t.Error("took more than it may")
	}
	q.end()
	if _, ok := q.pop(); ok {
		t.Error("an event after the end")
	}
}

func FuzzReadMessage(f *testing.F) {
	f.Add("{}\x00{\"id\":5}\x00")
	f.Add(`{"id":12,"result":` + strings.Repeat("x", 300) + "\x00{}\x00")
	f.Fuzz(func(t *testing.T, s string) {
		br := bufio.NewReaderSize(strings.NewReader(s), 16)
		for {
			raw, whole, err := readMessage(br, 100)
			if err != nil {
				return
			}
			if whole && len(raw) > 100 || !whole && len(raw) > messageHead {
				t.Fatalf("%d bytes, whole %v", len(raw), whole)
			}
			if id := leadingID(raw); id < 0 {
				t.Fatal(id)
			}
		}
	})
}
