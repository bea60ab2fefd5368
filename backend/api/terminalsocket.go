package api

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"

	"loop/backend/core"
)

// Bounds of a terminal socket.
const (
	maxTermMessage  = 1 << 20         // more is refused
	maxTermRead     = 16 << 20        // more than this in one message ends the socket: it is no terminal's
	termFrame       = 64 << 10        // of binary output; measured, as the numbers of flow control in package terminal
	termWriteBudget = 5 * time.Minute // for one frame; a page may stand still in a debugger, and nobody waits for it
	termGoodbye     = time.Second     // for a client to answer that Loop is closing
)

// Terminals keeps terminal sessions. Methods are called from the goroutines of a
// socket and of calls; the person sees their errors.
type Terminals interface {
	Create(ctx context.Context, spec core.TerminalSpec) (core.TerminalInfo, error)
	Attach(ctx context.Context, id core.TerminalID, wishes core.TerminalAttach) (core.TerminalViewer, error)
	Input(ctx context.Context, id core.TerminalID, p []byte) error
	Resize(ctx context.Context, id core.TerminalID, cols, rows uint16) error
	CloseSession(ctx context.Context, id core.TerminalID) error
	Stop(ctx context.Context, id core.TerminalID) error
	Kill(ctx context.Context, ch core.ChannelID) error
}

// Screens is what a session shows; Terminals keeps it too.
type Screens interface {
	Record(ctx context.Context, id core.TerminalID, on bool) (core.TerminalInfo, error)
	Clear(ctx context.Context, id core.TerminalID) error
	Colors(ctx context.Context, id core.TerminalID, c core.TerminalColors) error
}

// serveTerminal speaks the terminal protocol of docs/protocol.md on one socket.
// The end of a socket detaches its session and nothing else.
func (s *Server) serveTerminal(w http.ResponseWriter, r *http.Request) {
	s.conns.Add(1) // before the connection is taken from the server, whose Shutdown no longer waits for it then
	defer s.conns.Done()
	conn := s.accept(w, r, maxTermRead)
	if conn == nil {
		return
	}
	defer conn.CloseNow()
	t := newTermSocket(s, conn)
	defer t.end()

	// Reading ends with the connection and not with the server, so that the
	// client can be told why.
	read := make(chan struct{})
	go func() {
		defer close(read)
		t.read(context.WithoutCancel(r.Context()))
	}()
	select {
	case <-read:
		return
	case <-t.ctx.Done(): // the server closes, or nobody takes what is written
	}
	t.typed.close() // room may be waited for there, and for messages
	t.inbox.close()
	// The connection itself is ended, because the library would wait five
	// seconds for an answer to its goodbye.
	raw, _ := r.Context().Value(connKey{}).(net.Conn)
	late := time.AfterFunc(s.termGoodbye, func() { _ = raw.Close() })
	defer late.Stop()
	if s.ctx.Err() != nil {
		_ = conn.Close(websocket.StatusGoingAway, "loop is closing")
	}
	_ = raw.Close()
	<-read
}

// connKey is where a request's context has its connection.
type connKey struct{}

// termSocket is one client. The goroutine that follows messages owns the fields
// without a comment; reading, input, sizes and output have goroutines of their own.
type termSocket struct {
	ctx     context.Context // ends with the socket
	stop    context.CancelFunc
	conn    *websocket.Conn
	svc     Terminals
	screens Screens
	inbox   *queue // from the reader

	cur *attached // nil: nothing is attached

	work    sync.WaitGroup
	writing sync.Mutex // from the first to the last frame of what belongs together
	budget  time.Duration

	typed      *queue
	typing     context.Context // of input; outlives the socket by farewell
	farewell   time.Duration
	stopTyping context.CancelFunc
	sizes      sizer
}

func newTermSocket(s *Server, conn *websocket.Conn) *termSocket {
	t := &termSocket{conn: conn, svc: s.opts.Terminals, screens: s.opts.Screens, budget: s.termBudget, farewell: s.termFarewell,
		inbox: newQueue(maxUnfollowed), typed: newQueue(maxTyped), sizes: newSizer()}
	t.ctx, t.stop = context.WithCancel(s.ctx)
	t.typing, t.stopTyping = context.WithCancel(s.ctx)
	t.work.Go(t.typeInto)
	t.work.Go(func() {
		t.sizes.run(t.ctx, func(z sizeWish) { // s.ctx: the last one before a client left counts too
			if err := t.svc.Resize(s.ctx, z.id, z.cols, z.rows); err != nil {
				t.fail("resize", z.id, refusalOf(err))
			}
		})
	})
	return t
}

// end detaches and waits for every goroutine. Input that was sent before still goes
// to its program, within t.farewell.
func (t *termSocket) end() {
	t.stop()
	t.detach()
	t.typed.close()
	close(t.sizes)
	late := time.AfterFunc(t.farewell, t.stopTyping)
	defer late.Stop()
	t.work.Wait()
	t.stopTyping()
}

