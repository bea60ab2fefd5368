package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"loop/backend/core"
)

const sessionID = "1f300000000000000000000000000001"

// fakeScreen is a terminal whose keys a test presses.
type fakeScreen struct {
	keys io.Reader

	mu         sync.Mutex
	shown      bytes.Buffer
	cols, rows int
	raw        int // how often it was put into raw mode, less the times it was restored
	changed    chan struct{}
	wrote      chan struct{}
}

func (r *rig) openScreen() (screen, error) {
	if r.screen == nil {
		return openScreen(bytes.NewReader(nil), &r.out)
	}
	return r.screen, nil
}

// withScreen gives the rig a terminal. Writes to the result are its keys.
func (r *rig) withScreen() io.Writer {
	keys, typed := io.Pipe()
	r.t.Cleanup(func() { typed.Close() })
	r.screen = &fakeScreen{keys: keys, cols: 80, rows: 24, changed: make(chan struct{}, 1), wrote: make(chan struct{}, 1)}
	return typed
}

func (s *fakeScreen) Read(p []byte) (int, error) { return s.keys.Read(p) }

func (s *fakeScreen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case s.wrote <- struct{}{}:
	default:
	}
	return s.shown.Write(p)
}

func (s *fakeScreen) Size() (cols, rows int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cols, s.rows, nil
}

func (s *fakeScreen) Raw() (func(), error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.raw++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.raw--
	}, nil
}

func (s *fakeScreen) Resized(ctx context.Context, changed func()) {
	for {
		select {
		case <-s.changed:
			changed()
		case <-ctx.Done():
			return
		}
	}
}

func (s *fakeScreen) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shown.String()
}

// seen waits until something is shown.
func (s *fakeScreen) seen(t *testing.T, want string) {
	t.Helper()
	for late := time.After(time.Minute); !strings.Contains(s.text(), want); {
		select {
		case <-s.wrote:
		case <-late:
			t.Errorf("%q is not among %q", want, s.text())
			return
		}
	}
}

// peer is Loop's end of a terminal socket under test.
type peer struct {
	t    *testing.T
	ctx  context.Context
	conn *websocket.Conn
}

func (p peer) status(format string, args ...any) {
	if err := p.conn.Write(p.ctx, websocket.MessageText, fmt.Appendf(nil, format, args...)); err != nil {
		p.t.Error(err)
	}
}

func (p peer) output(b string) {
	if err := p.conn.Write(p.ctx, websocket.MessageBinary, []byte(b)); err != nil {
		p.t.Error(err)
	}
}

// hear reads one message. For typed bytes, input has them and m is empty.
func (p peer) hear() (m map[string]any, input string) {
	kind, data, err := p.conn.Read(p.ctx)
	if err != nil {
		return map[string]any{"type": err.Error()}, ""
	}
	if kind == websocket.MessageBinary {
		return map[string]any{}, string(data)
	}
	if err := json.Unmarshal(data, &m); err != nil {
		p.t.Error(err)
	}
	return m, ""
}

func (p peer) want(typ string) map[string]any {
	p.t.Helper()
	m, input := p.hear()
	if m["type"] != typ {
		p.t.Errorf("heard %v %q, want %s", m, input, typ)
	}
	return m
}

func (r *rig) speak(do func(p peer)) {
	r.terminal = func(ctx context.Context, conn *websocket.Conn) { do(peer{r.t, ctx, conn}) }
	r.serve()
}

const created = `{"type":"created","session_id":"` + sessionID + `","cols":80,"rows":24,"offset":0,"snapshot":5}`

