package gate

import (
	"testing"
	"testing/synctest"
	"time"

	"loop/backend/core"
	"loop/backend/wire"
)

// TestEachFactOfACallCounts: whoever answered one call has answered no other, in whatever
// fact they differ. What is shown of them, and the answer's reach, depend on it.
func TestEachFactOfACallCounts(t *testing.T) {
	o := origin{"box", "run1"}
	base := inPlace("/home/ana/.bashrc", "8:5")
	for name, change := range map[string]func(*origin, *wire.Approval){
		"container": func(o *origin, _ *wire.Approval) { o.container = "other" },
		"run":       func(o *origin, _ *wire.Approval) { o.source = "run2" },
		"kind":      func(_ *origin, a *wire.Approval) { a.Kind = wire.KindConnect },
		"operation": func(_ *origin, a *wire.Approval) { a.Operation = "create" },
		"target":    func(_ *origin, a *wire.Approval) { a.Target += "x" },
		"policy":    func(_ *origin, a *wire.Approval) { a.Policy++ },
		"append":    func(_ *origin, a *wire.Approval) { a.Append = false },
		"in place":  func(_ *origin, a *wire.Approval) { a.InPlace = false },
		"category":  func(_ *origin, a *wire.Approval) { a.Category = "" },
		"rule":      func(_ *origin, a *wire.Approval) { a.Rule = "other" },
		"act":       func(_ *origin, a *wire.Approval) { a.Act = act("other") },
		"identity":  func(_ *origin, a *wire.Approval) { a.Identity = "8:6" },
		"from":      func(_ *origin, a *wire.Approval) { a.From = "/x" },
		"unknown":   func(_ *origin, a *wire.Approval) { a.Act = "" },
	} {
		other, by := base, o
		change(&by, &other)
		if sameCall(by, other) == sameCall(o, base) {
			t.Errorf("%s does not count", name)
		}
	}
	if once := sameCall(o, base); once != sameCall(o, base) {
		t.Error("a call is not the same as itself")
	}
	// A file that is written in place has other contents after it, whatever they are now.
	other := base
	base.After, other.After, other.Identity = content("x"), content("x"), "8:6"
	if sameCall(o, base) == sameCall(o, other) {
		t.Error("two files with the same text are one")
	}
	if hashed("ab", "c") == hashed("a", "bc") {
		t.Error("one part passes for two")
	}
}

// TestARunsAnswerIsForThatActAlone: an answer for a run, or a remembered one, covers a call
// that differs from it in nothing.
func TestARunsAnswerIsForThatActAlone(t *testing.T) {
	was := inPlace("/home/ana/.bashrc", "8:5")
	for _, scope := range []core.ApprovalScope{core.ScopeRun, core.ScopeAlways} {
		g := grant{outcome: outcome{state: core.ApprovalAllowed, scope: scope}, act: was}
		if !g.covers(was) {
			t.Errorf("%s: not the act itself", scope)
		}
		for name, change := range map[string]func(*wire.Approval){
			"kind":      func(a *wire.Approval) { a.Kind = wire.KindConnect },
			"act":       func(a *wire.Approval) { a.Act = act("other") },
			"operation": func(a *wire.Approval) { a.Operation = "create" },
			"target":    func(a *wire.Approval) { a.Target += "x" },
			"category":  func(a *wire.Approval) { a.Category = "" },
			"from":      func(a *wire.Approval) { a.From = "/x" },
		} {
			a := was
			change(&a)
			if g.covers(a) {
				t.Errorf("%s: %s does not count", scope, name)
			}
		}
		unknown := was
		unknown.Act = ""
		if (grant{outcome: g.outcome, act: unknown}).covers(unknown) {
			t.Errorf("%s: what is not known is the same", scope)
		}
		secret := was
		secret.Category = "credential"
		if (grant{outcome: g.outcome, act: secret}).covers(secret) {
			t.Errorf("%s: a credential is allowed by an answer from before", scope)
		}
	}
}

// TestAnswersThatCannotBe: an answer whose reach nobody knows, or that nobody can store, or
// that is about groups which the question has not.
func TestAnswersThatCannotBe(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		h := r.held("spawn1", rename("new\n"))
		q := r.one()
		r.o.Rules = nil
		for name, a := range map[string]core.ApprovalAnswer{
			"no scope":      {Allow: true, Digest: q.Digest},
			"another scope": {Allow: true, Digest: q.Digest, Scope: "forever"},
			"no rules":      {Allow: true, Digest: q.Digest, Scope: core.ScopeAlways},
			"groups":        {Digest: q.Digest, Scope: core.ScopeOnce, Groups: []core.GroupAnswer{{ID: "x", Verdict: core.GroupAllowRun}}},
		} {
			if _, err := r.Answer(r.ctx, q.ID, a); core.AsFailure(err).Code != core.CodeInvalid {
				t.Errorf("%s: %v", name, err)
			}
		}
		r.waits(h)
	})
}

