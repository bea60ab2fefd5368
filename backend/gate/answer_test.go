package gate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"loop/backend/core"
	"loop/backend/policy"
	"loop/backend/wire"
)

// J7: two windows answer.
func TestTheFirstAnswerCounts(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		h := r.held("spawn1", rename("new\n"))
		q := r.one()
		r.answer(q, false, core.ScopeOnce)
		_, err := r.Answer(r.ctx, q.ID, core.ApprovalAnswer{Allow: true, Scope: core.ScopeOnce, Digest: q.Digest})
		mustFail(t, err, core.ErrNotFound)
		if r.now(h).Allow {
			t.Fatal("the second answer counted")
		}
	})
}

func TestAnAnswerNamesWhatWasShown(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		h := r.held("spawn1", rename("new\n"))
		q := r.one()
		for _, digest := range []string{"", q.Digest[1:], strings.Repeat("0", 64)} {
			_, err := r.Answer(r.ctx, q.ID, core.ApprovalAnswer{Allow: true, Scope: core.ScopeOnce, Digest: digest})
			mustFail(t, err, core.ErrConflict)
		}
		r.waits(h)
	})
}

func TestTheDigestNamesEveryFact(t *testing.T) {
	s := New(Options{})
	of := func(a wire.Approval) string {
		q := s.newQuestion(&asker{}, a, "key")
		q.view.ID = "same"
		return digest(q)
	}
	base := of(rename("new\n"))
	if base != of(rename("new\n")) {
		t.Fatal("the digest is another each time")
	}
	for name, change := range map[string]func(*wire.Approval){
		"target":  func(a *wire.Approval) { a.Target += "x" },
		"policy":  func(a *wire.Approval) { a.Policy++ },
		"inode":   func(a *wire.Approval) { a.Identity = "8:9" },
		"after":   func(a *wire.Approval) { a.After = content("x") },
		"before":  func(a *wire.Approval) { a.Before = content("x") },
		"rule":    func(a *wire.Approval) { a.Rule = "x" },
		"process": func(a *wire.Approval) { a.Processes[0].Command = "x" },
		"act":     func(a *wire.Approval) { a.Act = act("other") },
		"detail":  func(a *wire.Approval) { a.Details = map[string]string{"mode": "4755"} },
		"from":    func(a *wire.Approval) { a.From = "/x" },
	} {
		a := rename("new\n")
		change(&a)
		if of(a) == base {
			t.Errorf("%s does not count", name)
		}
	}
}

func TestWhatIsNeverRemembered(t *testing.T) {
	for _, cat := range []string{"credential", "socket", "escape", "gate"} {
		bubble(t, func(t *testing.T, r *rig) {
			a := inPlace("/run/thing", "8:5")
			a.Category = cat
			h := r.held("spawn1", a)
			q := r.one()
			if len(q.Offers) != 0 {
				t.Fatalf("%s: offers %+v", cat, q.Offers)
			}
			for _, sc := range []core.ApprovalScope{core.ScopeRun, core.ScopeProject, core.ScopeAlways} {
				if _, err := r.Answer(r.ctx, q.ID, core.ApprovalAnswer{Allow: true, Scope: sc, Digest: q.Digest}); core.AsFailure(err).Code != core.CodeForbidden {
					t.Fatalf("%s, %s: %v", cat, sc, err)
				}
			}
			for _, sc := range []core.ApprovalScope{core.ScopeProject, core.ScopeAlways} { // nor is a denial
				if _, err := r.Answer(r.ctx, q.ID, core.ApprovalAnswer{Scope: sc, Digest: q.Digest}); core.AsFailure(err).Code != core.CodeForbidden {
					t.Fatalf("%s, denied %s: %v", cat, sc, err)
				}
			}
			r.answer(q, false, core.ScopeRun)
			if r.now(h).Allow || r.now(r.held("spawn1", a)).Allow {
				t.Fatal("allowed")
			}
		})
	}
}

// "For this program" ends with the program, also where it is started again.
func TestATerminalsProgramIsStartedAgain(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		for spawn, asks := range map[core.SpawnID]bool{"shell": true, "spawn1": false} {
			h := r.held(spawn, rename("new\n"))
			r.answer(r.one(), true, core.ScopeRun)
			if !r.now(h).Allow {
				t.Fatal("not allowed")
			}
			r.Starts(spawn)
			h = r.held(spawn, rename("other\n"))
			if !asks {
				r.now(h)
				continue
			}
			r.waits(h)
			r.answer(r.one(), false, core.ScopeOnce)
		}
	})
}

