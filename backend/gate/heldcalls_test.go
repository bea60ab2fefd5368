package gate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"loop/backend/bus"
	"loop/backend/core"
	"loop/backend/wire"
)

func TestAnAllowedCallGoesOnOnce(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		h := r.held("spawn1", rename("new\n"))
		q := r.one()
		if q.RunID != "run1" || q.ChannelID != "chan" || q.Title != "Write to a start-up file" || q.Calls != 1 {
			t.Fatalf("question %+v", q)
		}
		if !strings.Contains(q.Diff, "-old") || !strings.Contains(q.Diff, "+new") {
			t.Fatalf("diff %q", q.Diff)
		}
		r.waits(h)
		r.answer(q, true, core.ScopeOnce)
		if v := r.now(h); !v.Allow {
			t.Fatalf("verdict %+v", v)
		}
		// The CLI tries again with another temporary file and the same bytes: that is the same call.
		again := rename("new\n")
		again.From, again.Identity, again.Before = "/home/ana/.bashrc.tmp.2", "8:101", content("new\n")
		if v := r.now(r.held("spawn1", again)); !v.Allow {
			t.Fatal("the repeat was not covered")
		}
		for name, other := range map[string]ask{
			"other bytes": r.held("spawn1", rename("worse\n")),
			"other run":   r.held("spawn2", rename("new\n")),
		} {
			t.Log(name)
			r.waits(other)
		}
		r.pass(repeatsLast)
		late := r.held("spawn1", rename("new\n"))
		r.waits(late)
		if n := len(r.Pending()); n != 3 {
			t.Fatalf("%d questions", n)
		}
	})
}

func TestADeniedCallHearsWhoDeniedIt(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		h := r.held("shell", inPlace("/home/ana/.profile", "8:5"))
		r.answer(r.one(), false, core.ScopeOnce)
		if v := r.now(h); v.Allow || v.By != wire.ByPerson || v.Text != "" {
			t.Fatalf("verdict %+v", v)
		}
		if len(r.rules.list) != 0 {
			t.Fatal("a rule was stored")
		}
	})
}

// J1, and J9: the calendar counts where the computer slept.
func TestNobodyAnswers(t *testing.T) {
	t.Run("in five minutes", func(t *testing.T) {
		bubble(t, func(t *testing.T, r *rig) {
			h := r.held("spawn1", rename("new\n"))
			r.pass(defaultTime - time.Second)
			r.waits(h)
			r.pass(time.Second)
			if v := r.now(h); v.Allow || v.By != wire.ByTime || v.Text != "nobody answered in 5 minutes" {
				t.Fatalf("verdict %+v", v)
			}
			got := r.heard(core.EventGateResolved)
			if len(got) != 1 || got[0].State != core.ApprovalExpired || len(r.rules.list) != 0 {
				t.Fatalf("resolved %+v, rules %v", got, r.rules.list)
			}
			r.waits(r.held("spawn1", rename("new\n"))) // it was this once: the next is asked about
		})
	})
	t.Run("while the computer sleeps", func(t *testing.T) {
		bubble(t, func(t *testing.T, r *rig) {
			h := r.held("spawn1", rename("new\n"))
			q := r.one()
			r.sleep(8 * time.Hour)
			_, err := r.Answer(r.ctx, q.ID, core.ApprovalAnswer{Allow: true, Scope: core.ScopeOnce, Digest: q.Digest})
			mustFail(t, err, core.ErrNotFound)
			if r.now(h).Allow {
				t.Fatal("allowed after its time")
			}
		})
	})
	t.Run("and the sleeper is not asked", func(t *testing.T) {
		bubble(t, func(t *testing.T, r *rig) {
			h := r.held("spawn1", rename("new\n"))
			r.sleep(8 * time.Hour)
			r.pass(lookEvery)
			if r.now(h).Allow {
				t.Fatal("allowed after its time")
			}
		})
	})
}

func TestMoreTime(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.settings(func(s *Settings) { s.Timeout = time.Minute })
		h := r.held("spawn1", rename("new\n"))
		q := r.one()
		if d := q.Deadline.Sub(q.CreatedAt); d != time.Minute {
			t.Fatalf("time %s", d)
		}
		more, err := r.Extend(q.ID)
		if err != nil || more.Deadline.Sub(q.Deadline) != extension || more.Digest != q.Digest {
			t.Fatalf("extended %+v, %v", more, err)
		}
		r.pass(time.Minute + extension - time.Second)
		r.waits(h)
		r.pass(time.Second)
		r.now(h)
		_, err = r.Extend(q.ID)
		mustFail(t, err, core.ErrNotFound)
	})
}