// TestWhileAnAnswerIsStored: the question is that answer's until it is stored: its time does
// not end it, and an equal call is asked about by itself.
func TestWhileAnAnswerIsStored(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		h := r.held("spawn1", rename("new\n"))
		q := r.one()
		r.rules.wait = make(chan struct{})
		got := make(chan error, 1)
		r.calls.Go(func() {
			_, err := r.Answer(r.ctx, q.ID, core.ApprovalAnswer{Allow: true, Scope: core.ScopeAlways, Digest: q.Digest})
			got <- err
		})
		synctest.Wait()
		r.pass(defaultTime - time.Second)
		again := r.held("spawn1", rename("new\n"))
		r.pass(10 * time.Second)
		r.waits(h)
		if len(r.Pending()) != 2 {
			t.Errorf("%d questions", len(r.Pending()))
		}
		close(r.rules.wait)
		if err := <-got; err != nil || !r.now(h).Allow || !r.now(again).Allow {
			t.Errorf("%v", err)
		}
	})
}

// TestTimesOfQuestionsAreBounded: neither a setting nor more time makes a question good for
// longer than a day, or for no time at all.
func TestTimesOfQuestionsAreBounded(t *testing.T) {
	for set, want := range map[time.Duration]time.Duration{0: defaultTime, -time.Hour: defaultTime, 48 * time.Hour: maxTime, time.Hour: time.Hour} {
		if got := timeOf(Settings{Timeout: set}); got != want {
			t.Errorf("%v: %v", set, got)
		}
	}
	bubble(t, func(t *testing.T, r *rig) {
		r.settings(func(s *Settings) { s.Timeout = maxTime - time.Minute })
		r.held("spawn1", rename("new\n"))
		for range 3 {
			if _, err := r.Extend(r.one().ID); err != nil {
				t.Fatal(err)
			}
		}
		if q := r.one(); q.Deadline.Sub(q.CreatedAt) != maxTime-time.Minute+extension {
			t.Errorf("until %v after it was asked", q.Deadline.Sub(q.CreatedAt))
		}
	})
}

// TestWhoAnAnswerIsFor: an answer in one terminal holds for no other, not for the next
// program of the same id, and a run's not for the run that has its spawn now.
func TestWhoAnAnswerIsFor(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.Admit("box", "shell2", core.Identity{ChannelID: "chan"})
		allowed := func(spawn core.SpawnID) {
			t.Helper()
			h := r.held(spawn, rename("new\n"))
			r.answer(r.one(), true, core.ScopeRun)
			if !r.now(h).Allow {
				t.Fatal("not allowed")
			}
		}
		asked := func(spawn core.SpawnID, run core.RunID) {
			t.Helper()
			h := r.held(spawn, rename("new\n"))
			r.waits(h)
			if q := r.one(); q.RunID != run {
				t.Errorf("run %q", q.RunID)
			}
			r.answer(r.one(), false, core.ScopeOnce)
		}
		allowed("shell")
		asked("shell2", "")
		r.Dismiss("shell")
		r.Admit("box", "shell", core.Identity{ChannelID: "chan"})
		asked("shell", "")
		allowed("spawn1")
		r.Admit("box", "spawn1", core.Identity{ChannelID: "chan", RunID: "run9"})
		asked("spawn1", "run9")
		// The end of no run is nobody's end.
		h := r.held("shell2", inPlace("/home/ana/.profile", "8:5"))
		r.Stop("", "over")
		r.waits(h)
	})
}

// TestARememberedRuleIsItsProjects: a rule that was stored for a project holds in no other
// for programs that do not know it yet, and not for those that were started since.
func TestARememberedRuleIsItsProjects(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.Admit("box", "theirs", core.Identity{ChannelID: "other", RunID: "run5"})
		h := r.held("spawn1", rename("new\n"))
		r.answer(r.one(), true, core.ScopeProject)
		if !r.now(h).Allow || !r.now(r.held("spawn2", rename("new\n"))).Allow {
			t.Fatal("not allowed in the project")
		}
		r.waits(r.held("theirs", rename("new\n")))
		r.Starts("spawn2") // its policy has the rule by now, or has it not any more
		r.waits(r.held("spawn2", rename("new\n")))
		r.Renewed("spawn1") // likewise, as it runs
		r.waits(r.held("spawn1", rename("new\n")))
	})
}