func TestTerminalShowsASession(t *testing.T) {
	r, _ := newTreeRig(t)
	typed := r.withScreen()
	r.speak(func(p peer) {
		m := p.want("create")
		if b, _ := json.Marshal(m); string(b) != `{"acks":true,"channel_id":"p1","cmd":["htop","-d","5"],"cols":80,"open_mode":"fork","plain":false,"rows":24,"title":"T","type":"create"}` {
			t.Errorf("%s", b)
		}
		p.status(created)
		p.output("hello")
		r.screen.seen(t, "hello")
		fmt.Fprint(typed, "ls\r")
		if _, input := p.hear(); input != "ls\r" {
			t.Errorf("typed %q", input)
		}
		p.output("a\x1b[6n\x1b]11;?\x1b")
		p.output("\\\x1b[1mb")
		r.screen.seen(t, "a\x1b[1mb")
		r.screen.mu.Lock()
		r.screen.cols, r.screen.rows = 100, 30
		r.screen.mu.Unlock()
		r.screen.changed <- struct{}{}
		if m := p.want("resize"); m["cols"] != 100.0 || m["rows"] != 30.0 {
			t.Errorf("%v", m)
		}
		p.status(`{"type":"resized","cols":100,"rows":30,"offset":9}`)
		p.output(strings.Repeat("x", 40<<10))
		if m := p.want("ack"); m["offset"].(float64) < 40<<10 {
			t.Errorf("%v", m)
		}
		p.status(`{"type":"error","error_code":"session_failed","request":"input","message":"It does not read."}`)
		p.status(`{"type":"title_changed"}`) // a message of a newer Loop
		p.status(`{"type":"closed","session_id":%q,"exit_code":7,"message":"It had enough."}`, sessionID)
	})
	if code := r.run("terminal", "--channel", "p1", "--fork", "--title", "T", "--", "htop", "-d", "5"); code != 7 {
		t.Fatalf("exit %d", code)
	}
	r.wantIn("err", "Leave with Ctrl-] or ~. at the beginning of a line")
	r.wantIn("err", "It had enough.")
	if text := r.screen.text(); !strings.HasPrefix(text, clearScreen) || !strings.HasSuffix(text, leaveModes+"\r\n") || !strings.Contains(text, "\a") {
		t.Errorf("%.300q", text)
	}
	if r.screen.raw != 0 {
		t.Error("the terminal was not given back")
	}
}

func TestTerminalIsLeft(t *testing.T) {
	for name, tc := range map[string]struct {
		args  []string
		leave func(r *rig, typed io.Writer)
		code  int
	}{
		"by a key":        {nil, func(_ *rig, w io.Writer) { fmt.Fprint(w, "\x1d") }, 0},
		"as in ssh":       {nil, func(_ *rig, w io.Writer) { fmt.Fprint(w, "\r~"); fmt.Fprint(w, ".") }, 0},
		"by another key":  {[]string{"--detach-key", "ctrl-q", "--escape", "none"}, func(_ *rig, w io.Writer) { fmt.Fprint(w, "~.\x11") }, 0},
		"by a signal":     {nil, func(r *rig, _ io.Writer) { r.interrupts <- os.Interrupt }, 0},
		"by its keyboard": {nil, func(_ *rig, w io.Writer) { _ = w.(io.Closer).Close() }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r, _ := newTreeRig(t)
			typed := r.withScreen()
			r.speak(func(p peer) {
				p.want("create")
				p.status(created)
				p.output("hello")
				r.screen.seen(t, "hello")
				go fmt.Fprint(typed, "q")
				if _, input := p.hear(); input != "q" {
					t.Errorf("typed %q", input)
				}
				go tc.leave(r, typed)
				for {
					m, _ := p.hear()
					if m["type"] == "detach" { // the client waits a moment for the answer, and may be gone
						_ = p.conn.Write(p.ctx, websocket.MessageText, fmt.Appendf(nil, `{"type":"detached","session_id":%q}`, sessionID))
					} else if m["type"] != nil {
						return // the connection has ended
					}
				}
			})
			if code := r.run(append([]string{"terminal", "--channel", "p1"}, tc.args...)...); code != tc.code {
				t.Fatalf("exit %d", code)
			}
			r.wantIn("err", "loop terminal --attach "+sessionID)
			if r.screen.raw != 0 {
				t.Error("the terminal was not given back")
			}
		})
	}
}

