package store

import (
	"context"
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"loop/backend/core"
)

// clocked opens a store whose clock the test sets.
func clocked(t testing.TB) (*Store, *time.Time) {
	t.Helper()
	now := epoch
	s, err := Open(context.Background(), filepath.Join(t.TempDir(), "loop.db"), Options{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, &now
}

func claim(t testing.TB, s *Store, ch core.ChannelID) core.RunID {
	t.Helper()
	run, ok, err := s.ClaimNext(context.Background(), ch)
	if err != nil {
		t.Fatal(err)
	}
	if ok != (run.ID != "") {
		t.Fatalf("ok %v with run %q", ok, run.ID)
	}
	return run.ID
}

func finish(t testing.TB, s *Store, id core.RunID) {
	t.Helper()
	run, err := s.Run(context.Background(), id)
	if err != nil {
		t.Fatal(err)
	}
	run.State = core.RunCancelled
	if _, err := s.FinishRun(context.Background(), run); err != nil {
		t.Fatal(err)
	}
}

func order(t testing.TB, s *Store, ch core.ChannelID) (ids []core.RunID) {
	t.Helper()
	list, err := s.Queue(context.Background(), ch)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range list {
		ids = append(ids, r.ID)
	}
	return ids
}

func TestChannelsKeepWhatThreadsAndWorktreesHave(t *testing.T) {
	s := open(t)
	ctx := context.Background()
	addChannel(t, s, "p")
	want := core.Channel{
		ID: "w", ParentID: "p", Kind: core.KindWorktree, Name: "fix", Dir: "/repo/p/.worktrees/fix", SessionID: "s", DemoSessionID: "d",
		NextSession: core.SessionStart{Mode: core.SessionFork, SessionID: "s", At: "u"}, DemoNextSession: core.SessionStart{Mode: core.SessionFresh},
		StateID: "p", Branch: "fix", ParentDir: "/repo/p", CreatedAt: epoch.Local(),
	}
	if err := s.AddChannel(ctx, want); err != nil {
		t.Fatal(err)
	}
	got, err := s.Channel(ctx, "w")
	if err != nil {
		t.Fatal(err)
	}
	got.CreatedAt, want.CreatedAt = got.CreatedAt.UTC(), want.CreatedAt.UTC()
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("got %+v\nwant %+v", got, want)
	}
	if err := s.SetChannelNext(ctx, "w", false, core.SessionStart{}, ""); err != nil {
		t.Fatal(err)
	}
	if got, _ = s.Channel(ctx, "w"); got.NextSession != (core.SessionStart{}) || got.DemoNextSession != want.DemoNextSession {
		t.Fatalf("after clearing one: %+v", got)
	}
	if err := s.SetChannelNext(ctx, "none", true, core.SessionStart{}, ""); !errors.Is(err, core.ErrNotFound) {
		t.Fatalf("unknown channel: %v", err)
	}
}

func TestDoneForgetsHowTheNextRunWasToBegin(t *testing.T) {
	ctx := context.Background()
	for _, tc := range []struct {
		name    string
		state   core.RunState
		session core.SessionID
		demo    bool
		cleared bool
	}{
		{"done", core.RunDone, "new", false, true},
		{"done with the other model", core.RunDone, "new", true, false},
		{"failed", core.RunFailed, "new", false, false},
		{"done without a session", core.RunDone, "", false, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := open(t)
			next := core.SessionStart{Mode: core.SessionFork}
			if err := s.AddChannel(ctx, core.Channel{ID: "c", Kind: core.KindThread, SessionID: "old", NextSession: next}); err != nil {
				t.Fatal(err)
			}
			enqueue(t, s, core.Run{ID: "r", ChannelID: "c", Prompt: "x", Demo: tc.demo})
			run, _, err := s.ClaimNext(ctx, "c")
			if err != nil {
				t.Fatal(err)
			}
			run.State, run.Outcome.SessionID = tc.state, tc.session
			if _, err := s.FinishRun(ctx, run); err != nil {
				t.Fatal(err)
			}
			ch, _ := s.Channel(ctx, "c")
			if cleared := ch.NextSession == (core.SessionStart{}); cleared != tc.cleared {
				t.Errorf("next session %+v", ch.NextSession)
			}
			if replaced := ch.SessionID == "new"; replaced != tc.cleared {
				t.Errorf("session %q", ch.SessionID)
			}
		})
	}
}

