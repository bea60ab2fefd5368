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
	b.pumps.Go(func() {
		defer close(out)
		defer sub.Close()
		send := func(batch []core.Event) bool {
			select {
			case out <- batch:
				return true
			case <-ctx.Done():
				return false
			}
		}
		for on := resumed || send([]core.Event{b.reset()}); on; {
			select {
			case <-sub.Wake():
			case <-ctx.Done():
				return
			}
			select {
			case <-time.After(batchWindow): // a frame of events is gathered
			case <-ctx.Done():
				return
			}
			on = b.drain(sub, send)
		}
	})
	return out
}

// Wait returns when every stream has ended, after the bus was closed.
func (b *Batches) Wait() { b.pumps.Wait() }

// drain sends what a subscription has; false when the stream is over.
func (b *Batches) drain(sub *bus.Subscription, send func([]core.Event) bool) bool {
	for {
		got, err := sub.Next(maxBatch)
		switch {
		case errors.Is(err, bus.ErrOverflow):
			got = []core.Event{b.reset()}
		case err != nil:
			return false
		case len(got) == 0:
			return true
		}
		if !send(join(got)) {
			return false
		}
	}
}

// reset is the event after which a stream goes on from the newest number. A snapshot
// that is taken after it holds everything up to there.
func (b *Batches) reset() core.Event {
	e := core.NewEvent(core.EventReset, "", "", time.Now(), map[string]string{"launch": b.bus.Launch()})
	e.Seq = b.bus.Seq()
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
		var m core.MessageStreaming
		if e.Type != core.EventMessageStreaming || json.Unmarshal(e.Data, &m) != nil {
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
