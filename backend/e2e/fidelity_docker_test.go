//go:build docker

package e2e

import (
	"bufio"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"loop/backend/core"
	"loop/backend/soaktest"
)

// xterm is a process with headless xterm.js terminals.
type xterm struct {
	t   testing.TB
	in  io.WriteCloser
	out *bufio.Reader
	n   int
}

func newXterm(t testing.TB) *xterm {
	t.Helper()
	modules, err := filepath.Abs(filepath.Join("..", "..", "frontend"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", filepath.Join("testdata", "xterm.mjs"), modules)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("xterm: %v", err)
		}
	})
	return &xterm{t: t, in: in, out: bufio.NewReaderSize(out, 1<<20)}
}

func (x *xterm) say(m map[string]any) {
	x.t.Helper()
	b, err := json.Marshal(m)
	if err != nil {
		x.t.Fatal(err)
	}
	if _, err := x.in.Write(append(b, '\n')); err != nil {
		x.t.Fatal(err)
	}
}

// screen is one terminal of an xterm.
type screen struct {
	x     *xterm
	id    string
	fresh bool
	size  [2]int
}

func (x *xterm) screen() *screen {
	x.n++
	return &screen{x: x, id: fmt.Sprint(x.n), fresh: true}
}

func (s *screen) draw(steps ...drawn) {
	s.x.t.Helper()
	for _, d := range steps {
		if d.cols != 0 {
			op := "resize"
			if s.fresh {
				op = "new"
			}
			s.x.say(map[string]any{"id": s.id, "op": op, "cols": d.cols, "rows": d.rows})
			s.fresh, s.size = false, [2]int{d.cols, d.rows}
		}
		if len(d.data) > 0 {
			s.x.say(map[string]any{"id": s.id, "op": "write", "data": base64.StdEncoding.EncodeToString(d.data)})
		}
	}
}

// differs says where s differs from want. It is empty when they are equal.
func (s *screen) differs(want *screen) string {
	s.x.t.Helper()
	s.x.say(map[string]any{"id": s.id, "op": "same", "as": want.id})
	b, err := s.x.out.ReadBytes('\n')
	if err != nil {
		s.x.t.Fatal(err)
	}
	var d string
	if err := json.Unmarshal(b, &d); err != nil {
		s.x.t.Fatal(err)
	}
	return d
}

func (s *screen) dispose() { s.x.say(map[string]any{"id": s.id, "op": "dispose"}) }

// drawn is a size, some bytes, or both in this order. The first of a list has the size
// of the new terminal.
type drawn struct {
	cols, rows int
	data       []byte
	off        int64 // of data in the session's stream
}

// after is the offset that follows the bytes.
func (d drawn) after() int64 { return d.off + int64(len(d.data)) }

// until leaves out bytes after end. The first step always stays whole.
func until(steps []drawn, end int64) (out []drawn) {
	for i, d := range steps {
		if i > 0 && len(d.data) > 0 {
			if d.off >= end {
				continue
			}
			d.data = d.data[:min(int64(len(d.data)), end-d.off)]
		}
		out = append(out, d)
	}
	return out
}

// upTo draws the steps before off. Of the sizes at off, it draws those up to the size
// with which a client began. It returns the steps that are left.
func (s *screen) upTo(steps []drawn, off int64, began [2]int) []drawn {
	for len(steps) > 0 {
		d := steps[0]
		switch n := off - d.off; {
		case len(d.data) == 0 && n > 0, s.fresh, len(d.data) > 0 && n >= int64(len(d.data)):
			s.draw(d)
		case len(d.data) > 0 && n > 0:
			s.draw(drawn{data: d.data[:n]})
			steps[0] = drawn{data: d.data[n:], off: off}
			return steps
		case len(d.data) == 0 && n == 0 && s.size != began:
			s.draw(d)
		default:
			return steps
		}
		steps = steps[1:]
	}
	return steps
}

// terminalSocket is a client of /api/ws/terminal.
type terminalSocket struct {
	t    testing.TB
	conn *websocket.Conn

	mu       sync.Mutex
	steps    []drawn
	at       int64 // offset after the last byte
	snapshot int   // bytes of a snapshot that are still to come
	first    map[string]any
	changed  chan struct{}
	ended    bool
	err      error
}