// TestTerminalAttachesAtItsOwnSize: a session that was drawn for another size is drawn
// again once it has this terminal's size.
func TestTerminalAttachesAtItsOwnSize(t *testing.T) {
	r, _ := newTreeRig(t)
	r.withScreen()
	r.fake.answers["Terminals.List"] = []core.TerminalInfo{{ID: sessionID}, {ID: core.TerminalID("2" + sessionID[1:])}}
	r.speak(func(p peer) {
		if m := p.want("attach"); m["session_id"] != sessionID || m["acks"] != true {
			t.Errorf("%v", m)
		}
		p.status(`{"type":"attached","session_id":%q,"cols":200,"rows":50,"offset":0,"snapshot":4}`, sessionID)
		p.output("wide")
		p.want("resize")
		p.status(`{"type":"resized","cols":120,"rows":50,"offset":4}`) // another viewer's resize
		p.status(`{"type":"resized","cols":80,"rows":24,"offset":4}`)
		p.want("resync")
		p.status(`{"type":"resync","cols":80,"rows":24,"offset":4,"snapshot":6}`)
		p.output("\x18\x1bcnarrow")
		p.output("\x1bc")
		p.status(`{"type":"closed","session_id":%q,"exit_code":0}`, sessionID)
	})
	if code := r.run("terminal", "--attach", "1f3"); code != exitOK {
		t.Fatalf("exit %d", code)
	}
	if text := r.screen.text(); !strings.Contains(text, clearScreen+"narrow") {
		t.Errorf("%q", text)
	}
}

// TestTerminalWithinItself: a terminal that shows its own session would repeat its
// output without end.
func TestTerminalWithinItself(t *testing.T) {
	r, _ := newTreeRig(t)
	r.withScreen()
	r.fake.answers["Terminals.List"] = []core.TerminalInfo{{ID: sessionID}}
	r.env["LOOP_TERMINAL"] = sessionID
	r.speak(func(p peer) { t.Error("attached") })
	if code := r.run("terminal", "--attach", "1f3"); code != exitUsage {
		t.Errorf("exit %d", code)
	}
	r.wantIn("err", "would never end")
}

// TestTerminalOpeningIsGivenUp: Ctrl-C ends the wait, and the message does not claim
// that Loop is gone.
func TestTerminalOpeningIsGivenUp(t *testing.T) {
	r, _ := newTreeRig(t)
	r.withScreen()
	r.speak(func(p peer) {
		p.want("create")
		r.interrupts <- os.Interrupt
		p.hear() // until the client goes
	})
	if code := r.run("terminal", "--channel", "p1"); code != exitCancelled {
		t.Errorf("exit %d", code)
	}
	r.wantIn("err", "goes on opening")
	r.wantIn("err", "Stopped.")

	r, _ = newTreeRig(t) // the interrupt comes before Loop's first answer
	r.withScreen()
	r.speak(func(peer) {})
	ctx, cancel := context.WithCancel(r.ctx)
	cancel()
	r.ctx = ctx
	if code := r.run("terminal", "--channel", "p1"); code != exitCancelled {
		t.Errorf("exit %d", code)
	}
	r.wantIn("err", "Stopped.")
}

// TestTerminalOfUnknownSize: serial lines and some terminal programs report 0 columns
// and 0 rows when they do not know their size.
func TestTerminalOfUnknownSize(t *testing.T) {
	r, _ := newTreeRig(t)
	r.withScreen()
	r.screen.cols, r.screen.rows = 0, 0
	r.speak(func(p peer) {
		if m := p.want("create"); m["cols"] != 80.0 || m["rows"] != 24.0 {
			t.Errorf("%v", m)
		}
		p.status(created)
		p.output("hello")
		r.screen.seen(t, "hello")
		r.screen.mu.Lock()
		r.screen.cols = 100
		r.screen.mu.Unlock()
		r.screen.changed <- struct{}{}
		if m := p.want("resize"); m["cols"] != 100.0 || m["rows"] != 24.0 {
			t.Errorf("%v", m)
		}
		p.status(`{"type":"closed","session_id":%q,"exit_code":0}`, sessionID)
	})
	if code := r.run("terminal", "--channel", "p1"); code != exitOK {
		t.Errorf("exit %d", code)
	}
}

