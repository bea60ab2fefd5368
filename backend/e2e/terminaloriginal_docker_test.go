//go:build docker

package e2e

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// originalClient speaks only the protocol of the original system: no acknowledgements,
// input in base64, and only its fields of a status.
type originalClient struct {
	t    *testing.T
	conn *websocket.Conn
	out  string
}

func (s *server) originalClient(t *testing.T) *originalClient {
	t.Helper()
	conn, _, err := websocket.Dial(t.Context(), strings.Replace(s.url, "http", "ws", 1)+"api/ws/terminal", &websocket.DialOptions{Subprotocols: []string{"loop", "loop.token." + s.token}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.CloseNow() })
	conn.SetReadLimit(1 << 20)
	return &originalClient{t: t, conn: conn}
}

func (c *originalClient) say(message any) {
	c.t.Helper()
	text, ok := message.(string)
	if !ok {
		b, err := json.Marshal(message)
		if err != nil {
			c.t.Fatal(err)
		}
		text = string(b)
	}
	if err := c.conn.Write(c.t.Context(), websocket.MessageText, []byte(text)); err != nil {
		c.t.Fatal(err)
	}
}

func (c *originalClient) typeIn(text string) {
	c.t.Helper()
	c.say(map[string]any{"type": "input", "data": base64.StdEncoding.EncodeToString([]byte(text))})
}

// next reads one frame; a status is nil for output.
func (c *originalClient) next() map[string]any {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), patience)
	defer cancel()
	kind, data, err := c.conn.Read(ctx)
	if err != nil {
		c.t.Fatalf("%v, after %q", err, c.out[max(0, len(c.out)-500):])
	}
	if kind == websocket.MessageBinary {
		c.out = c.out[max(0, len(c.out)-(1<<20)):] + string(data)
		return nil
	}
	var m map[string]any
	if err := json.Unmarshal(data, &m); err != nil {
		c.t.Fatal(err)
	}
	for _, field := range []string{"type", "session_id", "message", "error_code"} {
		if _, ok := m[field].(string); !ok {
			c.t.Errorf("%s has no %s", data, field)
		}
	}
	return m
}

// status waits for a status of one type. It passes over the types that the original
// system does not have.
func (c *originalClient) status(typ string) map[string]any {
	c.t.Helper()
	for {
		m := c.next()
		switch {
		case m == nil:
		case m["type"] == typ:
			return m
		case m["type"] == "error" || m["type"] == "closed":
			c.t.Fatalf("waited for %s: %v", typ, m)
		}
	}
}

func (c *originalClient) shown(want string) {
	c.t.Helper()
	for !strings.Contains(c.out, want) {
		if m := c.next(); m != nil && (m["type"] == "error" || m["type"] == "closed") {
			c.t.Fatalf("waited for %q: %v", want, m)
		}
	}
	_, c.out, _ = strings.Cut(c.out, want)
}