// A call that does something else is another, and so is one of which that is not known.
func TestWhatACallDoesCounts(t *testing.T) {
	chmod := func(what string) wire.Approval {
		a := wire.Approval{Kind: wire.KindFile, Target: "/home/ana/.profile", Operation: "chmod", Call: "fchmodat", Policy: 1, Identity: "8:5"}
		if what != "" {
			a.Act = act(what)
		}
		return a
	}
	for _, scope := range []core.ApprovalScope{core.ScopeOnce, core.ScopeRun, core.ScopeAlways} {
		bubble(t, func(t *testing.T, r *rig) {
			h := r.held("spawn1", chmod("644"))
			r.answer(r.one(), true, scope)
			if !r.now(h).Allow || !r.now(r.held("spawn1", chmod("644"))).Allow {
				t.Fatal("not allowed")
			}
			r.waits(r.held("spawn1", chmod("4755")))
			r.waits(r.held("spawn1", chmod("")))
		})
	}
	bubble(t, func(t *testing.T, r *rig) {
		a, b := r.held("spawn1", chmod("")), r.held("spawn1", chmod(""))
		list := r.Pending()
		if len(list) != 2 || len(list[0].Offers) != 0 {
			t.Fatalf("questions %+v", list)
		}
		_, err := r.Answer(r.ctx, list[0].ID, core.ApprovalAnswer{Allow: true, Scope: core.ScopeRun, Digest: list[0].Digest})
		if core.AsFailure(err).Code != core.CodeForbidden {
			t.Fatal(err)
		}
		r.answer(list[0], true, core.ScopeOnce)
		r.answer(list[1], true, core.ScopeOnce)
		if !r.now(a).Allow || !r.now(b).Allow {
			t.Fatal("not allowed")
		}
		r.waits(r.held("spawn1", chmod("")))
	})
}

// "Once" is never more than what was shown, and not for long.
func TestHowFarOnceReaches(t *testing.T) {
	use := core.NewEvent(core.EventToolUse, "chan", "run1", time.Now(), core.ToolUse{ToolUseID: "tool", Name: "Bash", Input: []byte(`{"command":"x"}`)})
	began := func(r *rig) {
		synctest.Wait()
		r.bus.Publish(use)
		synctest.Wait()
	}
	grave := rename("new\n")
	grave.Category = "credential"
	unknown := rename("new\n")
	unknown.After = nil
	for name, a := range map[string]wire.Approval{
		"in place": inPlace("/home/ana/.profile", "8:5"), "grave": grave, "unknown content": unknown,
		"program": {Kind: wire.KindExec, Target: "make all", From: "/usr/bin/make", Identity: "8:7", Policy: 1, Act: act("make all")},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, r *rig) {
				began(r)
				h := r.held("spawn1", a)
				r.answer(r.one(), true, core.ScopeOnce)
				if !r.now(h).Allow {
					t.Fatal("not allowed")
				}
				again := r.held("spawn1", a)
				r.waits(again)
				r.answer(r.one(), false, core.ScopeOnce)
				if r.now(again).Allow || r.now(r.held("spawn1", a)).Allow {
					t.Fatal("allowed")
				}
			})
		})
	}
	t.Run("a while after the last time", func(t *testing.T) {
		bubble(t, func(t *testing.T, r *rig) {
			began(r)
			r.held("spawn1", rename("new\n"))
			r.answer(r.one(), true, core.ScopeOnce)
			r.pass(repeatsLast)
			r.waits(r.held("spawn1", rename("new\n")))
		})
	})
	t.Run("after a gap", func(t *testing.T) {
		bubble(t, func(t *testing.T, r *rig) {
			began(r)
			r.held("spawn1", rename("new\n"))
			r.answer(r.one(), true, core.ScopeOnce)
			r.follow(nil, errors.New("gap"))
			r.waits(r.held("spawn1", rename("new\n")))
		})
	})
}

