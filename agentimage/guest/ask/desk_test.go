//go:build linux

package ask

import (
	"context"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"loop/backend/leaktest"
	"loop/backend/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(leaktest.Patient(m)) }

// host is the other end of a desk's stream.
type host struct {
	net.Conn
	served chan error
}

func serve(t *testing.T, d *Desk) *host {
	t.Helper()
	ours, theirs := net.Pipe()
	h := &host{theirs, make(chan error, 1)}
	go func() { h.served <- d.Serve(ours); _ = ours.Close() }()
	if _, err := wire.ReadReply(theirs); err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *host) question(t *testing.T) wire.Question {
	t.Helper()
	var q wire.Question
	if err := wire.ReadFrame(h, &q); err != nil {
		t.Error(err)
	}
	return q
}

var sample = wire.Question{Spawn: "a", Kind: "file", Detail: []byte("\xff/home")}

// TestQuestionsWaitSideBySide asks several questions at once and answers them in
// another order.
func TestQuestionsWaitSideBySide(t *testing.T) {
	d := NewDesk()
	h := serve(t, d)
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			q := sample
			q.Detail = []byte{byte(i)}
			a := d.Ask(t.Context(), q)
			if a.Allow != (i%2 == 0) || a.Text != strings.Repeat("x", i) {
				t.Errorf("question %d: %+v", i, a)
			}
		})
	}
	var asked []wire.Question
	for range 20 {
		asked = append(asked, h.question(t))
	}
	for i := len(asked) - 1; i >= 0; i-- {
		n := int(asked[i].Detail[0])
		if err := wire.WriteFrame(h, wire.Answer{ID: asked[i].ID, Allow: n%2 == 0, Text: strings.Repeat("x", n)}); err != nil {
			t.Fatal(err)
		}
	}
	wg.Wait()
	_ = h.Close()
	<-h.served
}

// TestNobodyAnswers: a question without an answer is denied.
func TestNobodyAnswers(t *testing.T) {
	d := NewDesk()
	if a := d.Ask(t.Context(), sample); a.Allow || a.Text == "" {
		t.Errorf("without a stream: %+v", a)
	}
	if a := d.Ask(t.Context(), wire.Question{Spawn: "../x", Kind: "file"}); a.Allow || a.Text == "" {
		t.Errorf("not a question: %+v", a)
	}
	h := serve(t, d)
	answers := make(chan wire.Answer, 2)
	for range 2 {
		go func() { answers <- d.Ask(t.Context(), sample) }()
	}
	h.question(t)
	h.question(t)
	_ = h.Close()
	for range 2 {
		if a := <-answers; a.Allow || a.Text == "" {
			t.Errorf("on a stream that broke: %+v", a)
		}
	}
	<-h.served
	// The next stream begins anew. An answer to a question of the old stream has no
	// effect.
	h = serve(t, d)
	go func() { answers <- d.Ask(t.Context(), sample) }()
	q := h.question(t)
	for _, a := range []wire.Answer{{ID: 1, Allow: true}, {ID: 99, Allow: true}, {ID: q.ID, Text: "no"}} {
		if err := wire.WriteFrame(h, a); err != nil {
			t.Fatal(err)
		}
	}
	if a := <-answers; a.Allow || a.Text != "no" {
		t.Errorf("%+v", a)
	}
	_ = h.Close()
	<-h.served
}

func TestWithdrawn(t *testing.T) {
	d := NewDesk()
	h := serve(t, d)
	ctx, cancel := context.WithCancel(t.Context())
	answer := make(chan wire.Answer, 1)
	go func() { answer <- d.Ask(ctx, sample) }()
	q := h.question(t)
	cancel()
	if w := h.question(t); w.ID != q.ID || !w.Withdrawn {
		t.Fatalf("%+v", w)
	}
	if a := <-answer; a.Allow {
		t.Errorf("%+v", a)
	}
	// The answer comes after the question was withdrawn.
	if err := wire.WriteFrame(h, wire.Answer{ID: q.ID, Allow: true}); err != nil {
		t.Fatal(err)
	}
	_ = h.Close()
	<-h.served
}

// TestNewestStream serves a new stream while the old one has not noticed its end.
func TestNewestStream(t *testing.T) {
	d := NewDesk()
	old := serve(t, d)
	answer := make(chan wire.Answer, 1)
	go func() { answer <- d.Ask(t.Context(), sample) }()
	old.question(t)
	h := serve(t, d)
	if a := <-answer; a.Allow {
		t.Errorf("%+v", a)
	}
	<-old.served
	go func() { answer <- d.Ask(t.Context(), sample) }()
	if err := wire.WriteFrame(h, wire.Answer{ID: h.question(t).ID, Allow: true}); err != nil {
		t.Fatal(err)
	}
	if a := <-answer; !a.Allow {
		t.Errorf("%+v", a)
	}
	_ = h.Close()
	<-h.served
}

// TestHostThatDoesNotRead: when the time for a write is over, the question is denied.
// No more than MaxQuestions wait at the same time.
func TestHostThatDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := NewDesk()
		h := serve(t, d)
		began := time.Now()
		answers := make(chan wire.Answer)
		const many = wire.MaxQuestions + 10
		for range many {
			go func() { answers <- d.Ask(t.Context(), sample) }()
		}
		synctest.Wait()
		d.mu.Lock()
		waiting := len(d.waiting)
		d.mu.Unlock()
		if waiting != wire.MaxQuestions {
			t.Errorf("%d questions wait", waiting)
		}
		for range many {
			if a := <-answers; a.Allow {
				t.Error("allowed")
			}
		}
		if took := time.Since(began); took != wire.WriteTimeout {
			t.Errorf("took %s", took)
		}
		_ = h.Close()
		<-h.served
	})
}

// TestTold: what wants no answer waits for a stream, and more than a bound is refused.
func TestTold(t *testing.T) {
	d := NewDesk()
	told := sample
	told.Kind, told.Told = wire.KindDecided, 1
	for i := range wire.MaxTold {
		told.Told = uint64(i + 1)
		if !d.Tell(told) {
			t.Fatalf("message %d was refused", i)
		}
	}
	if d.Tell(told) {
		t.Error("there is no bound")
	}
	h := serve(t, d)
	for i := range wire.MaxTold {
		if q := h.question(t); q.Told != uint64(i+1) || q.ID == 0 {
			t.Fatalf("message %d: %+v", i, q)
		}
	}
	if !d.Tell(told) {
		t.Error("there is no room again")
	}
	h.question(t)
	_ = h.Close()
	<-h.served
	if !d.Tell(told) {
		t.Error("nothing is kept while no host is there")
	}
}