func TestHeldUntilThePersonIsBack(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.settings(func(s *Settings) { s.HoldUntilBack = true })
		h := r.held("spawn1", rename("new\n"))
		r.pass(72 * time.Hour)
		r.waits(h)
		q := r.one()
		if !q.Deadline.IsZero() {
			t.Fatal("it has a deadline")
		}
		r.answer(q, true, core.ScopeOnce)
		if !r.now(h).Allow {
			t.Fatal("not allowed")
		}
	})
}

// J4.
func TestSameCallsAreOneQuestion(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		a, b := r.held("spawn1", inPlace("/home/ana/.profile", "8:5")), r.held("spawn1", inPlace("/home/ana/.profile", "8:5"))
		q := r.one()
		if q.Calls != 2 || len(r.heard(core.EventGateChanged)) != 1 {
			t.Fatalf("calls %d", q.Calls)
		}
		other := r.held("spawn1", inPlace("/home/ana/.profile", "8:6"))
		if len(r.Pending()) != 2 {
			t.Fatal("another inode is the same question")
		}
		r.answer(q, true, core.ScopeOnce)
		if !r.now(a).Allow || !r.now(b).Allow {
			t.Fatal("not both allowed")
		}
		r.waits(other)
	})
}

func TestWhoeverAskedHasGone(t *testing.T) {
	for state, cause := range map[core.ApprovalState]error{core.ApprovalWithdrawn: core.ErrWithdrawn, core.ApprovalBroken: errors.New("link")} {
		t.Run(string(state), func(t *testing.T) {
			bubble(t, func(t *testing.T, r *rig) {
				a, b := r.held("spawn1", rename("new\n")), r.held("spawn1", rename("new\n"))
				q := r.one()
				a.leave(cause)
				if r.now(a).Allow {
					t.Fatal("allowed")
				}
				r.waits(b)
				b.leave(cause)
				if r.now(b).Allow {
					t.Fatal("allowed")
				}
				got := r.heard(core.EventGateResolved)
				if len(got) != 1 || got[0].State != state {
					t.Fatalf("resolved %+v", got)
				}
				_, err := r.Answer(r.ctx, q.ID, core.ApprovalAnswer{Allow: true, Scope: core.ScopeOnce, Digest: q.Digest})
				mustFail(t, err, core.ErrNotFound)
				r.waits(r.held("spawn1", rename("new\n"))) // nothing was stored
			})
		})
	}
}

// J8.
func TestTheEndOfLoopDenies(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		a, b := r.held("spawn1", rename("new\n")), r.held("shell", inPlace("/x", "8:5"))
		r.Close()
		if r.now(a).Allow || r.now(b).Allow || r.now(r.held("spawn1", rename("late\n"))).Allow {
			t.Fatal("allowed")
		}
		for _, q := range r.heard(core.EventGateResolved) {
			if q.State != core.ApprovalBroken {
				t.Fatalf("state %s", q.State)
			}
		}
	})
}

// Whoever ends Run first loses neither the records nor the events of the end.
func TestTheEndOfLoopIsOnRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &rig{t: t, ctx: t.Context(), bus: bus.New(), audit: &fakeAudit{}, kept: &fakeTimeline{}}
		r.Service = New(Options{Bus: r.bus, Timeline: r.kept, Audit: r.audit})
		ctx, end := context.WithCancel(t.Context())
		var runs sync.WaitGroup
		runs.Go(func() { _ = r.Run(ctx) })
		r.Admit("box", "spawn1", core.Identity{ChannelID: "chan", RunID: "run1"})
		h := r.held("spawn1", rename("new\n"))
		end()
		runs.Wait()
		if r.now(h).Allow || len(r.records()) != 1 || r.records()[0].Decision != "broken" {
			t.Fatalf("records %+v", r.records())
		}
		if n := len(r.kept.list); n != 2 || r.kept.list[1].Type != core.EventGateResolved {
			t.Fatalf("stored %+v", r.kept.list)
		}
		r.calls.Wait()
	})
}

