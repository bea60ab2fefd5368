package api

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"io"
	"math"
	"net"
	"net/http"
	"time"

	"github.com/coder/websocket"

	"loop/backend/core"
)

// Bounds of a browser's socket.
const (
	maxBrowserMessage  = 8 << 20          // text that is pasted comes in one message, in JSON
	browserWriteBudget = 30 * time.Second // for one frame; a pane that takes longer is let go and comes back
	frameHeader        = 16               // id, flags, time
	flagSharp          = 1
)

// Browsers opens panes on the browsers of channels.
type Browsers interface {
	Watch(ctx context.Context, ch core.ChannelID, view core.BrowserView) (core.BrowserViewer, error)
	// PutFile gives a person's file to a channel's browser, and says where a page finds it there.
	PutFile(ctx context.Context, ch core.ChannelID, name string, r io.Reader) (inside string, err error)
}

// serveBrowser speaks the protocol of docs/protocol.md on one socket. The end of a socket
// closes its pane and nothing else.
func (s *Server) serveBrowser(w http.ResponseWriter, r *http.Request) {
	s.conns.Add(1)
	defer s.conns.Done()
	conn := s.accept(w, r, maxBrowserMessage)
	if conn == nil {
		return
	}
	defer conn.CloseNow()
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	raw, _ := r.Context().Value(connKey{}).(net.Conn)
	stop := context.AfterFunc(ctx, func() { _ = raw.Close() }) // a read or a write ends with it
	defer stop()

	say := func(u core.BrowserUpdate) error { return writeUpdate(ctx, conn, u) }
	m, err := readCommand(ctx, conn)
	if err != nil {
		return
	}
	if m.Type != "start" || m.ChannelID == "" || m.View == nil {
		_ = say(core.BrowserUpdate{Type: "error", Message: "The first message is not “start” with channel_id and view."})
		return
	}
	v, err := s.opts.Browsers.Watch(ctx, m.ChannelID, *m.View)
	if err != nil {
		f := core.AsFailure(err)
		_ = say(core.BrowserUpdate{Type: "error", Message: f.Cause + " " + f.Remedy})
		return
	}
	written := make(chan struct{})
	go func() { // ends with ctx or the pane
		defer close(written)
		defer cancel()
		for {
			u, err := v.Next(ctx)
			if err != nil || say(u) != nil {
				return
			}
		}
	}()
	for {
		m, err := readCommand(ctx, conn)
		if err != nil || m.Type == "stop" {
			break
		}
		v.Handle(m)
	}
	cancel()
	<-written
	if err := v.Close(); err != nil {
		s.opts.Log.Debug("close a browser's pane", "err", err)
	}
}

// readCommand reads one message. One that is no JSON of a command comes back as a command
// of no type, which the pane is told of.
func readCommand(ctx context.Context, conn *websocket.Conn) (m core.BrowserCommand, err error) {
	kind, data, err := conn.Read(ctx)
	if err != nil {
		return m, err
	}
	if kind == websocket.MessageText && json.Unmarshal(data, &m) == nil {
		return m, nil
	}
	return core.BrowserCommand{Type: "?"}, nil
}

// writeUpdate writes one message: a frame in binary, behind its header, or JSON.
func writeUpdate(ctx context.Context, conn *websocket.Conn, u core.BrowserUpdate) error {
	ctx, cancel := context.WithTimeout(ctx, browserWriteBudget)
	defer cancel()
	if u.Frame == nil {
		data, err := json.Marshal(u)
		if err != nil {
			return err
		}
		return conn.Write(ctx, websocket.MessageText, data)
	}
	buf := make([]byte, frameHeader, frameHeader+len(u.Frame.JPEG))
	binary.BigEndian.PutUint32(buf, u.FrameID)
	if u.Frame.Sharp {
		binary.BigEndian.PutUint32(buf[4:], flagSharp)
	}
	binary.BigEndian.PutUint64(buf[8:], math.Float64bits(float64(u.Frame.Time)))
	return conn.Write(ctx, websocket.MessageBinary, append(buf, u.Frame.JPEG...))
}
