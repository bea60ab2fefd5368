package bus

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"loop/backend/core"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func event(text string) core.Event {
	return core.NewEvent(core.EventNotice, "c", "r", time.UnixMilli(1000), core.Notice{Level: "info", Text: text})
}

func TestNumbersWithoutGapsForEverySubscriber(t *testing.T) {
	b := New(nil)
	b.Publish(event("before"))
	first, second := b.Subscribe(), b.Subscribe()
	defer first.Close()
	defer second.Close()

	const publishers, each = 4, 200
	var wg sync.WaitGroup
	for range publishers {
		wg.Go(func() {
			for i := range each {
				b.Publish(event(fmt.Sprint(i)), event("pair"))
			}
		})
	}
	wg.Wait()

	for _, s := range []*Subscription{first, second} {
		if s.Seq != 1 {
			t.Fatalf("subscription starts after %d, want 1", s.Seq)
		}
		for want := s.Seq + 1; want <= 1+publishers*each*2; want++ {
			if got := (<-s.C).Seq; got != want {
				t.Fatalf("got event %d, want %d", got, want)
			}
		}
	}
	if got := b.Seq(); got != 1+publishers*each*2 {
		t.Fatalf("Seq() = %d", got)
	}
}

func TestSlowSubscriberIsClosedAndOthersAreUnharmed(t *testing.T) {
	b := New(nil)
	b.size = 4
	slow := b.Subscribe()
	b.size = 100
	quick := b.Subscribe()
	for range 50 {
		b.Publish(event("x"))
	}
	n := uint64(0)
	for e := range slow.C {
		n++
		if e.Seq != n {
			t.Fatalf("gap before the close: event %d at place %d", e.Seq, n)
		}
	}
	if n != 4 || !errors.Is(slow.Err(), ErrOverflow) {
		t.Fatalf("slow subscriber got %d events, reason %v", n, slow.Err())
	}
	if quick.Err() != nil || len(quick.C) != 50 {
		t.Fatalf("quick subscriber has %d events, reason %v", len(quick.C), quick.Err())
	}
	again := b.Subscribe()
	if again.Seq != 50 {
		t.Fatalf("new subscription starts after %d, want 50", again.Seq)
	}
	slow.Close()
	b.Close()
	if _, open := <-again.C; open || !errors.Is(again.Err(), ErrClosed) {
		t.Fatalf("closed bus left a subscription open: %v", again.Err())
	}
	if s := b.Subscribe(); !errors.Is(s.Err(), ErrClosed) {
		t.Fatal("a closed bus accepted a subscriber")
	}
	b.Publish(event("ignored"))
}

func TestStampsEventsWithoutATime(t *testing.T) {
	at := time.UnixMilli(123456)
	b := New(func() time.Time { return at })
	s := b.Subscribe()
	defer s.Close()
	given := []core.Event{{Type: core.EventNotice}, {Type: core.EventNotice, Timestamp: 7}, {Type: core.EventNotice, Time: time.UnixMilli(9)}}
	b.Publish(given...)
	for _, want := range []int64{123456, 7, 9} {
		e := <-s.C
		if e.Timestamp != want || e.Time.UnixMilli() != want {
			t.Errorf("stamped %d / %v, want %d", e.Timestamp, e.Time, want)
		}
	}
	if given[0].Seq != 0 {
		t.Error("the publisher's own events were changed")
	}
}

func BenchmarkPublish(b *testing.B) {
	for _, n := range []int{0, 1, 4, 16} {
		b.Run(fmt.Sprintf("subscribers=%d", n), func(b *testing.B) {
			bus := New(nil)
			var wg sync.WaitGroup
			for range n {
				s := bus.Subscribe()
				wg.Go(func() {
					for {
						for range s.C {
						}
						if !errors.Is(s.Err(), ErrOverflow) {
							return
						}
						s = bus.Subscribe()
					}
				})
			}
			e := event("benchmark")
			b.ReportAllocs()
			for b.Loop() {
				bus.Publish(e)
			}
			bus.Close()
			wg.Wait()
		})
	}
}
