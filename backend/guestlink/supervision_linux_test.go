package guestlink_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/yamux"

	"loop/agentimage/guest/ask"
	"loop/backend/core"
	"loop/backend/guestlink"
	"loop/backend/wire"
)

// desk is a guest that asks questions as loop init does.
func desk(t *testing.T) (*guestlink.Link, *ask.Desk, *guest) {
	d := ask.NewDesk()
	l, g := open(t, guestlink.Options{}, func(q wire.Request, st *yamux.Stream) {
		if q.Op == wire.OpQuestions {
			_ = d.Serve(st)
		}
	})
	return l, d, g
}

// answering answers questions until the test ends. The channel ended gets its final
// error.
func answering(t *testing.T, l *guestlink.Link, d *ask.Desk, answer func(context.Context, core.HeldCall) core.Verdict) (stop func(), ended <-chan error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	var wg sync.WaitGroup
	wg.Go(func() { done <- l.Questions(ctx, answer) })
	t.Cleanup(func() { cancel(); wg.Wait() })
	for !d.Answered() {
		if err := t.Context().Err(); err != nil {
			t.Fatal(err)
		}
	}
	return cancel, done
}

var held = wire.Question{Spawn: "s1", Kind: "file", Detail: []byte("/home/u/.bashrc")}

// TestQuestionsBothEnds asks many questions at a time, with the guest's desk at one end
// and the link at the other. Every second one is allowed.
func TestQuestionsBothEnds(t *testing.T) {
	l, d, _ := desk(t)
	all := make(chan struct{}) // no answer comes before all questions were asked
	var mu sync.Mutex
	seen := 0
	answering(t, l, d, func(_ context.Context, c core.HeldCall) core.Verdict {
		mu.Lock()
		if seen++; seen == wire.MaxQuestions {
			close(all)
		}
		mu.Unlock()
		<-all
		if c.Spawn != "s1" || c.Kind != "file" {
			t.Errorf("asked %+v", c)
		}
		return core.Verdict{Allow: c.Detail[0]%2 == 0, Text: strings.Repeat("y", 2*wire.MaxText)}
	})
	var wg sync.WaitGroup
	for i := range wire.MaxQuestions {
		wg.Go(func() {
			q := held
			q.Detail = []byte{byte(i)}
			if a := d.Ask(t.Context(), q); a.Allow != (i%2 == 0) || !strings.HasPrefix(a.Text, "yyy") {
				t.Errorf("question %d: %v %.20q", i, a.Allow, a.Text)
			}
		})
	}
	wg.Wait()
}