// The agent CLI writes to the file itself where it may not make its temporary one.
func TestADeniedTemporaryFile(t *testing.T) {
	for _, allow := range []bool{false, true} {
		bubble(t, func(t *testing.T, r *rig) {
			a := inPlace("/home/ana/.bashrc.tmp.41.0a9f", "")
			a.Operation = "create"
			r.held("spawn1", a)
			r.answer(r.one(), allow, core.ScopeOnce)
			h := r.held("spawn1", inPlace("/home/ana/.bashrc", "8:5"))
			if allow {
				r.waits(h)
			} else if v := r.now(h); v.Allow || v.By != wire.ByPerson {
				t.Fatalf("verdict %+v", v)
			}
			read := inPlace("/home/ana/.bashrc", "8:5")
			read.Operation, read.InPlace = "read", false
			r.waits(r.held("spawn1", read))
		})
	}
}

// What is decided without a question cannot fill the disk.
func TestRecordsOfManyCalls(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		for range 100 {
			r.now(r.held("alone", rename("new\n")))
		}
		if len(r.records()) != 1 {
			t.Fatalf("%d records", len(r.records()))
		}
		r.pass(addingUp)
		if n := len(r.records()); n != 2 || r.records()[1].Calls != 99 || r.records()[1].ID == r.records()[0].ID {
			t.Fatalf("records %+v", r.records())
		}
		r.pass(addingUp)
		r.now(r.held("alone", rename("new\n")))
		if n := len(r.records()); n != 3 {
			t.Fatalf("%d records", n)
		}
		for i := range 2 * settleBurst {
			r.now(r.held("alone", inPlace(fmt.Sprintf("/f%d", i), "8:5")))
		}
		r.pass(addingUp)
		n := len(r.records())
		last := r.records()[n-1]
		if n > settleBurst+10 || last.Kind != kindCounted || last.Target != "" || last.Decision != "denied" || last.Calls < settleBurst-50 {
			t.Fatalf("%d records, last %+v", n, last)
		}
	})
}

func TestDetailsAreShown(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		a := rename("new\n")
		a.Details = map[string]string{"link_target": "/etc/passwd", "mode": "4755", "empty": ""}
		r.held("spawn1", a)
		want := []core.ApprovalDetail{{Label: "Link target", Text: "/etc/passwd"}, {Label: "Mode", Text: "4755"}}
		if got := r.one().Details; !slices.Equal(got, want) {
			t.Fatalf("details %+v", got)
		}
	})
}

// J5: an answer for a run holds for nothing else, and not for another inode.
func TestAnAnswerForARun(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		waiting := r.held("spawn1", rename("third\n"))
		h := r.held("spawn1", rename("new\n"))
		i := slices.IndexFunc(r.Pending(), func(a core.Approval) bool { return strings.Contains(a.Diff, "+new") })
		r.answer(r.Pending()[i], true, core.ScopeRun)
		if !r.now(h).Allow || !r.now(waiting).Allow || !r.now(r.held("spawn1", rename("other\n"))).Allow {
			t.Fatal("not allowed")
		}
		r.waits(r.held("spawn2", rename("new\n")))
		r.waits(r.held("shell", rename("new\n")))

		r.answer(r.Pending()[slices.IndexFunc(r.Pending(), func(a core.Approval) bool { return a.RunID == "run2" })], false, core.ScopeOnce)
		first := r.held("spawn2", inPlace("/home/ana/.zshrc", "8:5"))
		r.answer(r.Pending()[slices.IndexFunc(r.Pending(), func(a core.Approval) bool { return a.InPlace })], true, core.ScopeRun)
		if !r.now(first).Allow || !r.now(r.held("spawn2", inPlace("/home/ana/.zshrc", "8:5"))).Allow {
			t.Fatal("not allowed")
		}
		r.waits(r.held("spawn2", inPlace("/home/ana/.zshrc", "8:6")))
		r.bus.Publish(core.NewEvent(core.EventStatus, "chan", "run1", time.Now(), core.Status{State: core.RunDone}))
		synctest.Wait()
		r.waits(r.held("spawn1", rename("other\n"))) // the run has ended
	})
}

