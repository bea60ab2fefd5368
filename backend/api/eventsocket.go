package api

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/coder/websocket"

	"loop/backend/core"
)

// Bounds on what a page may say on the event socket.
const (
	maxSubscribeBytes    = 64 << 10
	maxSubscribeChannels = 1000
)

// serveEvents streams events as JSON arrays, in order and without gaps. With
// launch and since in the query a page goes on where it was; when that is no
// longer possible the first event is a reset. A page that does not read for
// eventWriteBudget is let go and comes back by itself.
func (s *Server) serveEvents(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	only := newFilter(q["channels"])
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
	conn := s.accept(w, r, maxSubscribeBytes)
	if conn == nil {
		return
	}
	var listening sync.WaitGroup
	listening.Go(func() {
		defer stop()
		hear(ctx, conn, only)
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
			if batch = only.pass(batch); len(batch) == 0 {
				continue
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

// hear takes what the page says until it leaves; pings are answered on the
// way. A message that is no subscription ends the socket: a page of this
// version sends nothing else.
func hear(ctx context.Context, conn *websocket.Conn, only *filter) {
	for {
		kind, data, err := conn.Read(ctx)
		if err != nil {
			return
		}
		var m struct {
			Type     string   `json:"type"`
			Channels []string `json:"channels"`
		}
		if kind != websocket.MessageText || json.Unmarshal(data, &m) != nil || m.Type != "subscribe" || len(m.Channels) > maxSubscribeChannels {
			_ = conn.Close(websocket.StatusPolicyViolation, `only {"type":"subscribe","channels":[…]} is understood`)
			return
		}
		only.set(m.Channels)
	}
}

// filter keeps a page's events to those of some channels. Events of no channel, and
// those that make up the list of channels, always pass.
type filter struct {
	mu       sync.Mutex
	channels map[core.ChannelID]bool // none: everything
	skipped  uint64                  // the first number that was held back since the last event that passed
}

func newFilter(lists []string) *filter {
	f := &filter{}
	var ids []string
	for _, list := range lists {
		ids = append(ids, strings.FieldsFunc(list, func(r rune) bool { return r == ',' })...)
	}
	f.set(ids[:min(len(ids), maxSubscribeChannels)])
	return f
}

// set replaces the filter; none means everything.
func (f *filter) set(ids []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.channels = map[core.ChannelID]bool{}
	for _, id := range ids {
		f.channels[core.ChannelID(id)] = true
	}
}

// global are events of a channel that every page needs: the tree, its words of
// state and the list of containers are made of them.
var global = map[core.EventType]bool{
	core.EventChannelCreated: true, core.EventChannelUpdated: true, core.EventChannelDeleted: true,
	core.EventContainerAdded: true, core.EventContainerChanged: true, core.EventContainerRemoved: true,
	core.EventStatus: true, core.EventTalk: true, core.EventQueueChanged: true,
	core.EventAskUser: true, core.EventExitPlan: true, core.EventAskResolved: true, core.EventPlanResolved: true,
}

func (f *filter) pass(batch []core.Event) []core.Event {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := batch[:0]
	for _, e := range batch {
		if e.ChannelID != "" && len(f.channels) > 0 && !f.channels[e.ChannelID] && !global[e.Type] {
			f.skipped = cmp.Or(f.skipped, e.FirstSeq, e.Seq)
			continue
		}
		if f.skipped != 0 && e.Type != core.EventReset {
			e.FirstSeq = f.skipped
		}
		f.skipped = 0
		out = append(out, e)
	}
	return out
}
