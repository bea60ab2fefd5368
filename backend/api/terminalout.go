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

// outgoing is what is written without anything in between: a status, then
// output. done is told when data may be used again.
type outgoing struct {
	status []byte
	data   []byte
	done   chan error
}

// write is the one goroutine that writes. A frame that is not taken in time
// ends the socket.
func (t *termSocket) write() {
	for {
		select {
		case o := <-t.out:
			err := t.writeAll(o)
			o.done <- err
			if err != nil {
				t.stop()
				return
			}
		case <-t.ctx.Done():
			return
		}
	}
}

func (t *termSocket) writeAll(o outgoing) error {
	if o.status != nil {
		if err := t.writeFrame(websocket.MessageText, o.status); err != nil {
			return err
		}
	}
	for p := o.data; len(p) > 0; {
		n := min(len(p), termFrame)
		if err := t.writeFrame(websocket.MessageBinary, p[:n]); err != nil {
			return err
		}
		p = p[n:]
	}
	return nil
}

func (t *termSocket) writeFrame(kind websocket.MessageType, p []byte) error {
	ctx, cancel := context.WithTimeout(t.ctx, t.budget)
	defer cancel()
	return t.conn.Write(ctx, kind, p)
}

// send hands to the writer and waits, so that data may be reused. done belongs
// to the caller and has room for one.
func (t *termSocket) send(m *status, data []byte, done chan error) error {
	o := outgoing{data: data, done: done}
	if m != nil {
		b, err := json.Marshal(m)
		if err != nil {
			return err
		}
		o.status = b
	}
	select {
	case t.out <- o:
		return <-done
	case <-t.ctx.Done():
		return t.ctx.Err()
	}
}

// say sends one status. When that cannot be, the socket is ending.
func (t *termSocket) say(m status) { _ = t.send(&m, nil, make(chan error, 1)) }

// fail answers a message of type request that was not followed.
func (t *termSocket) fail(request string, id core.TerminalID, r *refusal) {
	if r.code == termUnknownMessage || r.code == termInvalidJSON {
		request = "" // whatever it was called
	}
	if !isSessionID(id) {
		id = ""
	}
	t.say(status{Type: "error", Request: request, SessionID: id, Message: r.message, ErrorCode: r.code, Remedy: r.remedy})
}

// attached is the session that a socket shows.
type attached struct {
	id     core.TerminalID
	viewer core.TerminalViewer
	stop   context.CancelFunc
	gone   chan struct{} // closed when nothing more is shown
	hidden bool          // as the client says; the following goroutine's

	mu     sync.Mutex
	held   bool // the end of the program is not told now
	ended  *status
	tell   func(status)
	spoken bool
}

// attach shows a session in place of the attached one, beginning with a status
// of the given type and the screen as it is. An error leaves the attached one.
func (t *termSocket) attach(kind string, id core.TerminalID, wishes core.TerminalAttach) *refusal {
	v, err := t.svc.Attach(t.ctx, id, wishes)
	if err != nil {
		return t.sessionRefusal(err)
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
	_ = t.send(&m, first.Data, make(chan error, 1))
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

// show writes what the viewer sees until the session ends or is detached.
func (t *termSocket) show(ctx context.Context, a *attached) {
	done := make(chan error, 1)
	for {
		f, err := a.viewer.Next(ctx)
		if ctx.Err() != nil {
			return
		}
		if errors.Is(err, io.EOF) {
			a.finish(status{Type: "closed", SessionID: a.id})
			return
		}
		if err != nil {
			r := refusalOf(err)
			a.finish(status{Type: "closed", SessionID: a.id, Message: r.message, Remedy: r.remedy})
			return
		}
		switch f.Kind {
		case core.FrameOutput:
			err = t.send(nil, f.Data, done)
		case core.FrameSnapshot:
			n := len(f.Data)
			err = t.send(&status{Type: "resync", SessionID: a.id, Cols: f.Cols, Rows: f.Rows, Offset: &f.Offset, Snapshot: &n}, f.Data, done)
		case core.FrameResized:
			err = t.send(&status{Type: "resized", SessionID: a.id, Cols: f.Cols, Rows: f.Rows, Offset: &f.Offset}, nil, done)
		case core.FrameEnded:
			m := status{Type: "closed", SessionID: a.id}
			if f.Exit != nil {
				m.ExitCode, m.Signal, m.Message = &f.Exit.Code, f.Exit.Signal, f.Exit.Reason
			}
			a.finish(m)
			return
		}
		if err != nil {
			return
		}
	}
}

// finish tells that the program ended, now or when that is no longer held back.
func (a *attached) finish(m status) {
	a.mu.Lock()
	a.ended = &m
	a.mu.Unlock()
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
	a.mu.Unlock()
	a.flush()
	if !a.hidden {
		a.viewer.Show(true)
	}
}

func (a *attached) flush() {
	a.mu.Lock()
	m := a.ended
	now := m != nil && !a.held && !a.spoken
	a.spoken = a.spoken || now
	a.mu.Unlock()
	if now {
		a.tell(*m)
	}
}
