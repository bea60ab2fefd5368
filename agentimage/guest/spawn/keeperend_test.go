//go:build linux

package spawn

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"loop/backend/wire"
)

// host answers what it is asked with what a test says.
type host struct {
	asked   chan wire.Question
	answers chan wire.Answer
	told    chan wire.Question
	stuck   chan struct{} // where there is one, a withdrawal waits for the test
}

func (h host) Tell(q wire.Question) bool {
	select {
	case h.told <- q:
		return true
	default:
		return false
	}
}

func (h host) Ask(ctx context.Context, q wire.Question) wire.Answer {
	h.asked <- q
	select {
	case a := <-h.answers:
		return a
	case <-ctx.Done():
		if h.stuck != nil {
			h.stuck <- struct{}{}
		}
		return wire.Deny(q.ID, "withdrawn")
	}
}

// talk makes loop init's end of a keeper that the test plays.
func talk(t *testing.T) (k *keeperEnd, theirs line, h host) { return talkTo(t, nil) }

func talkTo(t *testing.T, stuck chan struct{}) (k *keeperEnd, theirs line, h host) {
	h = host{stuck: stuck, asked: make(chan wire.Question, 64), answers: make(chan wire.Answer), told: make(chan wire.Question, 1)}
	m := newTable(t, func(c *Config) { c.Asker = h })
	theirs, ours := lines(t)
	p := newProc(m, "a", [32]byte{}, wire.Spawn{})
	p.supervised = true
	k = newKeeperEnd(p, ours)
	p.keep.Store(k)
	m.wg.Go(k.hear)
	t.Cleanup(theirs.close) // before the table is closed
	return k, theirs, h
}

func ordered(t *testing.T, l line) (order, int) {
	t.Helper()
	var o order
	fd, err := l.receive(&o)
	if err != nil {
		t.Fatal(err)
	}
	return o, fd
}

func asks(t *testing.T, l line, q wire.Question) {
	t.Helper()
	if err := l.send(report{Question: &q}); err != nil {
		t.Fatal(err)
	}
}

func TestQuestionsGoUpAndAnswersDown(t *testing.T) {
	k, keeper, h := talk(t)
	for _, allow := range []bool{true, false} {
		asks(t, keeper, wire.Question{ID: 7, Spawn: "another's", Kind: "file", Detail: []byte("d")})
		if q := <-h.asked; q.Spawn != "a" || q.Kind != "file" || string(q.Detail) != "d" {
			t.Errorf("%+v", q)
		}
		h.answers <- wire.Answer{ID: 99, Allow: allow}
		if o, _ := ordered(t, keeper); o.Answer == nil || o.Answer.ID != 7 || o.Answer.Allow != allow {
			t.Errorf("%+v", o.Answer)
		}
	}
	// One that is withdrawn gets no answer, the next one does.
	asks(t, keeper, wire.Question{ID: 8, Kind: "file"})
	<-h.asked
	asks(t, keeper, wire.Question{ID: 8, Withdrawn: true})
	until(t, "the withdrawal", func() bool { k.mu.Lock(); defer k.mu.Unlock(); return len(k.asked) == 0 })
	for id := range uint64(maxAsked) {
		asks(t, keeper, wire.Question{ID: 10 + id, Kind: "file"})
		<-h.asked
	}
	asks(t, keeper, wire.Question{ID: 100, Kind: "file"})
	if o, _ := ordered(t, keeper); o.Answer == nil || o.Answer.ID != 100 || o.Answer.Allow {
		t.Errorf("one too many: %+v", o.Answer)
	}
}

// TestWithdrawnLeaveRoom: what is withdrawn does not count, however long the host takes to
// hear of it, and its end does not end the next question of the same id.
func TestWithdrawnLeaveRoom(t *testing.T) {
	stuck := make(chan struct{})
	k, keeper, h := talkTo(t, stuck)
	for id := range uint64(maxAsked) {
		asks(t, keeper, wire.Question{ID: 1 + id, Kind: "file"})
		<-h.asked
	}
	for id := range uint64(maxAsked) {
		asks(t, keeper, wire.Question{ID: 1 + id, Withdrawn: true})
	}
	asks(t, keeper, wire.Question{ID: 1, Kind: "file"})
	if q := <-h.asked; q.ID != 1 {
		t.Errorf("%+v", q)
	}
	for range maxAsked {
		<-stuck
	}
	asks(t, keeper, wire.Question{ID: 1, Kind: "file"}) // one that waits still has its place
	if o, _ := ordered(t, keeper); o.Answer == nil || o.Answer.Allow {
		t.Errorf("the same id twice: %+v", o.Answer)
	}
	h.answers <- wire.Answer{Allow: true}
	if o, _ := ordered(t, keeper); o.Answer == nil || o.Answer.ID != 1 || !o.Answer.Allow {
		t.Errorf("%+v", o.Answer)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.asked) != 0 {
		t.Errorf("%d are left", len(k.asked))
	}
}