func TestTerminalFailures(t *testing.T) {
	for name, tc := range map[string]struct {
		do   func(p peer)
		code int
		says string
	}{
		"refused": {func(p peer) {
			p.want("create")
			p.status(`{"type":"error","error_code":"session_failed","message":"Docker does not \u001b[31manswer.","remedy":"Start it."}`)
		}, exitFailed, "Start it."},
		"gone while opening": {func(p peer) { p.want("create") }, exitFailed, "went away"},
		"gone later": {func(p peer) {
			p.want("create")
			p.status(created)
			p.output("hello")
		}, exitFailed, "loop terminal --attach " + sessionID},
		"closed elsewhere": {func(p peer) {
			p.want("create")
			p.status(created)
			p.status(`{"type":"stopped"}`)
		}, exitOK, "was closed"},
		"the view is lost": {func(p peer) {
			p.want("create")
			p.status(created)
			p.status(`{"type":"closed","message":"The screen is lost."}`)
		}, exitFailed, "The screen is lost."},
		"rubbish":   {func(p peer) { p.want("create"); p.output("x") }, exitFailed, "different versions"},
		"odd":       {func(p peer) { p.want("create"); p.status(`{"type":"hm"}`) }, exitFailed, "different versions"},
		"odd later": {func(p peer) { p.want("create"); p.status(created); p.status(`[`) }, exitFailed, "different versions"},
		"odd code": {func(p peer) {
			p.want("create")
			p.status(created)
			p.status(`{"type":"closed","exit_code":-1}`)
		}, exitFailed, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r, _ := newTreeRig(t)
			r.withScreen()
			r.speak(tc.do)
			if code := r.run("terminal", "--channel", "p1"); code != tc.code {
				t.Errorf("exit %d", code)
			}
			r.wantIn("err", tc.says)
			if r.screen.raw != 0 || strings.Contains(r.err.String(), "\x1b[31m") {
				t.Error("the terminal is not as it was")
			}
		})
	}
}

func TestTerminalCommands(t *testing.T) {
	list := []core.TerminalInfo{
		{ID: sessionID, Title: "vim \u202e", State: core.TerminalRunning, Target: core.TargetHost, Cols: 80, Rows: 24, Recording: "x"},
		{ID: core.TerminalID("1f40" + sessionID[4:]), State: core.TerminalEnded, Exit: &core.TerminalExit{Code: 3}},
	}
	for _, tc := range []struct {
		args []string
		want string
		says string
	}{
		{[]string{"terminal", "list"}, `Terminals.List [""]`, "ended (3)"},
		{[]string{"terminal", "list", "--channel", "App"}, `Terminals.List ["p1"]`, "running, recorded"},
		{[]string{"terminal", "list", "--dir", "DIR", "--json"}, `Terminals.List ["p1"]`, sessionID},
		{[]string{"terminal", "close", "1f3"}, `Terminals.Close ["` + sessionID + `"]`, "Closed."},
		{[]string{"terminal", "record", sessionID, "on"}, `Terminals.Record ["` + sessionID + `",true]`, "Recorded as a.cast."},
		{[]string{"terminal", "record", "1f3", "off"}, `Terminals.Record ["` + sessionID + `",false]`, ""},
	} {
		r, a := newTreeRig(t)
		for i, arg := range tc.args {
			if arg == "DIR" {
				tc.args[i] = r.dir
			}
		}
		r.fake.answers["Terminals.List"] = list
		r.fake.answers["Terminals.Close"] = struct{}{}
		r.fake.answers["Terminals.Record"] = core.TerminalInfo{Recording: "a.cast"}
		if code := r.run(tc.args...); code != exitOK {
			t.Errorf("%v: exit %d", tc.args, code)
			continue
		}
		if last := a.args[len(a.args)-1]; last != tc.want {
			t.Errorf("%v asked %s, want %s", tc.args, last, tc.want)
		}
		r.wantIn("out", tc.says)
		if strings.Contains(r.out.String(), "\u202e") && tc.args[len(tc.args)-1] != "--json" {
			t.Error("a title turned the line around")
		}
	}
}

