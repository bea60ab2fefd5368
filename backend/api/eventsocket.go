package api

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"sync"

	"github.com/coder/websocket"

	"loop/backend/core"
)

// maxEventMessage bounds a message of a page, in bytes. A page says nothing on the
// event socket.
const maxEventMessage = 1 << 10

// serveEvents streams events as JSON arrays, in order and without gaps. With
// launch and since in the query a page goes on where it was; when that is no
// longer possible the first event is a reset. A page that does not read for
// eventWriteBudget is let go and comes back by itself. A message of the page ends the
// socket.
func (s *Server) serveEvents(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	launch, since := q.Get("launch"), uint64(0)
	if text := q.Get("since"); text == "" {
		launch = ""
	} else {
		var err error
		if since, err = strconv.ParseUint(text, 10, 64); err != nil {
			writeFailure(w, core.Fail(core.CodeInvalid, nil, "“since” is not the number of an event.", "Leave it out to start from now."))
			return
		}
		launch = cmp.Or(launch, "none") // numbers mean nothing without their launch
	}
	ctx, stop := context.WithCancel(s.ctx)
	defer stop()
	// Followed before the upgrade is answered: whatever happens after a page
	// knows its socket is open reaches it.
	events := s.opts.Events.Follow(ctx, launch, since)
	s.conns.Add(1) // before the connection is taken from the server, whose Shutdown no longer waits for it then
	defer s.conns.Done()
	conn := s.accept(w, r, maxEventMessage)
	if conn == nil {
		return
	}
	var listening sync.WaitGroup
	listening.Go(func() { // pings are answered on the way
		defer stop()
		if _, _, err := conn.Read(ctx); err == nil {
			_ = conn.Close(websocket.StatusPolicyViolation, "a page says nothing here")
		}
	})
	defer listening.Wait()
	defer conn.CloseNow()
	defer stop()
	for {
		select {
		case <-ctx.Done():
			_ = conn.Close(websocket.StatusGoingAway, "loop is closing")
			return
		case batch, ok := <-events:
			if !ok {
				_ = conn.Close(websocket.StatusGoingAway, "loop is closing")
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
