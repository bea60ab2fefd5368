package bus

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"loop/backend/core"
	"loop/backend/leaktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(leaktest.Patient(m)) }

// subscribe starts a subscription at this moment.
func subscribe(b *Bus) *Subscription {
	s, _ := b.Resume(b.Launch(), b.Seq())
	return s
}

func event(text string) core.Event {
	return core.NewEvent(core.EventNotice, "c", "r", time.UnixMilli(1000), core.Notice{Level: "info", Text: text})
}

// take reads until n events came, or fails with the error that ended the subscription.
func take(t *testing.T, s *Subscription, n int) []core.Event {
	t.Helper()
	var out []core.Event
	for len(out) < n {
		got, err := s.Next(n - len(out))
		if err != nil {
			t.Fatalf("after %d events: %v", len(out), err)
		}
		if out = append(out, got...); len(got) == 0 {
			<-s.Wake()
		}
	}
	return out
}

func TestNumbersWithoutGapsForEverySubscriber(t *testing.T) {
	b := New()
	b.Publish(event("before"))
	first, second := subscribe(b), subscribe(b)
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
	for _, s := range []*Subscription{first, second} {
		if s.Seq != 1 {
			t.Fatalf("subscription starts after %d, want 1", s.Seq)
		}
		want := s.Seq
		for _, e := range take(t, s, publishers*each*2) {
			if want++; e.Seq != want {
				t.Fatalf("got event %d, want %d", e.Seq, want)
			}
		}
	}
	wg.Wait()
	if got := b.Seq(); got != 1+publishers*each*2 {
		t.Fatalf("Seq() = %d", got)
	}
}

func TestSlowSubscriberIsToldAndOthersAreUnharmed(t *testing.T) {
	b := withRing(8)
	slow, quick := subscribe(b), subscribe(b)
	for i := range 50 {
		b.Publish(event(fmt.Sprint(i)))
		if got := take(t, quick, 1)[0].Seq; got != uint64(i+1) {
			t.Fatalf("quick got %d", got)
		}
	}
	if _, err := slow.Next(10); !errors.Is(err, ErrOverflow) {
		t.Fatalf("slow subscriber: %v", err)
	}
	b.Publish(event("after"))
	if got := take(t, slow, 1)[0].Seq; got != 51 {
		t.Fatalf("goes on with %d, want 51", got)
	}
	b.Close()
	for name, s := range map[string]*Subscription{"slow": slow, "quick": quick} {
		if name == "quick" {
			take(t, s, 1) // the event published before the bus closed
		}
		if _, err := s.Next(1); !errors.Is(err, ErrClosed) {
			t.Fatalf("%s after the bus closed: %v", name, err)
		}
	}
	b.Publish(event("ignored"))
	if s := subscribe(b); s.err == nil {
		t.Fatal("a closed bus accepted a subscriber")
	}
}

func TestResumeReplaysWhatIsKept(t *testing.T) {
	b := withRing(8)
	for range 20 {
		b.Publish(event("x"))
	}
	for _, tc := range []struct {
		name    string
		launch  string
		since   uint64
		resumed bool
		first   uint64
	}{
		{"all that is kept", b.Launch(), 12, true, 13},
		{"the last", b.Launch(), 19, true, 20},
		{"nothing missed", b.Launch(), 20, true, 21},
		{"too long ago", b.Launch(), 11, false, 21},
		{"from the future", b.Launch(), 21, false, 21},
		{"another launch", "other", 20, false, 21},
		{"the largest number", b.Launch(), ^uint64(0), false, 21},
	} {
		s, resumed := b.Resume(tc.launch, tc.since)
		if resumed != tc.resumed {
			t.Errorf("%s: resumed %v", tc.name, resumed)
		}
		if tc.first == 21 {
			if got, err := s.Next(1); err != nil || len(got) != 0 {
				t.Errorf("%s: %v %v", tc.name, got, err)
			}
		} else if got := take(t, s, 1); got[0].Seq != tc.first {
			t.Errorf("%s: begins with %d, want %d", tc.name, got[0].Seq, tc.first)
		}
		s.Close()
		s.Close()
		if _, err := s.Next(1); !errors.Is(err, ErrClosed) {
			t.Errorf("%s: after Close: %v", tc.name, err)
		}
	}
}

func BenchmarkPublish(b *testing.B) {
	for _, n := range []int{0, 1, 5, 16} {
		b.Run(fmt.Sprintf("subscribers=%d", n), func(b *testing.B) {
			bus := New()
			var wg sync.WaitGroup
			for range n {
				s := subscribe(bus)
				wg.Go(func() {
					for range s.Wake() {
						for {
							got, err := s.Next(256)
							if errors.Is(err, ErrClosed) {
								return
							}
							if err == nil && len(got) == 0 {
								break
							}
						}
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