func TestARememberedRule(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		h := r.held("spawn1", rename("new\n"))
		q := r.one()
		if len(q.Offers) != 3 || !strings.Contains(q.Offers[2].Rule, `"/home/ana/.bashrc"`) || q.Offers[2].Scope != core.ScopeAlways {
			t.Fatalf("offers %+v", q.Offers)
		}
		r.answer(q, true, core.ScopeAlways)
		if !r.now(h).Allow || len(r.rules.list) != 1 || r.rules.list[0].JSON() != q.Offers[2].Rule {
			t.Fatalf("rules %+v", r.rules.list)
		}
		if !r.now(r.held("spawn2", rename("more\n"))).Allow {
			t.Fatal("another run's spawn, which has the policy of before, was asked")
		}
		// A spawn that starts now has the rule in its policy. If it asks, somebody took it out.
		r.Admit("box", "later", core.Identity{ChannelID: "chan", RunID: "run9"})
		r.waits(r.held("later", rename("more\n")))
	})
}

func TestARuleThatCannotBeStored(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		h := r.held("spawn1", rename("new\n"))
		q := r.one()
		r.rules.err = errors.New("disk full")
		if _, err := r.Answer(r.ctx, q.ID, core.ApprovalAnswer{Allow: true, Scope: core.ScopeAlways, Digest: q.Digest}); err == nil {
			t.Fatal("no error")
		}
		r.waits(h)
		if n := len(r.records()); n != 2 || r.records()[1].Decision != "waiting" || r.records()[1].By != "Loop" {
			t.Fatalf("records %+v", r.records())
		}
		r.answer(q, true, core.ScopeOnce)
	})
}

// What is not on record is not allowed.
func TestARecordThatCannotBeWritten(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		h := r.held("spawn1", rename("new\n"))
		q := r.one()
		r.audit.fail(errors.New("disk full"))
		if _, err := r.Answer(r.ctx, q.ID, core.ApprovalAnswer{Allow: true, Scope: core.ScopeRun, Digest: q.Digest}); err == nil {
			t.Fatal("no error")
		}
		r.waits(h)
		r.audit.fail(nil)
		r.answer(q, true, core.ScopeRun)
		r.audit.fail(errors.New("disk full"))
		if r.now(r.held("spawn1", rename("x\n"))).Allow {
			t.Fatal("allowed without a record")
		}
	})
}

func TestTheProgramEndsWhileARuleIsStored(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		h := r.held("spawn1", rename("new\n"))
		q := r.one()
		r.rules.wait = make(chan struct{})
		got := make(chan error, 1)
		r.calls.Go(func() {
			_, err := r.Answer(context.Background(), q.ID, core.ApprovalAnswer{Allow: true, Scope: core.ScopeAlways, Digest: q.Digest})
			got <- err
		})
		synctest.Wait()
		_, err := r.Answer(r.ctx, q.ID, core.ApprovalAnswer{Scope: core.ScopeOnce, Digest: q.Digest})
		mustFail(t, err, core.ErrConflict) // somebody else is answering
		h.leave(core.ErrWithdrawn)
		if r.now(h).Allow {
			t.Fatal("allowed")
		}
		close(r.rules.wait)
		mustFail(t, <-got, core.ErrConflict)
		if r.rules.undone != 1 {
			t.Fatal("the rule stayed")
		}
	})
}

func TestMatchesOfAnOffer(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.held("spawn1", rename("one\n"))
		r.answer(r.one(), false, core.ScopeOnce)
		r.pass(time.Minute)
		r.held("spawn1", inPlace("/other", "8:1"))
		r.answer(r.one(), true, core.ScopeOnce)
		r.held("spawn1", rename("two\n"))
		o := r.one().Offers[0]
		if o.Of != 2 || len(o.Matches) != 2 || !o.Matches[0].Own || o.Matches[1].Decision != core.ApprovalDenied {
			t.Fatalf("offer %+v", o)
		}
	})
}

