package api

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"loop/backend/bus"
	"loop/backend/core"
)

func TestBatchesKeepOrderAndGatherAFrame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := bus.New()
		pages := NewBatches(b)
		ctx, cancel := context.WithCancel(t.Context())
		out := pages.Follow(ctx, "", 0)
		for range 3 {
			b.Publish(core.Event{Type: core.EventNotice})
		}
		began := time.Now()
		got := <-out
		if len(got) != 3 || got[0].Seq != 1 || got[2].Seq != 3 {
			t.Errorf("%+v", got)
		}
		if took := time.Since(began); took != batchWindow {
			t.Errorf("gathered for %v", took)
		}
		// The stream must sleep again: awake, it would send the first of these alone.
		synctest.Wait()
		for range maxBatch + 1 {
			b.Publish(core.Event{Type: core.EventNotice})
		}
		if got = <-out; len(got) != maxBatch {
			t.Errorf("%d in a batch", len(got))
		}
		<-out
		cancel()
		pages.Wait()
		if _, ok := <-out; ok {
			t.Error("open after cancel")
		}
	})
}

func TestBatchesEndWithTheBus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := bus.New()
		pages := NewBatches(b)
		ctx, cancel := context.WithCancel(t.Context())
		out := pages.Follow(ctx, "", 0)
		defer cancel()
		b.Publish(core.Event{Type: core.EventNotice})
		b.Close()
		if got := <-out; len(got) != 1 {
			t.Errorf("%+v", got)
		}
		if _, ok := <-out; ok {
			t.Error("open after the bus closed")
		}
		pages.Wait()
	})
}

func TestAPageThatWasAwayIsReset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := bus.New()
		b.Publish(core.Event{Type: core.EventNotice}, core.Event{Type: core.EventNotice})
		pages := NewBatches(b)
		defer pages.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		out := pages.Follow(ctx, "another launch", 1)
		defer cancel()
		if got := <-out; len(got) != 1 || got[0].Type != core.EventReset || got[0].Seq != 2 || !strings.Contains(string(got[0].Data), b.Launch()) {
			t.Fatalf("%+v", got)
		}
		b.Publish(core.Event{Type: core.EventNotice})
		synctest.Wait()
		// This is synctest's clock. The pump holds one event now.
		<-time.After(batchWindow)
		synctest.Wait()
		for range bus.RingSize + 1 {
			b.Publish(core.Event{Type: core.EventNotice})
		}
		if got := <-out; got[0].Seq != 3 {
			t.Fatalf("the event in hand: %+v", got[0])
		}
		if got := <-out; got[0].Type != core.EventReset || got[0].Seq != bus.RingSize+4 {
			t.Fatalf("after the overflow: %+v", got[0])
		}
	})
}

func piece(ch core.ChannelID, seq uint64, msg string, offset int, text string) core.Event {
	e := core.NewEvent(core.EventMessageStreaming, ch, "r", time.UnixMilli(1), core.MessageStreaming{MsgID: msg, Kind: "text", Offset: offset, Delta: text})
	e.Seq = seq
	return e
}

func TestJoinKeepsTextOrderAndNumbers(t *testing.T) {
	stop := core.NewEvent(core.EventToolUse, "a", "r", time.UnixMilli(1), core.ToolUse{})
	stop.Seq = 5
	in := []core.Event{
		piece("a", 1, "m", 0, "he"), piece("b", 2, "n", 0, "x"), piece("a", 3, "m", 2, "l"), piece("b", 4, "n", 1, "y"),
		stop, piece("a", 6, "m", 3, "lo"), piece("a", 7, "m", 9, "a hole before"), piece("a", 8, "other", 0, "z"),
	}
	text := map[string]string{}
	next := uint64(1)
	var order []uint64
	for _, e := range join(in) {
		first := e.Seq
		if e.FirstSeq != 0 {
			first = e.FirstSeq
		}
		if first != next {
			t.Errorf("event %d begins at %d, want %d", e.Seq, first, next)
		}
		next = e.Seq + 1
		order = append(order, e.Seq)
		var m core.MessageStreaming
		if e.Type == core.EventMessageStreaming && json.Unmarshal(e.Data, &m) == nil {
			text[m.MsgID] += m.Delta
		}
	}
	if next != 9 || len(order) != 6 {
		t.Errorf("events %v up to %d", order, next)
	}
	if text["m"] != "hello"+"a hole before" || text["n"] != "xy" || text["other"] != "z" {
		t.Errorf("text %v", text)
	}
}
