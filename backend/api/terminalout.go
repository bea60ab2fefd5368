package api

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"github.com/coder/websocket"

	"loop/backend/core"
)

// send writes a status, output, or both with nothing in between, and returns when
// data may be used again. A frame that is not taken in time ends the socket.
func (t *termSocket) send(m *status, data []byte) error {
	t.writing.Lock()
	defer t.writing.Unlock()
	err := t.ctx.Err()
	if err == nil && m != nil {
		var b []byte
		if b, err = json.Marshal(m); err == nil {
			err = t.writeFrame(websocket.MessageText, b)
		}
	}
	for err == nil && len(data) > 0 {
		n := min(len(data), termFrame)
		err = t.writeFrame(websocket.MessageBinary, data[:n])
		data = data[n:]
	}
	if err != nil {
		t.stop()
	}
	return err
}

func (t *termSocket) writeFrame(kind websocket.MessageType, p []byte) error {
	ctx, cancel := context.WithTimeout(t.ctx, t.budget)
	defer cancel()
	return t.conn.Write(ctx, kind, p)
}

// say sends one status. When that cannot be, the socket is ending.
func (t *termSocket) say(m status) { _ = t.send(&m, nil) }

// fail answers a message of type request that was not followed.
func (t *termSocket) fail(request string, id core.TerminalID, r *core.Failure) {
	if r.Code == termUnknownMessage || r.Code == termInvalidJSON {
		request = "" // whatever it was called
	}
	if !isSessionID(id) {
		id = ""
	}
	t.say(status{Type: "error", Request: request, SessionID: id, Message: r.Cause, ErrorCode: r.Code, Remedy: r.Remedy})
}

// attached is the session that a socket shows.
type attached struct {
	id     core.TerminalID
	viewer core.TerminalViewer
	stop   context.CancelFunc
	gone   chan struct{} // closed when nothing more is shown
	hidden bool          // as the client says; the following goroutine's

	mu    sync.Mutex
	held  bool    // the end of the program is not told now
	ended *status // what is to be told of it
	tell  func(status)
}

// attach shows a session in place of the attached one, beginning with a status
// of the given type and the screen as it is. An error leaves the attached one.
func (t *termSocket) attach(kind string, id core.TerminalID, wishes core.TerminalAttach) *core.Failure {
	v, err := t.svc.Attach(t.ctx, id, wishes)
	if err != nil {
		return sessionRefusal(err)
	}
	a := &attached{id: id, viewer: v, gone: make(chan struct{}), tell: t.say}
	ctx, stop := context.WithCancel(t.ctx)
	a.stop = stop
	first, err := v.Next(ctx)
	if err == nil && first.Kind != core.FrameSnapshot {
		err = core.Fail(core.CodeInternal, nil, "The session did not show its screen.", "Attach again.")
	}
	if err != nil {
		stop()
		v.Close()
		if errors.Is(err, io.EOF) {
			return errUnknownSession // it was closed just now
		}
		return refusalOf(err)
	}
	i := v.Info()
	n := len(first.Data)
	m := status{
		Type: kind, SessionID: id, ChannelID: i.ChannelID, ContainerID: i.ContainerID, Target: i.Target, State: i.State, Title: &i.Title,
		Cols: first.Cols, Rows: first.Rows, Offset: &first.Offset, Snapshot: &n,
	}
	t.detach()
	_ = t.send(&m, first.Data)
	t.cur = a
	go func() {
		defer close(a.gone)
		t.show(ctx, a)
	}()
	return nil
}

// detach lets go of the attached session and waits until nothing more of it is
// written.
func (t *termSocket) detach() {
	if t.cur == nil {
		return
	}
	t.cur.stop()
	<-t.cur.gone
	t.cur.viewer.Close()
	t.cur = nil
}

// show writes the viewer's frames until the session ends or is detached.
func (t *termSocket) show(ctx context.Context, a *attached) {
	for {
		f, err := a.viewer.Next(ctx)
		if ctx.Err() != nil {
			return
		}
		over := status{Type: "closed", SessionID: a.id}
		if err != nil {
			if r := refusalOf(err); !errors.Is(err, io.EOF) {
				over.Message, over.Remedy = r.Cause, r.Remedy
			}
			a.finish(over)
			return
		}
		switch f.Kind {
		case core.FrameOutput:
			err = t.send(nil, f.Data)
		case core.FrameSnapshot:
			n := len(f.Data)
			err = t.send(&status{Type: "resync", SessionID: a.id, Cols: f.Cols, Rows: f.Rows, Offset: &f.Offset, Snapshot: &n}, f.Data)
		case core.FrameResized:
			err = t.send(&status{Type: "resized", SessionID: a.id, Cols: f.Cols, Rows: f.Rows, Offset: &f.Offset}, nil)
		case core.FrameEnded:
			if f.Exit != nil {
				over.ExitCode, over.Signal, over.Message = &f.Exit.Code, f.Exit.Signal, f.Exit.Reason
			}
			a.finish(over)
			return
		}
		if err != nil {
			return
		}
	}
}

// finish tells the client that the program ended: now, or when that is no longer
// held back.
func (a *attached) finish(m status) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended = &m
	a.flush()
}

// hold keeps the end of the program back while it is being ended on purpose.
// The viewer is hidden meanwhile: acknowledgements are not heard, and what is
// being ended must not be held up by that.
func (a *attached) hold() {
	a.mu.Lock()
	a.held = true
	a.mu.Unlock()
	a.viewer.Show(false)
}

func (a *attached) release() {
	a.mu.Lock()
	a.held = false
	a.flush()
	a.mu.Unlock()
	if !a.hidden {
		a.viewer.Show(true)
	}
}

// flush is called with the lock held.
func (a *attached) flush() {
	if a.ended != nil && !a.held {
		a.tell(*a.ended)
		a.ended = nil
	}
}
