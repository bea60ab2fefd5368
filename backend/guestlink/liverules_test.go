//go:build linux

package guestlink_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"testing"

	"github.com/hashicorp/yamux"

	"loop/backend/core"
	"loop/backend/guestlink"
	"loop/backend/wire"
)

// changingRules are rules as the settings have them.
type changingRules struct {
	mu  sync.Mutex
	doc []byte
	err error

	read chan struct{} // has a value for each reading
}

func (r *changingRules) set(doc string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.doc, r.err = []byte(doc), err
	if doc == "" {
		r.doc = nil
	}
}

func (r *changingRules) now() ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.read <- struct{}{}
	return r.doc, r.err
}

// TestRulesReachRunningPrograms: a spawn is given the rules that count now, once for each
// change, with a newer version each time. Rules that cannot be read, or a gate that was
// switched off, leave it what it has.
func TestRulesReachRunningPrograms(t *testing.T) {
	type sent struct {
		version int64
		doc     string
	}
	got := make(chan sent, 1)
	gate := &watchedGate{renewed: make(chan core.SpawnID, 1)}
	link, _ := open(t, guestlink.Options{Gate: gate, Log: slog.New(slog.DiscardHandler)}, func(q wire.Request, st *yamux.Stream) {
		switch q.Op {
		case wire.OpSpawn:
			_, _ = io.CopyN(io.Discard, st, q.Spawn.Policy.Size)
			reply(st, wire.Reply{Info: &wire.Info{ID: q.ID, Pid: 1, Stdio: wire.StdioPipes}})
		case wire.OpPolicy:
			doc, _ := io.ReadAll(io.LimitReader(st, q.Policy.Size))
			reply(st, wire.Reply{Policy: &wire.PolicyState{Version: q.Policy.Version, Hash: q.Policy.Hash}})
			got <- sent{q.Policy.Version, string(doc)}
		case wire.OpList:
			reply(st, wire.Reply{Spawns: []wire.Info{{ID: "s1", Pid: 1, Stdio: wire.StdioPipes}, {ID: "s3", Pid: 2, Stdio: wire.StdioPipes}}})
		case wire.OpForget:
			reply(st, wire.Reply{})
		default:
			_, _ = io.Copy(io.Discard, st)
		}
	})
	pool := guestlink.NewPool(opened{link})
	l, err := pool.Open(t.Context(), core.Container{ID: "box"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()

	rules := &changingRules{read: make(chan struct{}, 100)}
	rules.set("first", nil)
	l.Admit("s1", core.Identity{ChannelID: "c", Rules: rules.now})
	if first := <-got; first.doc != "first" { // it may run since an earlier link
		t.Fatalf("%+v", first)
	}
	<-gate.renewed
	rules.set("second", nil)
	req := core.SpawnRequest{ID: "s1", Argv: []string{"true"}, Stdio: core.StdioPipes, Policy: []byte("first"), PolicyVersion: 1}
	if _, err := l.Spawn(t.Context(), req); err != nil { // they changed while it was being started
		t.Fatal(err)
	}
	second := <-got
	if second.doc != "second" || second.version <= 1 {
		t.Fatalf("%+v", second)
	}
	<-gate.renewed
	for _, kept := range []func(){
		func() {}, // the same
		func() { rules.set("", nil) },
		func() { rules.set("third", errors.New("a rule cannot be used")) },
	} {
		kept()
		for len(rules.read) > 0 {
			<-rules.read
		}
		pool.RulesChanged()
		<-rules.read
	}
	rules.set("fourth", nil)
	pool.RulesChanged()
	fourth := <-got
	if fourth.doc != "fourth" || fourth.version <= second.version {
		t.Fatalf("%+v after %+v", fourth, second)
	}
	if id := <-gate.renewed; id != "s1" {
		t.Errorf("the gate was told of %q", id)
	}
	_ = l.Forget(t.Context(), "s1")
	fresh := &changingRules{read: make(chan struct{}, 100)}
	l.Admit("new", core.Identity{ChannelID: "c", Rules: fresh.now}) // not started yet
	l.Admit("s2", core.Identity{ChannelID: "c"})                    // keeps what it was started with
	rules.set("fifth", nil)
	pool.RulesChanged()
	others := &changingRules{read: make(chan struct{}, 100)}
	others.set("others", nil)
	l.Admit("s3", core.Identity{ChannelID: "c", Rules: others.now})
	if last := <-got; last.doc != "others" { // and nothing before it
		t.Errorf("%+v", last)
	}
	if len(fresh.read) > 0 {
		t.Error("the rules of a program that was not started were read")
	}
}

// opened is a source of one link.
type opened struct{ core.Link }

func (o opened) Open(context.Context, core.Container) (core.Link, error) { return o.Link, nil }