// TestOriginalClient: a client written for the original system works fully. None of its
// mistakes harms the session that it shows.
func TestOriginalClient(t *testing.T) {
	t.Parallel() // mostly waits
	_, s, ch, _ := terminalServer(t)
	c := s.originalClient(t)
	c.say(map[string]any{"type": "create", "channel_id": ch, "cmd": []string{"/bin/bash", "--norc"}, "target": "agent", "rows": 50, "open_mode": "fork"})
	id := c.status("created")["session_id"].(string)
	c.typeIn("stty size\r")
	c.shown("50 80")

	shell := func(cmd ...string) map[string]any {
		return map[string]any{"type": "create", "channel_id": ch, "cmd": cmd}
	}
	for i, tc := range []struct {
		send any
		code string
	}{
		{`{`, "invalid_json"},
		{`null`, "invalid_json"},
		{`{"type":"resize","rows":"24","cols":80}`, "invalid_json"},
		{`{"type":"fly"}`, "unknown_message"},
		{`{"type":"input"}`, "missing_field"},
		{`{"type":"input","data":"!!!"}`, "invalid_input"},
		{`{"type":"resize","rows":0,"cols":80}`, "missing_field"},
		{`{"type":"attach"}`, "missing_field"},
		{`{"type":"kill"}`, "missing_field"},
		{`{"type":"attach","session_id":"a1b2c3d4"}`, "session_failed"},
		{`{"type":"attach","session_id":"` + strings.Repeat("0", 32) + `"}`, "session_failed"},
		{`{"type":"stop","session_id":"` + strings.Repeat("0", 32) + `"}`, "session_failed"},
		{`{"type":"close","session_id":"a1b2c3d4"}`, "session_failed"},
		{shell(strings.Fields(strings.Repeat("x ", 65))...), "invalid_input"},
		{shell("ls", ""), "invalid_input"},
		{shell("/no/such/shell"), "session_failed"},
		{`{"type":"create","channel_id":"nobody"}`, "session_failed"},
		{`{"type":"create","container_id":"abc123def"}`, "session_failed"},
	} {
		c.say(tc.send)
		for m := c.next(); ; m = c.next() {
			if m == nil || m["type"] == "resync" {
				continue
			}
			if m["type"] != "error" || m["error_code"] != tc.code || m["message"] == "" {
				t.Errorf("%.100v: %v, want %s", tc.send, m, tc.code)
			}
			break
		}
		c.typeIn(fmt.Sprintf("echo un''harmed%d.\r", i))
		c.shown(fmt.Sprintf("unharmed%d.", i))
	}

	// The client stops reading for longer than a program waits for a viewer.
	c.typeIn("yes 0123456789 | head -c 50000000; echo al''l\r")
	still := time.NewTimer(8 * time.Second)
	<-still.C
	c.shown("all")
	c.typeIn("echo wo''rks\r")
	c.shown("works")

	// The end of a socket does not end the session.
	_ = c.conn.Close(websocket.StatusNormalClosure, "")
	c = s.originalClient(t)
	c.say(map[string]any{"type": "attach", "session_id": id})
	if m := c.status("attached"); m["session_id"] != id {
		t.Errorf("%v", m)
	}
	c.shown("works") // output from before
	other := s.originalClient(t)
	other.say(map[string]any{"type": "close", "session_id": id})
	other.status("stopped")
	if m := c.status("closed"); !strings.Contains(m["message"].(string), "was closed") {
		t.Errorf("nothing says why: %v", m)
	}
	other.say(shell("/bin/sh", "-c", "exit 3"))
	made := other.status("created")
	other.status("closed")
	other.say(`{"type":"stop"}`)
	other.status("stopped")
	if out, err := docker(t.Context(), "inspect", made["container_id"].(string)); err == nil {
		t.Errorf("stop left the container: %.200s", out)
	}
	other.say(map[string]any{"type": "kill", "channel_id": ch})
	other.status("stopped")
}

// TestForeignContainerGoesAway while the engine runs a terminal's program in it.
func TestForeignContainerGoesAway(t *testing.T) {
	_, s, ch, _ := terminalServer(t)
	out, err := docker(t.Context(), "run", "-d", "--label", "loop-test=terminals", "--entrypoint", "/bin/sleep", "loop-agent:latest", "infinity")
	if err != nil {
		t.Fatalf("%v %s", err, out)
	}
	lines := strings.Fields(out)
	box := lines[len(lines)-1]
	t.Cleanup(func() { _, _ = docker(context.Background(), "rm", "-f", "-v", box) })
	c := s.originalClient(t)
	c.say(map[string]any{"type": "create", "channel_id": ch, "container_id": box[:12]})
	if m := c.status("created"); m["container_id"] != box || m["title"] != "Shell" {
		t.Errorf("%v", m)
	}
	c.typeIn("echo $0 re''ady\r")
	c.shown("/bin/sh ready")
	if out, err := docker(t.Context(), "rm", "-f", "-v", box); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	if m := c.status("closed"); !strings.Contains(m["message"].(string), "container") {
		t.Errorf("nothing says why: %v", m)
	}
}
