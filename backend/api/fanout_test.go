package api

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"loop/backend/bus"
	"loop/backend/core"
)

const fanToken = "fanout"

// openPages serves a real bus over the real listener, as the app does.
func openPages(tb testing.TB) (*bus.Bus, *Server) {
	tb.Helper()
	p := bus.New()
	batches := NewBatches(p)
	s, err := New(Options{Token: fanToken, Calls: Calls{}, Events: batches, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		tb.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve() }()
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
		if err := <-served; err != nil {
			tb.Error(err)
		}
		p.Close()
		batches.Wait()
	})
	return p, s
}

func openPage(ctx context.Context, tb testing.TB, s *Server, query string) *websocket.Conn {
	tb.Helper()
	client := &http.Client{Transport: &http.Transport{}}
	tb.Cleanup(client.CloseIdleConnections)
	conn, _, err := websocket.Dial(ctx, "ws://"+s.Addr()+"/api/ws"+query, &websocket.DialOptions{HTTPClient: client, Subprotocols: []string{"loop", "loop.token." + fanToken}})
	if err != nil {
		tb.Fatal(err)
	}
	conn.SetReadLimit(64 << 20)
	tb.Cleanup(func() { conn.CloseNow() })
	return conn
}

// seen reads up to the last number and returns the text of the message. It fails when a
// number is missing.
func seen(ctx context.Context, conn *websocket.Conn, after, last uint64, stall <-chan struct{}) (string, error) {
	text := ""
	for next := after + 1; next <= last; {
		if stall != nil {
			<-stall
		}
		_, data, err := conn.Read(ctx)
		if err != nil {
			return text, err
		}
		var batch []core.Event
		if err := json.Unmarshal(data, &batch); err != nil {
			return text, err
		}
		for _, e := range batch {
			first := e.Seq
			if e.FirstSeq != 0 {
				first = e.FirstSeq
			}
			if first != next {
				return text, fmt.Errorf("event %d begins at %d, want %d", e.Seq, first, next)
			}
			next = e.Seq + 1
			var m core.MessageStreaming
			if e.Type == core.EventMessageStreaming && json.Unmarshal(e.Data, &m) == nil {
				text += m.Delta
			}
		}
	}
	return text, nil
}

// TestPagesStayInStep: five pages see the same text and the same numbers. One of them
// is slow, and one leaves and comes back.
func TestPagesStayInStep(t *testing.T) {
	p, s := openPages(t)
	const pieces = 3000
	want := ""
	publish := func(from, to int) {
		for i := from; i < to; i++ {
			delta := fmt.Sprintf("%d,", i)
			p.Publish(core.NewEvent(core.EventMessageStreaming, "c", "r", time.UnixMilli(1), core.MessageStreaming{MsgID: "m", Kind: "text", Offset: len(want), Delta: delta}))
			want += delta
		}
	}
	ctx := t.Context()
	left := openPage(ctx, t, s, "")
	publish(0, pieces/3)
	before := want
	if got, err := seen(ctx, left, 0, pieces/3, nil); err != nil || got != before {
		t.Fatalf("%v: %d of %d bytes", err, len(got), len(before))
	}
	left.CloseNow()
	stall := make(chan struct{})
	var wg sync.WaitGroup
	var texts [5]string
	for i := range texts {
		query, after, has := fmt.Sprintf("?launch=%s&since=0", p.Launch()), uint64(0), ""
		if i == 1 {
			query, after, has = fmt.Sprintf("?launch=%s&since=%d", p.Launch(), pieces/3), pieces/3, before
		}
		wait := stall
		if i != 2 {
			wait = nil
		}
		conn := openPage(ctx, t, s, query)
		wg.Go(func() {
			got, err := seen(ctx, conn, after, pieces, wait)
			if err != nil {
				t.Errorf("page %d: %v", i, err)
			}
			texts[i] = has + got
		})
	}
	publish(pieces/3, pieces)
	close(stall) // the slow page begins to read after the last event
	wg.Wait()
	for i, text := range texts {
		if text != want {
			t.Errorf("page %d has %d of %d bytes", i, len(text), len(want))
		}
	}
}

// BenchmarkFanOut takes one event from Publish until five pages have read it over their
// sockets, in streams of a thousand.
func BenchmarkFanOut(b *testing.B) {
	for _, n := range []int{1, 5} {
		b.Run(fmt.Sprintf("pages=%d", n), func(b *testing.B) {
			p, s := openPages(b)
			conns := make([]*websocket.Conn, n)
			for i := range conns {
				conns[i] = openPage(b.Context(), b, s, "")
			}
			e := core.NewEvent(core.EventThinking, "c", "r", time.UnixMilli(1), core.Thinking{Text: "a thought of an ordinary length, as it comes"})
			const stream = 1000
			seq := p.Seq()
			b.ReportAllocs()
			for b.Loop() {
				for range stream {
					p.Publish(e)
				}
				var wg sync.WaitGroup
				for _, c := range conns {
					wg.Go(func() {
						if _, err := seen(b.Context(), c, seq, seq+stream, nil); err != nil {
							b.Error(err)
						}
					})
				}
				wg.Wait()
				seq += stream
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/stream, "ns/event")
		})
	}
}