func TestTheEndOfARunDeniesWhatItHolds(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		a, other := r.held("spawn1", rename("new\n")), r.held("spawn2", rename("new\n"))
		r.Stop("run1", "The run is being stopped")
		if v := r.now(a); v.Allow || !strings.Contains(v.Text, "stopped") {
			t.Fatalf("verdict %+v", v)
		}
		if v := r.now(r.held("spawn1", inPlace("/x", "8:5"))); v.Allow {
			t.Fatal("allowed after the stop")
		}
		r.waits(other)
		r.Dismiss("spawn2")
		if r.now(other).Allow {
			t.Fatal("allowed")
		}
	})
}

func TestNobodyIsThere(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		v := r.now(r.held("alone", rename("new\n")))
		if v.Allow || !strings.Contains(v.Text, "unattended") || len(r.Pending()) != 0 {
			t.Fatalf("verdict %+v", v)
		}
		if len(r.records()) != 1 || r.records()[0].Decision != "denied" {
			t.Fatalf("records %+v", r.records())
		}
	})
}

func TestWhoAsksIsNotWhatTheContainerSays(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		lie := rename("new\n")
		lie.Source = "shell"
		r.held("spawn1", lie)
		if q := r.one(); q.RunID != "run1" {
			t.Fatalf("run %q", q.RunID)
		}
		raw := `{"kind":"connect","target":"@x","policy":1,"message":"","cache_key":"","source":"spawn1"}`
		began := time.Now() // what is held is denied in the end as well
		v := r.Held(r.ctx, "other box", core.HeldCall{Spawn: "spawn1", Kind: "connect", Detail: []byte(raw)})
		if v.Allow || len(r.Pending()) != 1 || time.Since(began) != 0 {
			t.Fatal("a spawn of another container was taken for this one's")
		}
		if r.Held(r.ctx, "box", core.HeldCall{Spawn: "nobody", Kind: "connect", Detail: []byte(raw)}).Allow {
			t.Fatal("allowed for nobody")
		}
		if time.Since(began) != admitHold {
			t.Fatal("an unknown spawn was not waited for")
		}
	})
}

func TestASpawnThatIsNamedLate(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		h := r.held("late", rename("new\n"))
		r.waits(h)
		r.Admit("box", "late", core.Identity{ChannelID: "chan", RunID: "run3"})
		synctest.Wait()
		if q := r.one(); q.RunID != "run3" {
			t.Fatalf("run %q", q.RunID)
		}
	})
}

// TestASpawnWithoutATaskYet: what it asks stands still, for as long as that may be, and is a
// question of the run that it gets. Where its link ends first, nobody is asked.
func TestASpawnWithoutATaskYet(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		waiting := core.Identity{ChannelID: "chan", Pending: true}
		r.Admit("box", "ahead", waiting)
		r.Admit("box", "unused", waiting)
		h, gone := r.held("ahead", rename("new\n")), r.held("unused", rename("other\n"))
		r.pass(time.Hour)
		r.waits(h)
		if len(r.Pending()) != 0 {
			t.Fatal("a person is asked for nothing")
		}
		gone.leave(core.ErrWithdrawn)
		if r.now(gone).Allow {
			t.Error("allowed for nobody")
		}
		r.Admit("box", "ahead", core.Identity{ChannelID: "chan", RunID: "run3"})
		synctest.Wait()
		if q := r.one(); q.RunID != "run3" {
			t.Fatalf("run %q", q.RunID)
		}
	})
}

