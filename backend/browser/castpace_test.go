package browser

import (
	"testing"
	"time"
)

func TestCastPaceFollowsThePanes(t *testing.T) {
	at := time.Unix(1000, 0)
	var p castPace
	feed := func(age time.Duration, frames int, every time.Duration) (changes int) {
		for range frames {
			at = at.Add(every)
			if p.painted(age, at) {
				changes++
			}
		}
		return changes
	}
	const frame = 33 * time.Millisecond
	if n := feed(20*time.Millisecond, 200, frame); n != 0 || p.quality() != 60 {
		t.Fatalf("quick panes: %d changes, quality %d", n, p.quality())
	}
	if n := feed(100*time.Millisecond, lateInARow-1, frame); n != 0 {
		t.Fatalf("%d changes before enough frames were late", n)
	}
	if n := feed(100*time.Millisecond, 1, frame); n != 1 || p.quality() != 45 {
		t.Fatalf("late: %d changes, quality %d", n, p.quality())
	}
	if n := feed(100*time.Millisecond, 29, frame); n != 0 {
		t.Fatalf("%d changes within a second of the last", n)
	}
	feed(200*time.Millisecond, 1000, frame)
	if p.quality() != 20 {
		t.Fatalf("quality %d, want the lowest", p.quality())
	}
	if n := feed(50*time.Millisecond, 1000, frame); n != 0 {
		t.Fatalf("%d changes between late and soon", n)
	}
	if n := feed(10*time.Millisecond, soonInARow, frame); n != 1 || p.quality() != 30 {
		t.Fatalf("soon again: %d changes, quality %d", n, p.quality())
	}
	if n := feed(10*time.Millisecond, 100, frame); n != 0 {
		t.Fatalf("%d changes within five seconds of the last", n)
	}
	feed(10*time.Millisecond, 1000, frame)
	if p.quality() != 60 {
		t.Fatalf("quality %d, want the best", p.quality())
	}
}

func TestCastPaceDoesNotFallForSomeLateFrames(t *testing.T) {
	var p castPace
	at := time.Unix(1000, 0)
	for i := range 1000 {
		at = at.Add(33 * time.Millisecond)
		age := 50 * time.Millisecond
		if i%3 == 0 {
			age = 90 * time.Millisecond
		}
		if p.painted(age, at) {
			t.Fatalf("frame %d changed the quality", i)
		}
	}
}
