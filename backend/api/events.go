package api

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/coder/websocket"
)

// serveEvents streams events as JSON arrays, in order and without gaps, from
// the moment of the upgrade. A page that falls behind is closed with
// StatusTryAgainLater: it takes a new snapshot and subscribes again.
func (s *Server) serveEvents(w http.ResponseWriter, r *http.Request) {
	// Host and Origin were checked exactly by the front door, so the library's
	// own same-host rule would only refuse the webview's origin.
	// Subscribed before the upgrade is answered: whatever happens after a page
	// knows its socket is open reaches it.
	events, cancel := s.opts.Events.SubscribeEvents()
	defer cancel()
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{
		Subprotocols:       []string{subprotocol},
		InsecureSkipVerify: true,
		CompressionMode:    websocket.CompressionDisabled,
	})
	if err != nil {
		s.opts.Log.Debug("event socket refused", "err", err)
		return
	}
	s.conns.Add(1)
	defer s.conns.Done()
	defer conn.CloseNow()
	// The page sends nothing; CloseRead answers pings and ends ctx when it leaves.
	ctx, stop := context.WithCancel(conn.CloseRead(s.ctx))
	defer stop()
	for {
		select {
		case <-ctx.Done():
			_ = conn.Close(websocket.StatusGoingAway, "loop is closing")
			return
		case batch, ok := <-events:
			if !ok {
				_ = conn.Close(websocket.StatusTryAgainLater, "fell behind: take a new snapshot")
				return
			}
			data, err := json.Marshal(batch)
			if err != nil {
				s.opts.Log.Error("encode events", "err", err)
				return
			}
			wctx, done := context.WithTimeout(ctx, eventWriteBudget)
			err = conn.Write(wctx, websocket.MessageText, data)
			done()
			if err != nil {
				return
			}
		}
	}
}