func (s *server) terminal(t testing.TB) *terminalSocket {
	t.Helper()
	conn, _, err := websocket.Dial(t.Context(), strings.Replace(s.url, "http://", "ws://", 1)+"api/ws/terminal", &websocket.DialOptions{
		Subprotocols: []string{"loop", "loop.token." + s.token},
	})
	if err != nil {
		t.Fatal(err)
	}
	conn.SetReadLimit(1 << 20)
	c := &terminalSocket{t: t, conn: conn, changed: make(chan struct{})}
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.read()
	}()
	t.Cleanup(func() { _ = conn.CloseNow(); <-done })
	return c
}

func (c *terminalSocket) read() {
	for {
		kind, data, err := c.conn.Read(context.Background())
		c.mu.Lock()
		if err != nil {
			c.err = err
		} else if kind == websocket.MessageBinary {
			c.take(data)
		} else {
			var m map[string]any
			if err := json.Unmarshal(data, &m); err != nil {
				c.err = err
			}
			c.hear(m)
		}
		close(c.changed)
		c.changed = make(chan struct{})
		c.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func num(m map[string]any, name string) int {
	n, _ := m[name].(float64)
	return int(n)
}

func (c *terminalSocket) hear(m map[string]any) {
	switch m["type"] {
	case "created", "attached", "resync":
		if c.first == nil {
			c.first = m
		}
		c.steps = []drawn{{cols: num(m, "cols"), rows: num(m, "rows")}}
		c.at, c.snapshot = int64(num(m, "offset")), num(m, "snapshot")
		c.steps[0].off = c.at
	case "resized":
		c.steps = append(c.steps, drawn{cols: num(m, "cols"), rows: num(m, "rows"), off: c.at})
	case "closed":
		c.ended = true
	case "error":
		if m["request"] == "resize" {
			return // the program ended before the signal
		}
		c.err = fmt.Errorf("%v: %v", m["error_code"], m["message"])
	}
}

func (c *terminalSocket) take(data []byte) {
	if n := min(c.snapshot, len(data)); n > 0 {
		c.steps[0].data = append(c.steps[0].data, data[:n]...)
		c.steps[0].off = c.at - int64(len(c.steps[0].data))
		c.snapshot -= n
		data = data[n:]
	}
	if len(data) > 0 {
		c.steps = append(c.steps, drawn{data: append([]byte(nil), data...), off: c.at})
		c.at += int64(len(data))
	}
}

func (c *terminalSocket) say(m map[string]any) {
	c.t.Helper()
	b, err := json.Marshal(m)
	if err != nil {
		c.t.Fatal(err)
	}
	if err := c.conn.Write(c.t.Context(), websocket.MessageText, b); err != nil {
		c.t.Fatal(err)
	}
}

func (c *terminalSocket) keys(s string) {
	c.t.Helper()
	if err := c.conn.Write(c.t.Context(), websocket.MessageBinary, []byte(s)); err != nil {
		c.t.Fatal(err)
	}
}

// until waits for a state of the client; ok is called with its lock held.
func (c *terminalSocket) until(what string, ok func() bool) {
	c.t.Helper()
	late := time.After(patience)
	for {
		c.mu.Lock()
		fine, err, changed := ok(), c.err, c.changed
		c.mu.Unlock()
		if fine {
			return
		}
		if err != nil {
			c.t.Fatalf("waited for %s: %v", what, err)
		}
		select {
		case <-changed:
		case <-late:
			c.t.Fatalf("waited for %s in vain", what)
		}
	}
}

func (c *terminalSocket) seen() ([]drawn, int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]drawn(nil), c.steps...), c.at
}

// rest gives a program time to draw. No check depends on whether it finished: a slow or
// endless program has then drawn less.
func (c *terminalSocket) rest() {
	late := time.After(10 * time.Second)
	for {
		c.mu.Lock()
		changed := c.changed
		c.mu.Unlock()
		select {
		case <-changed:
		case <-time.After(700 * time.Millisecond):
			return
		case <-late:
			return
		}
	}
}