func TestTerminalMistakes(t *testing.T) {
	for _, tc := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"terminal", "vim"}, exitUsage, "after --"},
		{[]string{"terminal", "vim", "--", "x"}, exitUsage, "after --"},
		{[]string{"terminal", "--fresh", "--fork"}, exitUsage, "do not go together"},
		{[]string{"terminal", "--host", "--resume"}, exitUsage, "do not go together"},
		{[]string{"terminal", "--attach", "1", "--host"}, exitUsage, "do not go together"},
		{[]string{"terminal", "--attach", "1", "--", "vim"}, exitUsage, "do not go together"},
		{[]string{"terminal", "--detach-key", "x"}, exitUsage, "detach-key"},
		{[]string{"terminal", "--channel", "p1"}, exitFailed, "No Loop is running"},
		{[]string{"terminal", "close"}, exitUsage, "the session is missing"},
		{[]string{"terminal", "close", "zz"}, exitUsage, "There is no terminal session"},
		{[]string{"terminal", "close", "1f"}, exitUsage, "begin with"},
		{[]string{"terminal", "close", ""}, exitUsage, "the session is empty"}, // an empty variable of a script
		{[]string{"terminal", "record", "", "on"}, exitUsage, "the session is empty"},
		{[]string{"terminal", "--attach", ""}, exitUsage, "--attach names no session"},
		{[]string{"terminal", "record", "1f3", "maybe"}, exitUsage, "neither on nor off"},
	} {
		r, _ := newTreeRig(t)
		r.fake.answers["Terminals.List"] = []core.TerminalInfo{{ID: sessionID}, {ID: core.TerminalID("1f40" + sessionID[4:])}}
		want := tc.code
		if tc.says == "No Loop is running" {
			want = exitUsage // the session is not found, before anything began
		}
		if code := r.run(tc.args...); code != want {
			t.Errorf("%v: exit %d", tc.args, code)
		}
		r.wantIn("err", tc.says)
	}
	r, _ := newTreeRig(t) // pipes are not a terminal
	r.speak(func(peer) {})
	if code := r.run("terminal", "--channel", "p1"); code != exitUsage {
		t.Errorf("exit %d", code)
	}
	r.wantIn("err", "needs a terminal")
}

// TestHostTerminalNeedsNoChannel: a terminal on this computer works without a channel,
// and passes on the one it was given.
func TestHostTerminalNeedsNoChannel(t *testing.T) {
	for _, tc := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--dir", "DIR"}, exitOK, `"p1"`},
		{nil, exitOK, `null`},
		{[]string{"--channel", "nobody"}, exitUsage, ""},
	} {
		r, _ := newTreeRig(t)
		r.withScreen()
		for i, arg := range tc.args {
			if arg == "DIR" {
				tc.args[i] = r.dir
			}
		}
		r.speak(func(p peer) {
			m := p.want("create")
			if b, _ := json.Marshal(m["channel_id"]); string(b) != tc.want || m["target"] != "host" {
				t.Errorf("%v", m)
			}
			p.status(created)
			p.status(`{"type":"closed","exit_code":0}`)
		})
		if code := r.run(append([]string{"terminal", "--host"}, tc.args...)...); code != tc.code {
			t.Errorf("%v: exit %d", tc.args, code)
		}
	}
}