func TestRulesMatchThisAlone(t *testing.T) {
	for target, want := range map[string]string{
		"/a*b/[c]":   `{"paths":["/a\\*b/\\[c\\]"],"operations":["write"],"decision":"allow"}`,
		"/plain/ü d": `{"paths":["/plain/ü d"],"operations":["write"],"decision":"allow"}`,
	} {
		if got := ruleOf(wire.Approval{Kind: "file", Operation: "write", Target: target}, core.ApprovalAllowed).JSON(); got != want {
			t.Errorf("%s: %s", target, got)
		}
	}
	for target, want := range map[string]string{
		"/src/app/.git/config": `{"paths":["/src/app/.git/config{,.lock}"],"operations":["write","create","delete"],"decision":"allow"}`,
		"/home/ana/.gitconfig": `{"paths":["/home/ana/.gitconfig{,.lock}"],"operations":["write","create","delete"],"decision":"allow"}`,
	} {
		a := wire.Approval{Kind: "file", Operation: "write", Target: target, Category: string(policy.Startup)}
		got := ruleOf(a, core.ApprovalAllowed)
		if got.JSON() != want {
			t.Errorf("%s: %s", target, got.JSON())
		}
		e, err := policy.Compile(policy.Policy{DefaultDecision: policy.Approve, FileRules: []policy.FileRule{*got.File}})
		if err != nil {
			t.Fatal(err)
		}
		for file, ops := range map[string][]policy.Operation{target: {policy.Write, policy.Create}, target + ".lock": {policy.Create, policy.Write, policy.Delete}} {
			for _, op := range ops {
				if e.File(op, file).Decision != policy.Allow {
					t.Errorf("git asks again to %s %s", op, file)
				}
			}
		}
	}
	for _, a := range []wire.Approval{
		{Kind: "file", Operation: "write", Target: "/a\ufffdb"}, {Kind: "connect", Target: "/run/\ufffd"}, {Kind: "execve", Target: "x \ufffd", From: "/bin/x"},
	} {
		if storable(a) {
			t.Errorf("a rule is offered for %q", a.Target)
		}
	}
	got := ruleOf(wire.Approval{Kind: "execve", Target: "rm -rf /x.y", From: "/usr/bin/rm"}, core.ApprovalDenied).JSON()
	if want := `{"commands":["rm"],"args_patterns":["^-rf /x\\.y$"],"decision":"deny"}`; got != want {
		t.Errorf("command: %s", got)
	}
}

// An answer about a program holds for the file that was asked about, whatever else calls
// itself by its name.
func TestAnAnswerAboutAProgramIsBoundToTheFile(t *testing.T) {
	push := func(file, identity string) wire.Approval {
		return wire.Approval{Kind: wire.KindExec, Target: "git push", From: file, Identity: identity, Policy: 1, Act: act("git push")}
	}
	for _, scope := range []core.ApprovalScope{core.ScopeRun, core.ScopeProject, core.ScopeAlways} {
		bubble(t, func(t *testing.T, r *rig) {
			h := r.held("spawn1", push("/usr/bin/git", "8:1"))
			r.answer(r.one(), true, scope)
			if !r.now(h).Allow || !r.now(r.held("spawn1", push("/usr/bin/git", "8:1"))).Allow {
				t.Fatal("not allowed")
			}
			r.waits(r.held("spawn1", push("/usr/bin/git", "8:2")))
			if !r.now(r.held("spawn1", push("/usr/bin/git", "8:1"))).Allow {
				t.Fatal("not allowed")
			}
			r.waits(r.held("spawn1", push("/tmp/git", "8:1")))
		})
	}
	bubble(t, func(t *testing.T, r *rig) {
		r.held("spawn1", push("/tmp/evil", "8:1"))
		q := r.one()
		if len(q.Offers) != 1 || q.Offers[0].Scope != core.ScopeRun {
			t.Fatalf("offers %+v", q.Offers)
		}
		_, err := r.Answer(r.ctx, q.ID, core.ApprovalAnswer{Allow: true, Scope: core.ScopeAlways, Digest: q.Digest})
		if core.AsFailure(err).Code != core.CodeForbidden {
			t.Fatal(err)
		}
	})
}

func TestTheProgramOfALine(t *testing.T) {
	for _, c := range []struct {
		file, line, args string
		ok               bool
	}{
		{"/usr/bin/git", "git push", "push", true},
		{"/usr/bin/git", "/usr/bin/git", "", true},
		{"/bin/bash", "-bash -c x", "-c x", true},
		{"/opt/my tool/my tool", "'my tool' --x", "--x", true},
		{"/opt/my tool/my tool", "'/opt/my tool/my tool' --x", "--x", true},
		{"/bin/rm", "rm 'a*b' 'it'\\''s' 'é'", "a*b it's é", true},
		{"/bin/rm", "rm 'a b'", "", false}, // a rule would take it for two
		{"/bin/rm", "rm ''", "", false},
		{"/bin/rm", `rm $'a\nb'`, "", false},
		{"/bin/rm", "rm a… (12 bytes more)", "", false},
		{"/bin/rm", "rm 'a… (12 bytes more)", "", false},
		{"/tmp/evil", "git push", "", false},
		{"", "git push", "", false},
		{"/tmp/git push", "git x", "", false},
	} {
		if _, args, ok := programOf(wire.Approval{Kind: wire.KindExec, From: c.file, Target: c.line}); ok != c.ok || args != c.args {
			t.Errorf("%s as %q: %q, %v", c.file, c.line, args, ok)
		}
	}
}