func TestHostileDetails(t *testing.T) {
	long := strings.Repeat("x", maxTarget+1)
	var manyDetails []string
	for i := range maxDetails + 1 {
		manyDetails = append(manyDetails, fmt.Sprintf(`"d%d":"x"`, i))
	}
	for name, d := range map[string]struct{ kind, detail string }{
		"empty":             {"file", ``},
		"no object":         {"file", `{"kind":"file","operation":"write","target":" "}`},
		"unknown kind":      {"docker", `{"kind":"docker","target":"x"}`},
		"another kind":      {"file", `{"kind":"connect","target":"/x"}`},
		"unknown key":       {"file", `{"kind":"file","operation":"write","target":"/x","allow":true}`},
		"duplicate key":     {"file", `{"kind":"file","operation":"write","target":"/x","target":"/y"}`},
		"case of a key":     {"file", `{"kind":"file","operation":"write","target":"/x","Target":"/y"}`},
		"something follows": {"file", `{"kind":"file","operation":"write","target":"/x"} {}`},
		"relative path":     {"file", `{"kind":"file","operation":"write","target":"x"}`},
		"unknown operation": {"file", `{"kind":"file","operation":"stat","target":"/x"}`},
		"unknown category":  {"file", `{"kind":"file","operation":"write","target":"/x","category":"fine"}`},
		"no text":           {"file", "{\"kind\":\"file\",\"operation\":\"write\",\"target\":\"/\xff\"}"},
		"long":              {"file", `{"kind":"file","operation":"write","target":"/` + long + `"}`},
		"wrong hash":        {"file", `{"kind":"file","operation":"write","target":"/x","after":{"text":"aGk=","size":2,"sha256":"` + strings.Repeat("0", 64) + `"}}`},
		"act":               {"file", `{"kind":"file","operation":"write","target":"/x","act":"x"}`},
		"detail":            {"file", `{"kind":"file","operation":"write","target":"/x","details":{"\u202ex":"1"}}`},
		"wrong size":        {"file", `{"kind":"file","operation":"write","target":"/x","after":{"text":"aGk=","size":1}}`},
		"huge":              {"file", `{"kind":"file","operation":"write","target":"/x"` + strings.Repeat(" ", wire.MaxDetail) + `}`},
		"long message":      {"file", `{"kind":"file","operation":"write","target":"/x","message":"` + long[:maxMessage+1] + `"}`},
		"long rule":         {"file", `{"kind":"file","operation":"write","target":"/x","rule":"` + long[:257] + `"}`},
		"long identity":     {"file", `{"kind":"file","operation":"write","target":"/x","identity":"` + long[:129] + `"}`},
		"long from":         {"file", `{"kind":"file","operation":"write","target":"/x","from":"` + long[:maxPath+1] + `"}`},
		"many processes":    {"file", `{"kind":"file","operation":"write","target":"/x","processes":[{}` + strings.Repeat(",{}", maxProcesses) + `]}`},
		"many details":      {"file", `{"kind":"file","operation":"write","target":"/x","details":{` + strings.Join(manyDetails, ",") + `}}`},
		"long detail":       {"file", `{"kind":"file","operation":"write","target":"/x","details":{"a":"` + long[:maxPath+1] + `"}}`},
		"no command":        {wire.KindExec, `{"kind":"` + wire.KindExec + `","target":" "}`},
		"no address":        {"connect", `{"kind":"connect","target":"x"}`},
		"version":           {"file", `{"kind":"file","operation":"write","target":"/x","policy":-1}`},
		"hash of a cut":     {"file", `{"kind":"file","operation":"write","target":"/x","after":{"text":"aGk=","size":9,"cut":true,"sha256":"x"}}`},
		"wrong hash before": {"file", `{"kind":"file","operation":"write","target":"/x","before":{"text":"aGk=","size":2,"sha256":"` + strings.Repeat("0", 64) + `"}}`},
		"size of a cut":     {"file", `{"kind":"file","operation":"write","target":"/x","after":{"text":"aGk=","size":1,"cut":true}}`},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, r *rig) {
				began := time.Now() // what is held is denied in the end as well
				v := r.Held(r.ctx, "box", core.HeldCall{Spawn: "spawn1", Kind: d.kind, Detail: []byte(d.detail)})
				if v.Allow || v.Text == "" || len(r.Pending()) != 0 || time.Since(began) != 0 {
					t.Fatalf("verdict %+v, %d questions", v, len(r.Pending()))
				}
			})
		})
	}
}

func FuzzDecode(f *testing.F) {
	f.Add("file", []byte(`{"kind":"file","operation":"write","target":"/x","policy":1}`))
	f.Add("execve", []byte(`{"kind":"execve","target":"rm -rf /","processes":[{"pid":1,"started":2,"command":"x"}]}`))
	f.Fuzz(func(t *testing.T, kind string, detail []byte) {
		a, err := decode(core.HeldCall{Kind: kind, Detail: detail})
		if err != nil {
			return
		}
		s := New(Options{})
		q := s.newQuestion(&asker{}, a, "key")
		if q.view.Title == "" || q.view.Why == "" || q.view.Risk == "" || digest(q) == "" {
			t.Fatalf("a question without words: %+v", q.view)
		}
	})
}