// TestQuestionIsWithdrawn ends the wait of the one who judges. The answer then has no
// effect.
func TestQuestionIsWithdrawn(t *testing.T) {
	l, d, _ := desk(t)
	judging, judged := make(chan struct{}), make(chan struct{})
	answering(t, l, d, func(ctx context.Context, c core.HeldCall) core.Verdict {
		if string(c.Detail) == "next" {
			return core.Verdict{Allow: true}
		}
		close(judging)
		<-ctx.Done()
		close(judged)
		return core.Verdict{Allow: true}
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-judging; cancel() }()
	if a := d.Ask(ctx, held); a.Allow {
		t.Errorf("%+v", a)
	}
	<-judged
	q := held
	q.Detail = []byte("next")
	if a := d.Ask(t.Context(), q); !a.Allow {
		t.Errorf("the stream did not go on: %+v", a)
	}
}

// TestQuestionsAreDeniedWithoutAHost: when the host leaves or the link ends, waiting
// questions are denied. So are later ones.
func TestQuestionsAreDeniedWithoutAHost(t *testing.T) {
	for name, leave := range map[string]func(l *guestlink.Link, stop func()){
		"host": func(_ *guestlink.Link, stop func()) { stop() },
		"link": func(l *guestlink.Link, _ func()) { _ = l.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			l, d, _ := desk(t)
			judging := make(chan struct{})
			stop, ended := answering(t, l, d, func(ctx context.Context, _ core.HeldCall) core.Verdict {
				close(judging)
				<-ctx.Done()
				return core.Verdict{Allow: true}
			})
			go func() { <-judging; leave(l, stop) }()
			if a := d.Ask(t.Context(), held); a.Allow || a.Text == "" {
				t.Errorf("%+v", a)
			}
			if a := d.Ask(t.Context(), held); a.Allow || a.Text == "" {
				t.Errorf("later: %+v", a)
			}
			if err := <-ended; !errors.Is(err, core.ErrLinkDown) && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
	}
}

// TestHostileQuestions: each bad question ends the link, and none is judged.
func TestHostileQuestions(t *testing.T) {
	one := wire.Question{ID: 1, Spawn: "a", Kind: "file"}
	for name, hostile := range map[string]func(st io.Writer){
		"twice":     func(st io.Writer) { _, _ = wire.WriteFrame(st, one), wire.WriteFrame(st, one) },
		"no id":     func(st io.Writer) { _ = wire.WriteFrame(st, wire.Question{Spawn: "a", Kind: "file"}) },
		"odd spawn": func(st io.Writer) { _ = wire.WriteFrame(st, wire.Question{ID: 1, Spawn: "../a", Kind: "file"}) },
		"large": func(st io.Writer) {
			_ = wire.WriteFrame(st, wire.Question{ID: 1, Spawn: "a", Kind: "file", Detail: make([]byte, wire.MaxDetail+1)})
		},
		"large frame": func(st io.Writer) { _, _ = st.Write([]byte{0xff, 0, 0, 0}) },
		"too many": func(st io.Writer) {
			for i := range uint64(wire.MaxQuestions) + 1 {
				if wire.WriteFrame(st, wire.Question{ID: i + 1, Spawn: "a", Kind: "file"}) != nil {
					return
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			l, _ := open(t, guestlink.Options{}, func(_ wire.Request, st *yamux.Stream) {
				reply(st, wire.Reply{})
				hostile(st)
				_, _ = io.Copy(io.Discard, st)
			})
			err := l.Questions(t.Context(), func(ctx context.Context, _ core.HeldCall) core.Verdict {
				<-ctx.Done()
				return core.Verdict{Allow: true}
			})
			if !errors.Is(err, core.ErrLinkDown) {
				t.Fatalf("%v", err)
			}
			<-l.Done()
		})
	}
}

// TestSpawnBringsItsPolicy: the document follows stdin and files, under its own head.
// The guest's refusals are told apart.
func TestSpawnBringsItsPolicy(t *testing.T) {
	doc := []byte(`{"default_decision":"allow"}`)
	sum := sha256.Sum256(doc)
	answer := wire.Reply{Info: &wire.Info{ID: "s1", Pid: 1, Stdio: wire.StdioPipes}}
	l, _ := open(t, guestlink.Options{}, func(q wire.Request, st *yamux.Stream) {
		got, err := io.ReadAll(io.LimitReader(st, int64(len("in")+len("file"))+q.Spawn.Policy.Size))
		want := wire.Policy{Version: 4, Hash: hex.EncodeToString(sum[:]), Size: int64(len(doc))}
		if err != nil || string(got) != "infile"+string(doc) || *q.Spawn.Policy != want {
			t.Errorf("%q of %+v (%v)", got, q.Spawn.Policy, err)
		}
		reply(st, answer)
	})
	req := core.SpawnRequest{ID: "s1", Argv: []string{"true"}, Stdio: core.StdioPipes, Stdin: []byte("in"),
		Files: []core.SpawnFile{{Name: "f", Data: []byte("file")}}, Policy: doc, PolicyVersion: 4}
	if _, err := l.Spawn(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	for code, want := range map[wire.ErrCode]core.Code{wire.CodePolicy: core.CodeInvalid, wire.CodeGate: core.CodeForbidden, wire.CodeDenied: core.CodeForbidden} {
		answer = wire.Refuse(code, "line 1, column 2")
		_, err := l.Spawn(t.Context(), req)
		if f := core.AsFailure(err); f.Code != want || !strings.Contains(f.Cause, "line 1, column 2") || f.Remedy == "" {
			t.Errorf("%s: %+v", code, f)
		}
	}
}

func TestPolicy(t *testing.T) {
	doc := []byte(`{"rules":[]}`)
	sum := sha256.Sum256(doc)
	hash := hex.EncodeToString(sum[:])
	answer := wire.Reply{Policy: &wire.PolicyState{Version: 7, Hash: hash}}
	l, _ := open(t, guestlink.Options{}, func(q wire.Request, st *yamux.Stream) {
		got, err := io.ReadAll(io.LimitReader(st, q.Policy.Size))
		if err != nil || string(got) != string(doc) || q.ID != "s1" || q.Policy.Hash != hash {
			t.Errorf("%q of %q (%v)", got, q.ID, err)
		}
		reply(st, answer)
	})
	state, err := l.SetPolicy(t.Context(), "s1", 7, doc)
	if err != nil || state != (core.PolicyState{Version: 7, Hash: hash}) {
		t.Fatalf("%+v %v", state, err)
	}
	answer = wire.Refuse(wire.CodeConflict, "policy version 9 is there already")
	if _, err := l.SetPolicy(t.Context(), "s1", 7, doc); !errors.Is(err, core.ErrConflict) {
		t.Errorf("an older one: %v", err)
	}
	if _, err := l.SetPolicy(t.Context(), "s1", 7, make([]byte, wire.MaxPolicy+1)); core.AsFailure(err).Code != core.CodeInvalid {
		t.Errorf("a huge one: %v", err)
	}
	answer = wire.Reply{Policy: &wire.PolicyState{Version: 8, Hash: hash, Enforced: true}}
	if _, err := l.SetPolicy(t.Context(), "s1", 7, doc); !errors.Is(err, core.ErrLinkDown) {
		t.Errorf("a guest that says it has another: %v", err)
	}
}

// watchedGate is a gate that a test looks at.
type watchedGate struct {
	held      chan core.HeldCall
	cause     chan error
	told      chan core.Told
	mu        sync.Mutex
	admitted  []core.Identity
	dismissed []core.SpawnID
	renewed   chan core.SpawnID // nil: nobody looks
}

func (g *watchedGate) Held(ctx context.Context, container core.ContainerID, c core.HeldCall) core.Verdict {
	g.held <- c
	if string(c.Detail) == "quick" {
		return core.Verdict{Allow: container != ""}
	}
	<-ctx.Done()
	g.cause <- context.Cause(ctx)
	return core.Verdict{Allow: true}
}

func (g *watchedGate) Admit(_ core.ContainerID, _ core.SpawnID, who core.Identity) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.admitted = append(g.admitted, who)
}

func (g *watchedGate) Dismiss(spawn core.SpawnID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.dismissed = append(g.dismissed, spawn)
}

func (g *watchedGate) Starts(core.SpawnID) {}

func (g *watchedGate) Renewed(id core.SpawnID) {
	if g.renewed != nil {
		g.renewed <- id
	}
}

func (g *watchedGate) Probed(error, bool) {}

func (g *watchedGate) Told(_ core.ContainerID, m core.Told) { g.told <- m }

// TestALinkPassesOnWhatWantsNoAnswer, without an end: none of it stays open.
func TestALinkPassesOnWhatWantsNoAnswer(t *testing.T) {
	d, gate := ask.NewDesk(), &watchedGate{told: make(chan core.Told)}
	open(t, guestlink.Options{Gate: gate}, func(q wire.Request, st *yamux.Stream) {
		if q.Op == wire.OpQuestions {
			_ = d.Serve(st)
		}
	})
	for n := range uint64(2 * wire.MaxQuestions) { // more than may be open
		if !d.Tell(wire.Question{Spawn: "s1", Kind: wire.KindDecided, Detail: []byte("{}"), Told: n + 1}) {
			t.Fatal("no room")
		}
		if m := <-gate.told; m.Spawn != "s1" || m.Number != n+1 || m.Kind != wire.KindDecided || string(m.Detail) != "{}" {
			t.Fatalf("%+v", m)
		}
	}
}

// TestALinkHasTheGateAnswer for as long as it lives, and tells a call that has gone
// from a link that broke.
func TestALinkHasTheGateAnswer(t *testing.T) {
	d, gate := ask.NewDesk(), &watchedGate{held: make(chan core.HeldCall, 1), cause: make(chan error, 1)}
	l, _ := open(t, guestlink.Options{Gate: gate}, func(q wire.Request, st *yamux.Stream) {
		if q.Op == wire.OpQuestions {
			_ = d.Serve(st)
		}
	})
	for !d.Answered() {
		if err := t.Context().Err(); err != nil {
			t.Fatal(err)
		}
	}
	q := held
	q.Detail = []byte("quick")
	if a := d.Ask(t.Context(), q); !a.Allow {
		t.Errorf("%+v", a)
	}
	<-gate.held
	l.Admit("s1", core.Identity{ChannelID: "chan", RunID: "run", Unattended: true})

	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-gate.held; cancel() }()
	if a := d.Ask(ctx, held); a.Allow {
		t.Errorf("a call that has gone was allowed: %+v", a)
	}
	if cause := <-gate.cause; !errors.Is(cause, core.ErrWithdrawn) {
		t.Errorf("cause %v", cause)
	}

	closed := make(chan error, 1)
	go func() { <-gate.held; closed <- l.Close() }()
	if a := d.Ask(t.Context(), held); a.Allow {
		t.Errorf("a call of a broken link was allowed: %+v", a)
	}
	if cause := <-gate.cause; cause == nil || errors.Is(cause, core.ErrWithdrawn) {
		t.Errorf("cause %v", cause)
	}
	<-closed                        // which waits for the gate
	_ = l.Forget(t.Context(), "s1") // fails: the link is down
	gate.mu.Lock()
	defer gate.mu.Unlock()
	if n := len(gate.admitted); n == 0 || !gate.admitted[n-1].Unattended || len(gate.dismissed) != 1 {
		t.Errorf("admitted %+v, dismissed %v", gate.admitted, gate.dismissed)
	} else if ago := time.Since(gate.admitted[n-1].LinkLost); ago < time.Minute || ago > time.Hour {
		t.Errorf("the link before was lost %s ago, by goodHello a minute", ago)
	}
}
