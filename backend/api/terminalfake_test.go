package api

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"loop/backend/core"
)

const (
	firstID  core.TerminalID = "00000000000000000000000000000001"
	unusedID core.TerminalID = "ffffffffffffffffffffffffffffffff"
)

// fakeTerms is a service whose sessions do what a test sets.
type fakeTerms struct {
	mu       sync.Mutex
	sessions map[core.TerminalID]*fakeSession
	next     int
	calls    []string
	changed  chan struct{}
	fail     map[string]error              // by method
	block    map[string]chan struct{}      // the method waits until this closes
	during   map[string]func(*fakeSession) // called while the method runs
	screen   string                        // snapshot of a new session
}

type fakeSession struct {
	info    core.TerminalInfo
	viewers map[*fakeViewer]bool
}

func newFakeTerms() *fakeTerms {
	return &fakeTerms{sessions: map[core.TerminalID]*fakeSession{}, changed: make(chan struct{}), fail: map[string]error{},
		block: map[string]chan struct{}{}, during: map[string]func(*fakeSession){}, screen: "screen"}
}

// log notes a call, then waits or fails as the test has set.
func (f *fakeTerms) log(ctx context.Context, method, format string, args ...any) error {
	f.mu.Lock()
	f.calls = append(f.calls, strings.TrimSpace(method+" "+fmt.Sprintf(format, args...)))
	close(f.changed)
	f.changed = make(chan struct{})
	block, err := f.block[method], f.fail[method]
	f.mu.Unlock()
	if block != nil {
		select {
		case <-block:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return err
}

// patience is far more time than a loaded machine needs.
const patience = time.Minute

// waitCall waits until the call was noted, and returns how often it was.
func (f *fakeTerms) waitCall(t *testing.T, want string) {
	t.Helper()
	for late := time.After(patience); ; {
		f.mu.Lock()
		there, changed, calls := slices.Contains(f.calls, want), f.changed, slices.Clone(f.calls)
		f.mu.Unlock()
		if there {
			return
		}
		select {
		case <-changed:
		case <-late:
			t.Fatalf("no call %q among %q", want, calls)
		}
	}
}

func (f *fakeTerms) called(prefix string) (out []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.calls {
		if strings.HasPrefix(c, prefix) {
			out = append(out, c)
		}
	}
	return out
}

func (f *fakeTerms) get(id core.TerminalID) (*fakeSession, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s := f.sessions[id]; s != nil {
		return s, nil
	}
	return nil, core.Fail(core.CodeNotFound, core.ErrNotFound, "Gone, and in other words.", "Look elsewhere.")
}

func (f *fakeTerms) Create(ctx context.Context, spec core.TerminalSpec) (core.TerminalInfo, error) {
	b, _ := json.Marshal(spec)
	if err := f.log(ctx, "create", "%s", b); err != nil {
		return core.TerminalInfo{}, err
	}
	if spec.Colors != nil {
		_ = f.log(ctx, "wishes", "%v", *spec.Colors)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.next++
	info := core.TerminalInfo{ID: core.TerminalID(fmt.Sprintf("%032d", f.next)), ChannelID: spec.ChannelID, ContainerID: "c1", Target: core.TargetAgent, State: core.TerminalRunning, Title: "Shell", Cols: 80, Rows: 24}
	f.sessions[info.ID] = &fakeSession{info: info, viewers: map[*fakeViewer]bool{}}
	return info, nil
}

func (f *fakeTerms) Attach(ctx context.Context, id core.TerminalID, w core.TerminalAttach) (core.TerminalViewer, error) {
	if err := f.log(ctx, "attach", "%s acks=%v", id, w.Acks); err != nil {
		return nil, err
	}
	if w.Colors != nil {
		_ = f.log(ctx, "wishes", "%v", *w.Colors)
	}
	s, err := f.get(id)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	v := &fakeViewer{f: f, s: s, frames: make(chan core.TerminalFrame, 1024)}
	v.frames <- core.TerminalFrame{Kind: core.FrameSnapshot, Data: []byte(f.screen), Offset: 1000, Cols: 80, Rows: 24}
	s.viewers[v] = true
	return v, nil
}

func (f *fakeTerms) Input(ctx context.Context, id core.TerminalID, p []byte) error {
	return f.log(ctx, "input", "%s %q", id, p)
}

func (f *fakeTerms) Resize(ctx context.Context, id core.TerminalID, cols, rows uint16) error {
	return f.log(ctx, "resize", "%s %dx%d", id, cols, rows)
}

func (f *fakeTerms) end(ctx context.Context, method string, id core.TerminalID) error {
	err := f.log(ctx, method, "%s", id)
	s, missing := f.get(id)
	if missing != nil {
		return missing
	}
	if do := f.during[method]; do != nil {
		do(s)
	}
	if err == nil {
		f.mu.Lock()
		delete(f.sessions, id)
		f.mu.Unlock()
	}
	return err
}

func (f *fakeTerms) CloseSession(ctx context.Context, id core.TerminalID) error {
	return f.end(ctx, "close", id)
}

func (f *fakeTerms) Stop(ctx context.Context, id core.TerminalID) error {
	return f.end(ctx, "stop", id)
}

func (f *fakeTerms) Kill(ctx context.Context, ch core.ChannelID) error {
	err := f.log(ctx, "kill", "%s", ch)
	f.mu.Lock()
	all := []*fakeSession{}
	for _, s := range f.sessions {
		if s.info.ChannelID == ch {
			all = append(all, s)
		}
	}
	f.mu.Unlock()
	for _, s := range all {
		if err == nil {
			f.exit(s, core.TerminalExit{Code: -1})
		}
	}
	return err
}

func (f *fakeTerms) Record(ctx context.Context, id core.TerminalID, on bool) (core.TerminalInfo, error) {
	err := f.log(ctx, "record", "%s %v", id, on)
	i := core.TerminalInfo{ID: id}
	if on {
		i.Recording = "take-1.cast"
	}
	return i, err
}

func (f *fakeTerms) Clear(ctx context.Context, id core.TerminalID) error {
	return f.log(ctx, "clear", "%s", id)
}

func (f *fakeTerms) Colors(ctx context.Context, id core.TerminalID, c core.TerminalColors) error {
	return f.log(ctx, "colors", "%s %v", id, c)
}

// show sends a frame to every viewer of a session.
func (f *fakeTerms) show(id core.TerminalID, frame core.TerminalFrame) {
	s, err := f.get(id)
	if err != nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for v := range s.viewers {
		v.frames <- frame
	}
}

func (f *fakeTerms) exit(s *fakeSession, e core.TerminalExit) {
	f.mu.Lock()
	s.info.State = core.TerminalEnded
	f.mu.Unlock()
	f.show(s.info.ID, core.TerminalFrame{Kind: core.FrameEnded, Exit: &e})
}

// fakeViewer passes on the frames that it was given.
type fakeViewer struct {
	f      *fakeTerms
	s      *fakeSession
	frames chan core.TerminalFrame
	given  bool
	next   func(ctx context.Context) (core.TerminalFrame, error)
	acked  func(int64)
}

func (v *fakeViewer) Info() core.TerminalInfo {
	v.f.mu.Lock()
	defer v.f.mu.Unlock()
	return v.s.info
}

func (v *fakeViewer) Next(ctx context.Context) (core.TerminalFrame, error) {
	if v.next != nil && v.given {
		return v.next(ctx)
	}
	select {
	case f := <-v.frames:
		v.given = true
		switch f.Kind {
		case core.FrameEnded:
			v.next = func(context.Context) (core.TerminalFrame, error) { return core.TerminalFrame{}, io.EOF }
		case 0:
			return f, core.Fail(core.CodeInternal, nil, "The screen is lost.", "Attach again.")
		}
		return f, nil
	case <-ctx.Done():
		return core.TerminalFrame{}, ctx.Err()
	}
}

func (v *fakeViewer) Ack(n int64) {
	if v.acked != nil {
		v.acked(n)
		return
	}
	_ = v.f.log(context.Background(), "ack", "%s %d", v.s.info.ID, n)
}
func (v *fakeViewer) Resync() { _ = v.f.log(context.Background(), "resync", "%s", v.s.info.ID) }
func (v *fakeViewer) Show(b bool) {
	_ = v.f.log(context.Background(), "show", "%s %v", v.s.info.ID, b)
}

func (v *fakeViewer) Close() {
	v.f.mu.Lock()
	delete(v.s.viewers, v)
	v.f.mu.Unlock()
	_ = v.f.log(context.Background(), "detach", "%s", v.s.info.ID)
}

// terminals are all the interfaces that a server needs for terminals.
type terminals interface {
	Terminals
	Screens
}

// serveTerms runs a server with terminals; change may alter it before it serves.
func serveTerms(t testing.TB, f terminals, change func(*Server)) (*Server, *http.Client) {
	t.Helper()
	s, err := New(Options{Token: token, Terminals: f, Screens: f, Events: &source{}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(s)
	}
	return s, runs(t, s)
}

// termClient is a client's side of the protocol.
type termClient struct {
	t    testing.TB
	conn *websocket.Conn
}

func dialTerm(t testing.TB, s *Server, c *http.Client) *termClient {
	t.Helper()
	conn, _, err := websocket.Dial(t.Context(), "ws://"+s.Addr()+"/api/ws/terminal", &websocket.DialOptions{HTTPClient: c, Subprotocols: []string{"loop", "loop.token." + token}})
	if err != nil {
		t.Fatal(err)
	}
	conn.SetReadLimit(1 << 20)
	t.Cleanup(func() { conn.CloseNow() })
	return &termClient{t, conn}
}

func (c *termClient) say(text string) {
	c.t.Helper()
	if err := c.conn.Write(c.t.Context(), websocket.MessageText, []byte(text)); err != nil {
		c.t.Fatal(err)
	}
}

func (c *termClient) read() (websocket.MessageType, []byte) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), patience)
	defer cancel()
	kind, data, err := c.conn.Read(ctx)
	if err != nil {
		c.t.Fatal(err)
	}
	return kind, data
}

// status reads one text frame.
func (c *termClient) status() status {
	c.t.Helper()
	kind, data := c.read()
	if kind != websocket.MessageText {
		c.t.Fatalf("output %q where a status was expected", data)
	}
	var m status
	if err := json.Unmarshal(data, &m); err != nil {
		c.t.Fatalf("%s: %v", data, err)
	}
	return m
}

func (c *termClient) expect(typ string, code core.Code) status {
	c.t.Helper()
	m := c.status()
	if m.Type != typ || m.ErrorCode != code {
		c.t.Fatalf("%+v, want %s %s", m, typ, code)
	}
	return m
}

func (c *termClient) output(want string) {
	c.t.Helper()
	if kind, data := c.read(); kind != websocket.MessageBinary || string(data) != want {
		c.t.Fatalf("%v %q, want output %q", kind, data, want)
	}
}

// open creates a session and returns its id.
func (c *termClient) open() core.TerminalID {
	c.t.Helper()
	c.say(`{"type":"create","channel_id":"ch"}`)
	m := c.expect("created", "")
	c.output("screen")
	return m.SessionID
}