// TestNobodyIsAskedForTheEnding: a spawn that is being ended is denied at once.
func TestNobodyIsAskedForTheEnding(t *testing.T) {
	k, keeper, h := talk(t)
	k.p.ending.Store(true)
	k.p.deny(whyEnding)
	if o, _ := ordered(t, keeper); o.Deny != whyEnding {
		t.Errorf("%+v", o)
	}
	asks(t, keeper, wire.Question{ID: 7, Kind: "file"})
	if o, _ := ordered(t, keeper); o.Answer == nil || o.Answer.Allow || o.Answer.Text != whyEnding || len(h.asked) != 0 {
		t.Errorf("%+v, %d asked", o.Answer, len(h.asked))
	}
}

// TestPolicyIsTaken: a policy goes down through a pipe, as large as it may be, and the
// caller has its answer once the keeper has said that it goes by it.
func TestPolicyIsTaken(t *testing.T) {
	k, keeper, _ := talk(t)
	d := document{wire.Policy{Version: 2}, make([]byte, wire.MaxPolicy)}
	refusal := wire.NewError(wire.CodePolicy, "no")
	for _, answer := range []*wire.Error{nil, refusal} {
		done := make(chan error, 1)
		go func() { done <- k.setPolicy(t.Context(), d) }()
		o, fd := ordered(t, keeper)
		if o.Policy == nil || o.Policy.Version != 2 || fd < 0 {
			t.Fatalf("%+v %d", o, fd)
		}
		f := os.NewFile(uintptr(fd), "policy")
		if doc, err := io.ReadAll(f); err != nil || len(doc) != wire.MaxPolicy {
			t.Errorf("%d bytes, %v", len(doc), err)
		}
		_ = f.Close()
		select {
		case err := <-done:
			t.Errorf("answered before it is in force: %v", err)
		default:
		}
		if err := keeper.send(report{Policy: &policyTaken{Version: 2, Error: answer}}); err != nil {
			t.Fatal(err)
		}
		if err := <-done; (err == nil) != (answer == nil) {
			t.Errorf("%v", err)
		}
	}
	// A keeper that ends takes none.
	done := make(chan error, 1)
	go func() { done <- k.setPolicy(t.Context(), document{wire.Policy{Version: 3}, []byte("x")}) }()
	_, fd := ordered(t, keeper)
	keeper.close()
	if err := <-done; code(err) != wire.CodeEnded {
		t.Errorf("%v", err)
	}
	_ = unix.Close(fd)
}

// TestWhatWantsNoAnswer passes through, also more than there is room for, and never ends
// as a question.
func TestWhatWantsNoAnswer(t *testing.T) {
	_, theirs, h := talk(t)
	teller := newHeld(theirs)
	for range 3 {
		teller.tell(wire.Decisions{Policy: 1, Unruled: 5})
	}
	asks(t, theirs, wire.Question{ID: 1, Kind: "file"})
	if q := <-h.asked; q.Told != 0 {
		t.Errorf("%+v", q)
	}
	q := <-h.told
	var d wire.Decisions
	if err := json.Unmarshal(q.Detail, &d); q.Spawn != "a" || q.Told != 1 || err != nil || d.Unruled != 5 {
		t.Errorf("%+v %+v %v", q, d, err)
	}
	teller.tell(wire.Decisions{Policy: 1, Unruled: 5})
	asks(t, theirs, wire.Question{ID: 2, Kind: "file"})
	<-h.asked
	if q := <-h.told; q.Told != 4 {
		t.Errorf("the number of the fourth is %d", q.Told)
	}
}