// TestAWishOfARunUnderWayIsForTheNext: an agent chooses another session while its own
// run goes on. The choice counts for the next run.
func TestAWishOfARunUnderWayIsForTheNext(t *testing.T) {
	s := open(t)
	ctx := context.Background()
	if err := s.AddChannel(ctx, core.Channel{ID: "c", Kind: core.KindThread, NextSession: core.SessionStart{Mode: core.SessionFork, SessionID: "old"}}); err != nil {
		t.Fatal(err)
	}
	wish := core.SessionStart{Mode: core.SessionResume, SessionID: "other"}
	for i, want := range []core.SessionStart{wish, {}} {
		id := core.RunID(rune('a' + i))
		enqueue(t, s, core.Run{ID: id, ChannelID: "c", Prompt: "x"})
		run, ok, err := s.ClaimNext(ctx, "c")
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		if i == 0 {
			if err := s.SetChannelNext(ctx, "c", false, wish, ""); err != nil {
				t.Fatal(err)
			}
		}
		run.State, run.Outcome.SessionID = core.RunDone, "own"
		if _, err := s.FinishRun(ctx, run); err != nil {
			t.Fatal(err)
		}
		if ch, err := s.Channel(ctx, "c"); err != nil || ch.NextSession != want || ch.SessionID != "own" {
			t.Errorf("%d: %+v, %v", i, ch, err)
		}
	}
}

// TestARunSetsOnlyTheStartThatItWasClaimedWith: a wish for the next run, or taking one
// back, counts more than what a run that was under way then would set.
func TestARunSetsOnlyTheStartThatItWasClaimedWith(t *testing.T) {
	s := open(t)
	ctx := context.Background()
	addChannel(t, s, "c")
	enqueue(t, s, core.Run{ID: "r", ChannelID: "c", Prompt: "x"})
	if _, ok, err := s.ClaimNext(ctx, "c"); err != nil || !ok {
		t.Fatal(ok, err)
	}
	own, other := core.SessionStart{Mode: core.SessionResume, SessionID: "own"}, core.SessionStart{Mode: core.SessionResume, SessionID: "other"}
	for i, tc := range []struct {
		start core.SessionStart
		by    core.RunID
		want  core.SessionStart
	}{{own, "r", own}, {own, "r", own}, {other, "", other}, {own, "r", other}, {core.SessionStart{}, "", core.SessionStart{}}, {own, "r", core.SessionStart{}}} {
		if err := s.SetChannelNext(ctx, "c", false, tc.start, tc.by); err != nil {
			t.Fatal(err)
		}
		if ch, err := s.Channel(ctx, "c"); err != nil || ch.NextSession != tc.want {
			t.Errorf("%d: %+v, %v", i, ch.NextSession, err)
		}
	}
}

func TestRunsKeepHowTheyBeginAndWhereTheyStand(t *testing.T) {
	s := open(t)
	ctx := context.Background()
	addChannel(t, s, "c")
	run := enqueue(t, s, core.Run{ID: "r", ChannelID: "c", Prompt: "x", Plan: true, Unattended: true, Trigger: "agent", Session: core.SessionStart{Mode: core.SessionResume, SessionID: "s"}})
	if !run.Plan || !run.Unattended || run.Trigger != "agent" || run.Session.SessionID != "s" {
		t.Fatalf("stored %+v", run)
	}
	run, _, err := s.ClaimNext(ctx, "c")
	if err != nil {
		t.Fatal(err)
	}
	run.Attempt = core.Attempt{Number: 2, Kind: core.AttemptTransient, Reason: "busy", DelayMs: 5000}
	if _, err := s.UpdateRun(ctx, run); err != nil {
		t.Fatal(err)
	}
	got, err := s.Run(ctx, "r")
	if err != nil || got.Attempt.Kind != core.AttemptTransient || got.Attempt.Number != 2 || got.Attempt.Delay != 5*time.Second {
		t.Fatalf("attempt %+v, %v", got.Attempt, err)
	}
}

func TestQueueIsReorderedWholeOrNotAtAll(t *testing.T) {
	s := open(t)
	ctx := context.Background()
	addChannel(t, s, "c")
	for _, r := range []core.Run{{ID: "a"}, {ID: "b", Priority: 3}, {ID: "d"}} {
		r.ChannelID, r.Prompt = "c", string(r.ID)
		enqueue(t, s, r)
	}
	before := order(t, s, "c")
	for _, bad := range [][]core.RunID{{"a", "b"}, {"a", "b", "d", "e"}, {"a", "a", "b"}, {}, nil} {
		if _, err := s.ReorderQueue(ctx, "c", bad); !errors.Is(err, core.ErrConflict) {
			t.Errorf("%v: %v", bad, err)
		}
		if got := order(t, s, "c"); !slices.Equal(got, before) {
			t.Fatalf("%v left %v", bad, got)
		}
	}
	want := []core.RunID{"d", "a", "b"}
	got, err := s.ReorderQueue(ctx, "c", want)
	if err != nil || len(got) != 3 || got[0].Rank != 1 || got[0].Priority != 3 || got[2].Priority != 3 {
		t.Fatalf("%+v, %v", got, err)
	}
	// A new run is last. A promoted run is first, and its delay ends.
	enqueue(t, s, core.Run{ID: "e", ChannelID: "c", Prompt: "e", Priority: 3, NotBefore: epoch.Add(time.Hour)})
	if got := order(t, s, "c"); !slices.Equal(got, append(want, "e")) {
		t.Fatalf("a new one went to %v", got)
	}
	run, err := s.PromoteQueued(ctx, "e")
	if err != nil || run.Priority != 4 || !run.NotBefore.IsZero() {
		t.Fatalf("%+v, %v", run, err)
	}
	if got := claim(t, s, "c"); got != "e" {
		t.Fatalf("claimed %q", got)
	}
	for name, f := range map[string]func() error{
		"edit":    func() error { _, _, err := s.EditQueued(ctx, "e", "late"); return err },
		"hold":    func() error { _, err := s.HoldQueued(ctx, "e", epoch.Add(time.Minute)); return err },
		"promote": func() error { _, err := s.PromoteQueued(ctx, "e"); return err },
		"reorder": func() error { _, err := s.ReorderQueue(ctx, "c", []core.RunID{"d", "a", "b", "e"}); return err },
	} {
		if err := f(); !errors.Is(err, core.ErrConflict) {
			t.Errorf("%s of a run that has started: %v", name, err)
		}
	}
	if _, _, err := s.EditQueued(ctx, "none", "x"); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("edit of nothing: %v", err)
	}
}