// read has messages followed until the connection ends, and then what came
// before its end.
func (t *termSocket) read(ctx context.Context) {
	var following sync.WaitGroup
	following.Go(t.followAll)
	defer following.Wait()
	defer t.inbox.close()
	var buf bytes.Buffer
	for {
		kind, r, err := t.conn.Reader(ctx)
		if err != nil {
			return
		}
		buf.Reset()
		if _, err := buf.ReadFrom(io.LimitReader(r, maxTermMessage+1)); err != nil {
			return
		}
		m := received{kind: kind}
		if m.long = buf.Len() > maxTermMessage; m.long {
			if _, err := io.Copy(io.Discard, r); err != nil {
				return
			}
		} else {
			m.data = bytes.Clone(buf.Bytes())
		}
		if !t.inbox.add(m) {
			return
		}
	}
}

func (t *termSocket) followAll() {
	for {
		m, ok := t.inbox.take()
		if !ok || t.ctx.Err() != nil {
			t.inbox.close() // nobody takes any more
			return
		}
		t.take(m)
	}
}

// take follows one message.
func (t *termSocket) take(in received) {
	if in.long {
		t.fail("", "", refuse(termInvalidInput, "Send it in pieces.", "The message is longer than %d bytes.", maxTermMessage))
		return
	}
	if in.kind == websocket.MessageBinary {
		if t.cur == nil {
			t.fail("input", "", errNoSession)
		} else if len(in.data) > 0 {
			t.typed.add(received{to: t.cur.id, data: in.data})
		}
		return
	}
	m, bad := decodeControl(in.data)
	if bad == nil {
		bad = t.follow(&m)
	}
	if bad != nil {
		t.fail(m.Type, m.SessionID, bad)
	}
}

func (t *termSocket) follow(m *control) *core.Failure {
	switch m.Type {
	case "create":
		return t.quietly(func() *core.Failure { return t.create(m) })
	case "attach":
		if !isSessionID(m.SessionID) {
			return errUnknownSession
		}
		return t.attach("attached", m.SessionID, core.TerminalAttach{Acks: m.Acks, Colors: m.TerminalSpec.Colors})
	case "stop":
		return t.over(m, t.svc.Stop)
	case "close":
		return t.over(m, t.svc.CloseSession)
	case "kill":
		return t.quietly(func() *core.Failure { return t.kill(m.ChannelID) })
	}
	if t.cur == nil {
		if m.Type == "ack" {
			return nil // of output that was on its way when the session was detached
		}
		return errNoSession
	}
	if bad := m.checkAttached(); bad != nil {
		return bad
	}
	var err error
	switch m.Type {
	case "input":
		t.typed.add(received{to: t.cur.id, data: m.input})
	case "resize":
		cols, rows := m.size()
		t.sizes.set(sizeWish{t.cur.id, cols, rows})
	case "ack":
		if m.SessionID == "" || m.SessionID == t.cur.id {
			t.cur.viewer.Ack(*m.Offset)
		}
	case "resync":
		t.cur.viewer.Resync()
	case "show":
		t.cur.hidden = !*m.Visible
		t.cur.viewer.Show(*m.Visible)
	case "colors":
		err = t.screens.Colors(t.ctx, t.cur.id, *m.TerminalSpec.Colors)
	case "clear":
		err = t.screens.Clear(t.ctx, t.cur.id)
	case "detach":
		id := t.cur.id
		t.detach()
		t.say(status{Type: "detached", SessionID: id})
	case "record":
		var info core.TerminalInfo
		if info, err = t.screens.Record(t.ctx, t.cur.id, *m.On); err == nil {
			t.say(status{Type: "recording", SessionID: t.cur.id, Name: &info.Recording})
		}
	}
	return refusalOf(err)
}

// quietly calls do, which may end the attached program or attach another session in
// its place. The client hears of that end only if the session stays attached.
func (t *termSocket) quietly(do func() *core.Failure) *core.Failure {
	held := t.cur
	if held == nil {
		return do()
	}
	held.hold()
	bad := do()
	if t.cur == held {
		held.release()
	}
	return bad
}

func (t *termSocket) create(m *control) *core.Failure {
	info, err := t.svc.Create(t.ctx, m.spec())
	if err != nil {
		return refusalOf(err)
	}
	m.SessionID = info.ID // an error from here on is about it
	return t.attach("created", info.ID, core.TerminalAttach{Acks: m.Acks})
}

// over closes or stops a session, the attached one if none is named. The answer
// is “stopped” alone: that the attached program ended on the way is no news.
func (t *termSocket) over(m *control, end func(context.Context, core.TerminalID) error) *core.Failure {
	id := m.SessionID
	if id == "" && t.cur != nil {
		id = t.cur.id
	}
	switch {
	case id == "":
		return errNoSession
	case !isSessionID(id):
		return errUnknownSession
	}
	mine := t.cur != nil && t.cur.id == id
	do := func() *core.Failure {
		if err := end(t.ctx, id); err != nil {
			return sessionRefusal(err)
		}
		if mine {
			t.detach()
		}
		t.say(status{Type: "stopped", SessionID: id})
		return nil
	}
	if mine {
		return t.quietly(do)
	}
	return do()
}

// kill removes a channel's container. That there is none is success.
func (t *termSocket) kill(ch core.ChannelID) *core.Failure {
	if err := t.svc.Kill(t.ctx, ch); err != nil {
		return refusalOf(err)
	}
	answer := status{Type: "stopped", ChannelID: ch}
	if t.cur != nil {
		if i := t.cur.viewer.Info(); i.ChannelID == ch && i.Target != core.TargetHost && i.State == core.TerminalEnded {
			answer.SessionID = t.cur.id
			t.detach()
		}
	}
	t.say(answer)
	return nil
}
