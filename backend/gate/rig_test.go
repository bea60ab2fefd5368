package gate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"loop/backend/bus"
	"loop/backend/core"
	"loop/backend/wire"
)

// rig is a queue with its surroundings, in a bubble of synctest.
type rig struct {
	*Service
	t      *testing.T
	ctx    context.Context
	bus    *bus.Bus
	events *bus.Subscription
	mu     sync.Mutex // over set and slept, which timers read at any time
	set    Settings
	slept  time.Duration // how far the calendar is ahead of the steady clock
	audit  *fakeAudit
	rules  *fakeRules
	kept   *fakeTimeline
	calls  sync.WaitGroup
}

type fakeAudit struct {
	mu   sync.Mutex
	list []Record
	err  error
}

func (a *fakeAudit) Append(r Record) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.err == nil {
		a.list = append(a.list, r)
	}
	return a.err
}

func (a *fakeAudit) all() []Record {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.list)
}

// fail makes every further record an error, or none if err is nil.
func (a *fakeAudit) fail(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.err = err
}

type fakeRules struct {
	list   []Rule
	undone int
	err    error
	wait   chan struct{} // if not nil, Remember returns when it is closed
}

func (r *fakeRules) Remember(_ context.Context, _ core.ApprovalScope, _ core.ChannelID, rule Rule) (func(context.Context) error, error) {
	if r.wait != nil {
		<-r.wait
	}
	r.list = append(r.list, rule)
	return func(context.Context) error { r.undone++; return nil }, r.err
}

type fakeTimeline struct {
	mu   sync.Mutex
	list []core.Event
}

func (f *fakeTimeline) AddEvents(_ context.Context, events ...core.Event) ([]core.Event, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range events {
		events[i].ID = int64(len(f.list) + i + 1)
	}
	f.list = append(f.list, events...)
	return events, nil
}

func (f *fakeTimeline) GateEvents(_ context.Context, run core.RunID) (out []core.Event, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range f.list {
		if e.RunID == run && (e.Type == core.EventGateAsked || e.Type == core.EventGateResolved) {
			out = append(out, e)
		}
	}
	return out, nil
}

// bubble runs a test with a queue that runs, and ends both.
func bubble(t *testing.T, test func(t *testing.T, r *rig)) {
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancel(t.Context())
		r := &rig{t: t, ctx: ctx, bus: bus.New(), audit: &fakeAudit{}, rules: &fakeRules{}, kept: &fakeTimeline{}}
		r.events, _ = r.bus.Resume("", 0)
		r.Service = New(Options{
			Bus: r.bus, Timeline: r.kept, Rules: r.rules, Audit: r.audit, Settings: r.current, Now: r.calendar,
		})
		var runs sync.WaitGroup
		runs.Go(func() { _ = r.Run(ctx) })
		for i, run := range []core.RunID{"run1", "run2"} {
			r.Admit("box", core.SpawnID("spawn"+string(rune('1'+i))), core.Identity{ChannelID: "chan", RunID: run})
		}
		r.Admit("box", "shell", core.Identity{ChannelID: "chan"})
		r.Admit("box", "alone", core.Identity{ChannelID: "chan", RunID: "night", Unattended: true})
		test(t, r)
		r.Close()
		r.calls.Wait()
		end()
		runs.Wait()
	})
}

// ask is a held call of which the verdict is still to come.
type ask struct {
	verdict chan core.Verdict
	leave   context.CancelCauseFunc
}

func (r *rig) held(spawn core.SpawnID, a wire.Approval) ask {
	r.t.Helper()
	raw, err := json.Marshal(a)
	if err != nil {
		r.t.Fatal(err)
	}
	ctx, leave := context.WithCancelCause(r.ctx)
	h := ask{make(chan core.Verdict, 1), leave}
	r.calls.Go(func() { h.verdict <- r.Held(ctx, "box", core.HeldCall{Spawn: spawn, Kind: a.Kind, Detail: raw}) })
	synctest.Wait()
	return h
}

// now returns the verdict that must be there.
func (r *rig) now(h ask) core.Verdict {
	r.t.Helper()
	synctest.Wait()
	select {
	case v := <-h.verdict:
		return v
	default:
		r.t.Fatal("the call is still held")
		return core.Verdict{}
	}
}

func (r *rig) waits(h ask) {
	r.t.Helper()
	synctest.Wait()
	select {
	case v := <-h.verdict:
		r.t.Fatalf("the call was decided: %+v", v)
	default:
	}
}

// one returns the only question.
func (r *rig) one() core.Approval {
	r.t.Helper()
	list := r.Pending()
	if len(list) != 1 {
		r.t.Fatalf("%d questions wait, not one", len(list))
	}
	return list[0]
}

func (r *rig) answer(q core.Approval, allow bool, scope core.ApprovalScope) {
	r.t.Helper()
	if _, err := r.Answer(r.ctx, q.ID, core.ApprovalAnswer{Allow: allow, Scope: scope, Digest: q.Digest, By: "window"}); err != nil {
		r.t.Fatal(err)
	}
	synctest.Wait()
}

// heard are the events of a type so far.
func (r *rig) heard(want core.EventType) (out []core.Approval) {
	r.t.Helper()
	synctest.Wait()
	sub, _ := r.bus.Resume(r.bus.Launch(), 0)
	defer sub.Close()
	events, err := sub.Next(bus.RingSize)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, e := range events {
		if e.Type == want {
			var a core.Approval
			if err := json.Unmarshal(e.Data, &a); err != nil {
				r.t.Fatal(err)
			}
			out = append(out, a)
		}
	}
	return out
}

func content(text string) *wire.Content {
	sum := sha256.Sum256([]byte(text))
	return &wire.Content{Text: []byte(text), Size: int64(len(text)), SHA256: hex.EncodeToString(sum[:])}
}

// rename is the CLI's write of a start-up file.
func rename(text string) wire.Approval {
	return wire.Approval{
		Kind: wire.KindFile, Target: "/home/ana/.bashrc", Message: "shells run it", Operation: "write", Call: "renameat2",
		From: "/home/ana/.bashrc.tmp.1", Rule: "startup", Category: "startup", Policy: 1, Identity: "8:100",
		Before: content("old\n"), After: content(text), Act: act("rename"),
		Processes: []wire.Process{{Pid: 7, Started: 1, Exe: "/usr/bin/bash", Command: "bash -c 'echo hi >> ~/.bashrc'"}},
	}
}

// inPlace is an open for writing of a file with an inode.
func inPlace(target, identity string) wire.Approval {
	return wire.Approval{Kind: wire.KindFile, Target: target, Operation: "write", Call: "openat", Category: "startup", Policy: 1,
		Identity: identity, InPlace: true, Append: true, Act: act("open")}
}

// act is the hash of what a call does.
func act(what string) string { return hashed(what) }

func mustFail(t *testing.T, err, is error) {
	t.Helper()
	if !errors.Is(err, is) {
		t.Fatalf("error %v, want %v", err, is)
	}
}

// pass lets time go by in the bubble.
func (r *rig) settings(change func(*Settings)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.set)
}

func (r *rig) current() Settings {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.set
}

// sleep puts the calendar ahead of the steady clock, as a suspended computer does.
func (r *rig) sleep(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.slept += d
}

func (r *rig) calendar() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return time.Now().Round(0).Add(r.slept)
}

func (r *rig) pass(d time.Duration) {
	r.t.Helper()
	<-time.After(d)
	synctest.Wait()
}