func TestAnEditedPromptHoldsWhatIsBehindIt(t *testing.T) {
	s, now := clocked(t)
	ctx := context.Background()
	addChannel(t, s, "c")
	for _, id := range []core.RunID{"first", "second", "third"} {
		enqueue(t, s, core.Run{ID: id, ChannelID: "c", Prompt: string(id)})
	}
	if _, err := s.HoldQueued(ctx, "second", now.Add(5*time.Minute)); err != nil {
		t.Fatal(err)
	}
	if got := claim(t, s, "c"); got != "first" {
		t.Fatalf("claimed %q", got)
	}
	finish(t, s, "first")
	if got := claim(t, s, "c"); got != "" {
		t.Fatalf("claimed %q behind an edit", got)
	}
	run, _, err := s.EditQueued(ctx, "second", "better", core.NewEvent(core.EventMessageUpdated, "c", "second", *now, core.MessageUpdated{MsgID: "second", Content: "better"}))
	if err != nil || run.Prompt != "better" || !run.HoldUntil.IsZero() {
		t.Fatalf("%+v, %v", run, err)
	}
	if got := claim(t, s, "c"); got != "second" {
		t.Fatalf("claimed %q after the edit", got)
	}
	finish(t, s, "second")
	if _, err := s.HoldQueued(ctx, "third", now.Add(5*time.Minute)); err != nil {
		t.Fatal(err)
	}
	*now = now.Add(5*time.Minute + time.Millisecond)
	if got := claim(t, s, "c"); got != "third" {
		t.Fatalf("claimed %q after the lease ran out", got)
	}
}

// TestAClockPutBackADay: no run waits longer than its delay.
func TestAClockPutBackADay(t *testing.T) {
	s, now := clocked(t)
	ctx := context.Background()
	addChannel(t, s, "c")
	enqueue(t, s, core.Run{ID: "later", ChannelID: "c", Prompt: "x", CreatedAt: *now, NotBefore: now.Add(10 * time.Minute)})
	*now = now.Add(-24 * time.Hour)
	if got := claim(t, s, "c"); got != "" {
		t.Fatalf("claimed %q at once", got)
	}
	list, err := s.Queue(ctx, "c")
	if err != nil || !list[0].NotBefore.Equal(now.Add(10*time.Minute)) {
		t.Fatalf("waits until %v, %v", list[0].NotBefore, err)
	}
	*now = now.Add(10 * time.Minute)
	if got := claim(t, s, "c"); got != "later" {
		t.Fatalf("claimed %q after its delay", got)
	}
	finish(t, s, "later")
	enqueue(t, s, core.Run{ID: "edited", ChannelID: "c", Prompt: "x"})
	if _, err := s.HoldQueued(ctx, "edited", now.Add(4*time.Minute)); err != nil {
		t.Fatal(err)
	}
	*now = now.Add(-24 * time.Hour)
	if got := claim(t, s, "c"); got != "edited" {
		t.Fatalf("claimed %q: a hold of yesterday still counts", got)
	}
}

func BenchmarkEnqueueAndClaim(b *testing.B) {
	s := open(b)
	ctx := context.Background()
	addChannel(b, s, "c")
	for b.Loop() {
		id := core.RunID(core.NewID())
		if _, _, _, err := s.Enqueue(ctx, core.Run{ID: id, ChannelID: "c", Prompt: "a prompt of an ordinary length"}); err != nil {
			b.Fatal(err)
		}
		if got := claim(b, s, "c"); got != id {
			b.Fatalf("claimed %q", got)
		}
		finish(b, s, id)
	}
}