// TestNothingIsStoredForUnknownBytes: a name that is not UTF-8 comes with a replacement
// character, and a rule with that would be about another file.
func TestNothingIsStoredForUnknownBytes(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		a := rename("new\n")
		a.Target = "/home/agent/\uFFFD"
		h := r.held("spawn1", a)
		q := r.one()
		if len(q.Offers) != 1 || q.Offers[0].Scope != core.ScopeRun {
			t.Fatalf("offers %+v", q.Offers)
		}
		if !slices.ContainsFunc(q.Details, func(d core.ApprovalDetail) bool { return strings.Contains(d.Text, "not text") }) {
			t.Errorf("nothing says why: %+v", q.Details)
		}
		_, err := r.Answer(r.ctx, q.ID, core.ApprovalAnswer{Allow: true, Scope: core.ScopeAlways, Digest: q.Digest})
		if core.AsFailure(err).Code != core.CodeForbidden {
			t.Error(err)
		}
		r.waits(h)
	})
}

func TestTheToolCallThatCausedIt(t *testing.T) {
	use := func(id, name, input string) core.Event {
		return core.NewEvent(core.EventToolUse, "chan", "run1", time.Now(), core.ToolUse{ToolUseID: id, Name: name, Input: []byte(input)})
	}
	bubble(t, func(t *testing.T, r *rig) {
		h := r.held("spawn1", rename("new\n"))
		if q := r.one(); q.ToolUseID != "" {
			t.Fatalf("caused by %q", q.ToolUseID)
		}
		// The agent's line arrives after the call it led to.
		r.bus.Publish(use("bash", "Bash", `{"command":"echo hi >> ~/.bashrc"}`))
		synctest.Wait()
		if q := r.one(); q.ToolUseID != "bash" {
			t.Fatalf("caused by %q", q.ToolUseID)
		}
		r.bus.Publish(use("write", "Write", `{"file_path":"/home/ana/.profile","content":"x"}`))
		synctest.Wait()
		w := r.held("spawn1", inPlace("/home/ana/.profile", "8:5"))
		b := rename("second\n")
		r.held("spawn1", b)
		r.held("spawn1", inPlace("/home/ana/.vimrc", "8:6"))
		by := map[string]int{}
		for _, q := range r.Pending() {
			by[q.ToolUseID]++
		}
		if by["bash"] != 2 || by["write"] != 1 || by[""] != 1 {
			t.Fatalf("causes %v", by)
		}
		// An answer once holds until the tool has its result, as long as it goes on asking.
		q := r.Pending()[slices.IndexFunc(r.Pending(), func(a core.Approval) bool { return a.ToolUseID == "write" })]
		r.answer(q, false, core.ScopeOnce)
		r.now(w)
		for range 5 {
			r.pass(repeatsLast - time.Second)
			if r.now(r.held("spawn1", inPlace("/home/ana/.profile", "8:5"))).Allow {
				t.Fatal("allowed")
			}
		}
		r.bus.Publish(core.NewEvent(core.EventToolResult, "chan", "run1", time.Now(), core.ToolResult{ToolUseID: "write"}))
		synctest.Wait()
		r.waits(r.held("spawn1", inPlace("/home/ana/.profile", "8:5")))
		r.waits(h)
	})
}

func TestWhatARunIsAskedStandsInItsTimeline(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.held("spawn1", rename("new\n"))
		r.answer(r.one(), true, core.ScopeOnce)
		r.held("shell", rename("new\n"))
		r.answer(r.one(), true, core.ScopeOnce)
		synctest.Wait()
		var types []core.EventType
		for _, e := range r.kept.list {
			types = append(types, e.Type)
		}
		if !slices.Equal(types, []core.EventType{core.EventGateAsked, core.EventGateResolved}) {
			t.Fatalf("stored %v", types)
		}
		if n := len(r.heard(core.EventGateResolved)); n != 2 {
			t.Fatalf("%d resolved", n)
		}
	})
}