// TestWhatMayBeRepeated: an answer once holds again only where it makes exactly what was
// shown once more, for as long as its tool call takes or a moment.
func TestWhatMayBeRepeated(t *testing.T) {
	for name, c := range map[string]struct {
		a    wire.Approval
		want bool
	}{
		"a rename whose text was shown": {rename("x\n"), true},
		"writing in place":              {inPlace("/home/ana/.bashrc", "8:5"), false},
		"making in place":               {wire.Approval{Kind: wire.KindFile, Operation: "create", InPlace: true}, false},
		"a deletion":                    {wire.Approval{Kind: wire.KindFile, Operation: "delete"}, true},
		"a credential":                  {wire.Approval{Kind: wire.KindFile, Operation: "delete", Category: "credential"}, false},
		"a program":                     {wire.Approval{Kind: wire.KindExec}, false},
		"a write of what is not known":  {wire.Approval{Kind: wire.KindFile, Operation: "write"}, false},
	} {
		if repeatable(c.a, core.ApprovalAllowed) != c.want || !repeatable(c.a, core.ApprovalDenied) {
			t.Errorf("%s: %v", name, !c.want)
		}
	}
	m, o, now := newMemory(), origin{"box", "run1"}, time.Now()
	once := func(a wire.Approval, s core.ApprovalState, tool string) {
		m.keepRepeat(a, repeat{outcome{state: s}, o, "run1", tool, now.Add(repeatsLast)})
	}
	tmp := rename("x\n")
	tmp.Target, tmp.Operation = "/home/ana/.profile.tmp.1.ab", "create"
	once(tmp, core.ApprovalAllowed, "")
	if _, known := m.repeated(o, inPlace("/home/ana/.profile", "8:5"), now); known {
		t.Error("who allowed the temporary file has allowed the other")
	}
	once(rename("x\n"), core.ApprovalAllowed, "")
	for after, want := range map[time.Duration]bool{repeatsLast - 1: true, repeatsLast: false} {
		if _, known := m.repeated(o, rename("x\n"), now.Add(after)); known != want {
			t.Errorf("after %v: %v", after, known)
		}
	}
	if _, known := m.repeated(o, rename("x\n"), now.Add(repeatsLast)); known {
		t.Error("asking makes an answer last")
	}
}

// TestManyQuestionsThatComeSlowly: also a run that takes its time has no more than so many
// open.
func TestManyQuestionsThatComeSlowly(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		for i := range maxPerRun + 1 {
			r.held("spawn1", inPlace("/home/ana/.npm/a/"+string(rune('a'+i)), "8:5"))
			r.pass(time.Second)
		}
		if q := r.one(); !isFlood(q) || q.Calls != maxPerRun+1 {
			t.Errorf("question %+v", q)
		}
	})
}

// TestOnlyASeenGateEnforces: before a program has shown that the gate holds, and where one
// has shown that it does not, nobody relies on it.
func TestOnlyASeenGateEnforces(t *testing.T) {
	s := New(Options{})
	for _, c := range []struct {
		state string
		want  bool
	}{{"", false}, {"unknown", false}, {"broken", false}, {"off", false}, {"on", true}} {
		if c.state != "" {
			s.SetStatus(core.GateStatus{State: c.state})
		}
		if s.Enforces() != c.want {
			t.Errorf("%q: %v", c.state, !c.want)
		}
	}
}

// TestAnswersThatAreKeptAreBounded: a program that is answered as fast as it asks does not
// fill the memory.
func TestAnswersThatAreKeptAreBounded(t *testing.T) {
	now := time.Now() // the same for all: answers grow old
	m := newMemory()
	who := &asker{who: who{Container: "box", RunID: "run1"}}
	for i := range maxRepeats + 10 {
		a := inPlace("/home/ana/.bashrc", "8:5")
		a.Act = hashed(string(rune(i)))
		for _, scope := range []core.ApprovalScope{core.ScopeOnce, core.ScopeRun, core.ScopeAlways} {
			m.keep(who, a, outcome{state: core.ApprovalDenied, scope: scope}, "", now)
		}
	}
	if len(m.repeats) != maxRepeats || len(m.grants[who.origin()]) != maxGrants || len(m.stored) != maxGrants {
		t.Errorf("%d, %d and %d are kept", len(m.repeats), len(m.grants[who.origin()]), len(m.stored))
	}
	unknown := inPlace("/home/ana/.profile", "8:5")
	unknown.Act = ""
	m = newMemory()
	for _, scope := range []core.ApprovalScope{core.ScopeOnce, core.ScopeRun, core.ScopeAlways} {
		m.keep(who, unknown, outcome{state: core.ApprovalAllowed, scope: scope}, "", time.Now())
	}
	if len(m.repeats)+len(m.grants)+len(m.stored) != 0 {
		t.Error("what is not known to be the same is kept")
	}
}