// size is the last size that the client got. The caller holds its lock.
func (c *terminalSocket) size() (size [2]int) {
	for _, d := range c.steps {
		if d.cols != 0 {
			size = [2]int{d.cols, d.rows}
		}
	}
	return size
}

// act is one step with a program: keys to type, or a new size.
type act struct {
	keys       string
	cols, rows int
}

func tuiActs(keys ...string) (out []act) {
	sizes := [][2]int{{100, 30}, {61, 20}, {132, 40}, {80, 24}, {40, 12}, {100, 30}}
	for i, k := range keys {
		out = append(out, act{keys: k})
		if i%3 == 2 {
			s := sizes[(i/3)%len(sizes)]
			out = append(out, act{cols: s[0], rows: s[1]})
		}
	}
	return out
}

// TestLateClientsSeeTheSame drives real programs, with sizes that change while they
// draw. Clients attach at random moments. Each of them must show, cell by cell, the
// same as a new terminal that got all output from the start.
func TestLateClientsSeeTheSame(t *testing.T) {
	t.Parallel() // mostly waits
	h := newHome(t, "")
	srv := h.serve()
	x := newXterm(t)
	var demo struct {
		ID core.ChannelID `json:"channel_id"`
	}
	srv.must("Channels.Demo", &demo)
	dir := t.TempDir()
	long := filepath.Join(dir, "long.txt")
	var text strings.Builder
	for i := range 400 {
		fmt.Fprintf(&text, "%d  The quick brown fox — 素早い茶色の狐 — jumps over the lazy dog é́ %s\n", i, strings.Repeat("x", i%150))
	}
	if err := os.WriteFile(long, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	tmux := filepath.Join(dir, "tmux") // a server for this test alone
	defer func() { _ = exec.Command("tmux", "-S", tmux, "kill-server").Run() }()
	for _, c := range []program{
		{"bash", startsLate("bash", "--norc", "-i"), "", tuiActs(
			"PS1='\\[\\e[1;32m\\]\\w\\[\\e[0m\\] $ '\r", "cat "+long+"\r", "ls -la --color=always /usr/bin | head -90\r", "seq 1 700\r",
			"printf '\\e[31;44;1;4mred\\e[0m\\n%.0s' {1..50}\r", "echo a long line "+strings.Repeat("wrap ", 60)+"\r", "\x12cat\x07", "\x0c", "for i in {1..300}; do printf '%s\\r' $i; done\r",
			"printf '\\e]8;;https://example.com\\e\\\\link\\e]8;;\\e\\\\\\n'\r", "tput smcup; echo inside; sleep 0.3; tput rmcup\r", "echo end\r")},
		{"vim", startsLate("vim", "-u", "NONE", "-N", "-c", "syntax on", "-c", "set number", long), "", tuiActs(
			"\x06", "\x06", "100G", ":split\r", "/fox\r", "nnn", "ihello 世界\x1b", ":set wrap!\r", "zz", ":vsplit\r", "\x17w\x06", "gg", "dd", "u", ":q!\r", ":set list\r", "\x04\x04\x15", ":help\r")},
		{"tmux", startsLate("tmux", "-S", tmux, "-f", "/dev/null", "new-session", "bash --norc"), "\x02d", tuiActs(
			"cat "+long+"\r", "\x02%", "ls -la /usr\r", "\x02\"", "seq 1 500\r", "\x02o", "\x02[", "\x06", "q", "\x02z", "\x02z", "echo done\r")},
		{"htop", startsLate("htop", "-d", "5"), "q", tuiActs("\x1bOB", "t", "\x1bOB\x1bOB", "t", "I", "h", " ", "H", "K", "\x1bOB")},
		{"claude", map[string]any{"channel_id": demo.ID}, "", tuiActs("", "", "", "hello\r", "", "", "more\r", "", "/help\r", "\x1b", "", "")},
	} {
		t.Run(c.name, func(t *testing.T) { lateClients(t, srv, x, c) })
	}
}

// program is a program to drive: how its session is created, the keys that end it, if
// any, and the steps before the end.
type program struct {
	name   string
	create map[string]any
	end    string
	acts   []act
}

// startsLate is a program of this computer that begins with Enter. Output before its
// first client attached would be in no stream.
func startsLate(cmd ...string) map[string]any {
	return map[string]any{"target": "host", "cmd": append([]string{"sh", "-c", `read go; exec "$@"`, "sh"}, cmd...)}
}

func lateClients(t *testing.T, srv *server, x *xterm, p program) {
	late := max(4, soaktest.Of(20))
	first := srv.terminal(t)
	p.create["type"], p.create["cols"], p.create["rows"] = "create", 100, 30
	first.say(p.create)
	first.until("the session", func() bool { return first.first != nil && first.snapshot == 0 })
	id := first.first["session_id"]
	if p.name == "claude" { // the agent takes a moment to draw
		first.until("the agent's screen", func() bool { return first.at > 2000 })
	} else {
		if off := num(first.first, "offset"); off != 0 {
			t.Fatalf("the first client missed %d bytes", off)
		}
		first.keys("\r")
		first.until("its first screen", func() bool { return first.at > 2 }) // more than the echo of the key
	}
	rnd := rand.New(rand.NewPCG(uint64(len(p.name)), 7))
	pause := func(d time.Duration) { <-time.After(d) }
	var clients []*terminalSocket
	attach := func() {
		c := srv.terminal(t)
		c.say(map[string]any{"type": "attach", "session_id": id})
		clients = append(clients, c)
	}
	for i, a := range p.acts {
		if a.cols > 0 {
			first.say(map[string]any{"type": "resize", "cols": a.cols, "rows": a.rows})
		} else if a.keys != "" {
			first.keys(a.keys)
		}
		for len(clients) < late*(i+1)/len(p.acts) {
			pause(time.Duration(rnd.IntN(60)) * time.Millisecond)
			attach()
		}
		pause(time.Duration(50+rnd.IntN(150)) * time.Millisecond)
	}
	first.rest()
	// A client that has seen the end, or the last size, has seen all changes of size.
	// The last size is smaller than all before. Text beyond an edge is in no snapshot,
	// but a wider terminal shows it again until the program has drawn for the new size.
	last := [2]int{39, 11}
	over := func(c *terminalSocket) func() bool {
		return func() bool { return c.snapshot == 0 && c.size() == last }
	}
	if p.end == "" {
		first.say(map[string]any{"type": "resize", "cols": last[0], "rows": last[1]})
	} else {
		over = func(c *terminalSocket) func() bool { return func() bool { return c.ended } }
		first.keys(p.end)
	}
	var began int64
	for _, c := range clients {
		c.until("the last of all", over(c))
		steps, _ := c.seen()
		began = max(began, steps[0].after())
	}
	first.until("the last of all", over(first))
	first.until("what everybody began with", func() bool { return first.at >= began })
	all, end := first.seen()
	type latecomer struct {
		steps  []drawn
		screen *screen
	}
	var seen []latecomer
	for _, c := range clients {
		c.until("what the first client has", func() bool { return c.at >= end && c.snapshot == 0 })
		steps, _ := c.seen()
		seen = append(seen, latecomer{until(steps, end), x.screen()})
	}
	slices.SortStableFunc(seen, func(a, b latecomer) int { return cmp.Compare(a.steps[0].after(), b.steps[0].after()) })
	want := x.screen()
	defer want.dispose()
	for i, l := range seen {
		began := l.steps[0]
		l.screen.draw(began)
		defer l.screen.dispose()
		all = want.upTo(all, began.after(), [2]int{began.cols, began.rows})
		if d := l.screen.differs(want); d != "" {
			t.Fatalf("client %d of %d, attached at %d: %s", i, late, began.after(), d)
		}
	}
	want.upTo(all, end+1, want.size)
	for i, l := range seen {
		l.screen.upTo(l.steps[1:], end+1, l.screen.size)
		if d := l.screen.differs(want); d != "" {
			t.Fatalf("client %d of %d, attached at %d, at the end: %s", i, late, l.steps[0].after(), d)
		}
	}
	t.Logf("%d bytes, %d clients", end, len(seen))
	first.say(map[string]any{"type": "close", "session_id": id})
}