func TestHowLongARunWasHeld(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		a := r.held("spawn1", rename("new\n"))
		r.pass(time.Minute)
		b := r.held("spawn1", inPlace("/x", "8:5"))
		r.pass(time.Minute)
		if d, now := r.HeldFor("run1"); d != 2*time.Minute || !now {
			t.Fatalf("held for %s, %v", d, now)
		}
		a.leave(core.ErrWithdrawn)
		b.leave(core.ErrWithdrawn)
		synctest.Wait()
		r.pass(time.Hour)
		if d, now := r.HeldFor("run1"); d != 2*time.Minute || now {
			t.Fatalf("held for %s, %v", d, now)
		}
	})
}

// What a run stands still for is the calendar's time, and not without an end.
func TestBoundsOfBeingHeld(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.settings(func(s *Settings) { s.HoldUntilBack = true })
		h := r.held("spawn1", rename("new\n"))
		r.sleep(8 * time.Hour)
		h.leave(core.ErrWithdrawn)
		synctest.Wait()
		if d, now := r.HeldFor("run1"); d != 8*time.Hour || now {
			t.Fatalf("held for %s, %v", d, now)
		}
		r.held("spawn1", rename("new\n"))
		r.pass(8 * 24 * time.Hour)
		if d, now := r.HeldFor("run1"); d != heldAtMost || now {
			t.Fatalf("held for %s, %v", d, now)
		}
	})
	bubble(t, func(t *testing.T, r *rig) {
		for i := range 2 * heldQuestions {
			r.held("spawn1", rename(fmt.Sprint(i)))
			r.pass(defaultTime)
		}
		r.held("spawn1", rename("more"))
		if d, now := r.HeldFor("run1"); d != heldQuestions*defaultTime || now {
			t.Fatalf("held for %s, %v", d, now)
		}
	})
	bubble(t, func(t *testing.T, r *rig) {
		h := r.held("spawn1", rename("new\n"))
		r.bus.Publish(core.NewEvent(core.EventStatus, "chan", "run1", time.Now(), core.Status{State: core.RunDone}))
		synctest.Wait()
		h.leave(core.ErrWithdrawn)
		r.now(h)
		if len(r.clocks) != 0 {
			t.Fatal("the clock of a run that has ended is kept")
		}
	})
}

func TestTheStatusIsWhatWasProbed(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		if st := r.Status(); st.State != "unknown" {
			t.Fatalf("before a probe: %+v", st)
		}
		r.Probed(nil, false)
		r.Probed(nil, false) // said once
		if st := r.Status(); st.State != "on" || st.Probed.IsZero() {
			t.Fatalf("after one: %+v", st)
		}
		r.pass(time.Minute)
		r.Probed(nil, false) // with a later clock
		r.Probed(core.Fail(core.CodeForbidden, nil, "No filter.", "Look."), false)
		if st := r.Status(); st.State != "broken" || st.Why != "No filter. Look." {
			t.Fatalf("after one that did not hold: %+v", st)
		}
		r.Enable(false)
		r.Probed(nil, false) // of a program that was started before
		if st := r.Status(); st.State != "off" {
			t.Fatalf("switched off: %+v", st)
		}
		r.Enable(true)
		if st := r.Status(); st.State != "unknown" {
			t.Fatalf("switched off and on: %+v", st)
		}
		if n := len(r.heard(core.EventGateStatus)); n != 5 {
			t.Fatalf("told %d times", n)
		}
	})
}

// TestABadTrialStays: a start does not speak against a trial; another trial does.
func TestABadTrialStays(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		bad := core.Fail(core.CodeForbidden, nil, "It lets through.", "Look.")
		r.Tried(bad)
		r.Probed(nil, false)
		if st := r.Status(); st.State != "broken" || !errors.Is(r.Holds(), bad) {
			t.Fatalf("a start after a bad trial: %+v, %v", st, r.Holds())
		}
		r.Tried(nil)
		if st := r.Status(); st.State != "on" || r.Holds() != nil {
			t.Fatalf("after a good trial: %+v, %v", st, r.Holds())
		}
		r.Tried(bad)
		r.Enable(false)
		r.Enable(true)
		if st := r.Status(); st.State != "unknown" || r.Holds() != nil {
			t.Fatalf("switched off and on: %+v, %v", st, r.Holds())
		}
	})
}
