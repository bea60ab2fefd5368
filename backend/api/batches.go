package api

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"loop/backend/bus"
	"loop/backend/core"
)

// batchWindow is how long events are gathered for a page: one frame at 60 Hz.
// A stream of small deltas then costs a page one message a frame.
const batchWindow = 16 * time.Millisecond

// maxBatch bounds one message to a page, in events.
const maxBatch = 256

// Batches gives each page its stream of a bus's events. A page that stalls is
// caught up from the bus's ring; one that was away too long gets a reset event.
type Batches struct {
	bus   *bus.Bus
	pumps sync.WaitGroup
}

var _ EventSource = (*Batches)(nil)

// NewBatches makes streams of b.
func NewBatches(b *bus.Bus) *Batches { return &Batches{bus: b} }

// Follow implements EventSource: a page that missed what is no longer kept gets a
// reset event first.
func (b *Batches) Follow(ctx context.Context, launch string, since uint64) <-chan []core.Event {
	if launch == "" {
		launch, since = b.bus.Launch(), b.bus.Seq()
	}
	sub, resumed := b.bus.Resume(launch, since)
	out := make(chan []core.Event)
	p := pump{bus: b.bus, sub: sub, out: out, quit: ctx.Done()}
	b.pumps.Go(func() {
		defer close(out)
		defer sub.Close()
		for on := resumed || p.send([]core.Event{p.reset()}); on; {
			on = p.round()
		}
	})
	return out
}

// Wait returns when every stream has ended, after the bus was closed.
func (b *Batches) Wait() { b.pumps.Wait() }

// pump sends one page what its subscription gives.
type pump struct {
	bus  *bus.Bus
	sub  *bus.Subscription
	out  chan<- []core.Event
	quit <-chan struct{}
}

// round waits for events, gathers a frame of them and sends it.
func (p pump) round() bool {
	select {
	case <-p.sub.Wake():
	case <-p.quit:
		return false
	}
	select {
	case <-time.After(batchWindow):
	case <-p.quit:
		return false
	}
	for {
		got, err := p.sub.Next(maxBatch)
		switch {
		case errors.Is(err, bus.ErrOverflow):
			got = []core.Event{p.reset()}
		case err != nil:
			return false
		case len(got) == 0:
			return true
		}
		if !p.send(join(got)) {
			return false
		}
	}
}

func (p pump) send(batch []core.Event) bool {
	select {
	case p.out <- batch:
		return true
	case <-p.quit:
		return false
	}
}

// reset is the event after which a stream goes on from the newest number. A snapshot
// that is taken after it holds everything up to there.
func (p pump) reset() core.Event {
	e := core.NewEvent(core.EventReset, "", "", time.Now(), map[string]string{"launch": p.bus.Launch()})
	e.Seq = p.bus.Seq()
	return e
}

// join makes one event of the pieces of one block that follow each other in a
// channel. The joined event takes the place of the last piece, so the order of
// everything else stays; no text moves past another event of its channel.
func join(in []core.Event) []core.Event {
	type open struct {
		at    int
		piece core.MessageStreaming
	}
	if len(in) == 0 {
		return in
	}
	next := in[0].Seq
	pieces := map[core.ChannelID]open{}
	gone := make([]bool, len(in))
	for i, e := range in {
		if e.Type != core.EventMessageStreaming {
			delete(pieces, e.ChannelID)
			continue
		}
		var m core.MessageStreaming
		if json.Unmarshal(e.Data, &m) != nil {
			delete(pieces, e.ChannelID)
			continue
		}
		if o, ok := pieces[e.ChannelID]; ok && o.piece.MsgID == m.MsgID && o.piece.Block == m.Block && o.piece.Kind == m.Kind &&
			in[o.at].RunID == e.RunID && o.piece.Offset+len(o.piece.Delta) == m.Offset {
			m.Offset, m.Delta = o.piece.Offset, o.piece.Delta+m.Delta
			gone[o.at] = true
			if raw, err := json.Marshal(m); err == nil {
				in[i].Data = raw
			}
		}
		pieces[e.ChannelID] = open{i, m}
	}
	out := in[:0]
	for i, e := range in {
		if gone[i] {
			continue
		}
		if e.Seq != next {
			e.FirstSeq = next
		}
		next = e.Seq + 1
		out = append(out, e)
	}
	return out
}
