//go:build linux

package spawn

import (
	"context"
	"strings"
	"sync"
	"testing"

	"loop/backend/wire"
)

// lines connects a keeper's end with loop init's.
func lines(t *testing.T) (keepers, inits line) {
	t.Helper()
	a, b, err := newSocketPair()
	if err != nil {
		t.Fatal(err)
	}
	keepers, err = newLine(a)
	if err != nil {
		t.Fatal(err)
	}
	inits, err = newLine(b)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { keepers.close(); inits.close() })
	return keepers, inits
}

func hears(t *testing.T, l line) wire.Question {
	t.Helper()
	var said report
	if _, err := l.receive(&said); err != nil || said.Question == nil {
		t.Fatalf("%+v %v", said, err)
	}
	return *said.Question
}

var touching = wire.Approval{Kind: wire.KindFile, Target: "/home/u/.bashrc"}

// answers runs ask on n goroutines and returns what they were told.
func answers(t *testing.T, h *held, n int) <-chan wire.Answer {
	out := make(chan wire.Answer, n)
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() { out <- h.ask(t.Context(), touching) })
	}
	t.Cleanup(wg.Wait)
	return out
}

func TestHeldIsAnswered(t *testing.T) {
	k, i := lines(t)
	h := newHeld(k)
	for _, allow := range []bool{true, false} {
		got := answers(t, h, 1)
		q := hears(t, i)
		if q.Kind != wire.KindFile || !strings.Contains(string(q.Detail), touching.Target) {
			t.Errorf("%+v", q)
		}
		h.answered(wire.Answer{ID: q.ID + 7, Allow: !allow}) // of nobody
		h.answered(wire.Answer{ID: q.ID, Allow: allow, Text: "so"})
		h.answered(wire.Answer{ID: q.ID, Allow: !allow}) // too late
		if a := <-got; a.Allow != allow || a.Text != "so" {
			t.Errorf("%+v", a)
		}
	}
	large := touching
	large.Target = strings.Repeat("x", wire.MaxDetail)
	if a := h.ask(t.Context(), large); a.Allow || a.Text == "" {
		t.Errorf("too long: %+v", a)
	}
}

func TestHeldIsWithdrawn(t *testing.T) {
	k, i := lines(t)
	h := newHeld(k)
	ctx, cancel := context.WithCancel(t.Context())
	got := make(chan wire.Answer, 1)
	go func() { got <- h.ask(ctx, touching) }()
	q := hears(t, i)
	cancel()
	if a := <-got; a.Allow {
		t.Errorf("%+v", a)
	}
	if w := hears(t, i); w.ID != q.ID || !w.Withdrawn {
		t.Errorf("%+v", w)
	}
}

// TestHeldIsBounded: the host knows of some, further ones wait without being asked or
// denied, and what is beyond every bound is denied.
func TestHeldIsBounded(t *testing.T) {
	k, i := lines(t)
	h := newHeld(k)
	got := answers(t, h, maxHeld)
	first := make([]wire.Question, maxAsked)
	for n := range first {
		first[n] = hears(t, i)
	}
	until(t, "all to wait", func() bool { h.mu.Lock(); defer h.mu.Unlock(); return h.waiting == maxHeld })
	if len(got) != 0 {
		t.Fatalf("%d have an answer", len(got))
	}
	if a := h.ask(t.Context(), touching); a.Allow || !strings.Contains(a.Text, "too many") {
		t.Errorf("one more: %+v", a)
	}
	h.answered(wire.Answer{ID: first[0].ID, Allow: true})
	if a := <-got; !a.Allow {
		t.Errorf("%+v", a)
	}
	if next := hears(t, i); next.Withdrawn || next.ID == first[0].ID {
		t.Errorf("%+v", next)
	}
	go func() { // the host's end must be read: all of them are withdrawn
		for {
			var said report
			if _, err := i.receive(&said); err != nil {
				return
			}
		}
	}()
	h.deny("enough")
	for range maxHeld - 1 {
		if a := <-got; a.Allow || a.Text != "enough" {
			t.Fatalf("%+v", a)
		}
	}
}

func TestHeldWithoutLoop(t *testing.T) {
	k, i := lines(t)
	h := newHeld(k)
	got := answers(t, h, 1)
	hears(t, i)
	h.lose()
	if a := <-got; a.Allow || a.Text != whyLost {
		t.Errorf("%+v", a)
	}
	if a := h.ask(t.Context(), touching); a.Allow || a.Text != whyLost {
		t.Errorf("later: %+v", a)
	}
	i.close()
	h = newHeld(k)
	if a := h.ask(t.Context(), touching); a.Allow {
		t.Errorf("to nobody: %+v", a)
	}
}
