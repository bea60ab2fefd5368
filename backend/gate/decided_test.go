package gate

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"loop/backend/core"
	"loop/backend/policy"
	"loop/backend/wire"
)

func (r *rig) tells(spawn core.SpawnID, number uint64, d wire.Decisions) {
	r.t.Helper()
	raw, err := json.Marshal(d)
	if err != nil {
		r.t.Fatal(err)
	}
	r.Told("box", core.Told{Spawn: spawn, Number: number, Kind: wire.KindDecided, Detail: raw})
}

// decisions are the events of decisions that were stored.
func (r *rig) decisions() (out []core.GateDecisions) {
	r.t.Helper()
	synctest.Wait()
	r.kept.mu.Lock()
	defer r.kept.mu.Unlock()
	for _, e := range r.kept.list {
		if e.Type == core.EventGateDecided {
			var d core.GateDecisions
			if err := json.Unmarshal(e.Data, &d); err != nil {
				r.t.Fatal(err)
			}
			out = append(out, d)
		}
	}
	return out
}

func (r *rig) records() []Record {
	synctest.Wait()
	return r.audit.all()
}

func deniedRead(calls int64) wire.Denial {
	return wire.Denial{Kind: wire.KindFile, Operation: "read", Target: "/home/ana/.ssh/id", Rule: "credential.home", Category: "credential",
		Message: "keys", Call: "openat", Calls: calls, Processes: []wire.Process{{Pid: 9, Command: "cat /home/ana/.ssh/id"}}}
}

func (r *rig) tool(typ core.EventType, run core.RunID, data any) {
	synctest.Wait() // for Run to listen
	r.bus.Publish(core.NewEvent(typ, "chan", run, time.Now(), data))
	synctest.Wait()
}

func TestWhatRulesDecideIsWrittenAndTold(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.tool(core.EventToolUse, "run1", core.ToolUse{ToolUseID: "t1", Name: "Bash", Input: []byte(`{"command":"make"}`)})
		r.tool(core.EventToolResult, "run1", core.ToolResult{ToolUseID: "t1"})
		// The report comes when the tool has ended already.
		r.tells("spawn1", 1, wire.Decisions{Policy: 4, Unruled: 1000, Allowed: []wire.RuleCount{{Rule: "gate.run", Operation: "read", Calls: 214}},
			Denied: []wire.Denial{deniedRead(3)}})
		r.tells("spawn1", 2, wire.Decisions{Policy: 4, Denied: []wire.Denial{deniedRead(2)}})
		if len(r.decisions()) != 0 {
			t.Error("told before it could be joined")
		}
		r.pass(2 * time.Second)
		got := r.decisions()
		if len(got) != 1 {
			t.Fatalf("%d events", len(got))
		}
		d := got[0]
		if d.ToolUseID != "t1" || d.RunID != "run1" || d.Allowed != 214 || d.Unruled != 1000 || len(d.Decisions) != 1 || d.Missed != 0 {
			t.Errorf("%+v", d)
		}
		if one := d.Decisions[0]; one.Calls != 5 || one.Rule != "credential.home" || one.State != core.ApprovalDenied || one.By != "a rule" ||
			one.Message != "keys" || one.Process != "cat /home/ana/.ssh/id" {
			t.Errorf("%+v", one)
		}
		var denied, counted, unruled int
		for _, rec := range r.records() {
			switch {
			case rec.Decision == "denied" && rec.Calls == 5 && rec.Tool == "t1" && rec.ID == d.Decisions[0].ID && rec.Pid == 9:
				denied++
			case rec.Rule == "gate.run" && rec.Calls == 214 && rec.Kind == kindCounted && rec.Policy == "4":
				counted++
			case rec.Rule == "" && rec.Calls == 1000:
				unruled++
			default:
				t.Errorf("record %+v", rec)
			}
		}
		if denied != 1 || counted != 1 || unruled != 1 {
			t.Errorf("%d %d %d", denied, counted, unruled)
		}
	})
}

// TestCallsWithoutARule are counted in the record; a timeline of them would tell nothing.
func TestCallsWithoutARule(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.tells("spawn1", 1, wire.Decisions{Unruled: 10})
		r.tells("shell", 1, wire.Decisions{Denied: []wire.Denial{deniedRead(1)}})
		r.pass(gathering + 2*settling)
		if got := r.decisions(); len(got) != 0 {
			t.Errorf("%+v", got)
		}
		list := r.records()
		if len(list) != 2 || list[0].Run != "" || list[0].Spawn != "shell" || list[1].Calls != 10 {
			t.Errorf("%+v", list)
		}
	})
}

// TestReportsOfManyToolCalls go to the one that the act names, or to none.
func TestReportsOfManyToolCalls(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.tool(core.EventToolUse, "run1", core.ToolUse{ToolUseID: "read", Name: "Read", Input: []byte(`{"file_path":"/home/ana/.ssh/id"}`)})
		r.tool(core.EventToolUse, "run1", core.ToolUse{ToolUseID: "bash", Name: "Bash", Input: []byte(`{"command":"make"}`)})
		other := deniedRead(1)
		other.Target = "/other"
		r.tells("spawn1", 1, wire.Decisions{Denied: []wire.Denial{deniedRead(1), other}})
		r.pass(2 * settling)
		tools := map[string]string{}
		for _, d := range r.decisions() {
			for _, one := range d.Decisions {
				tools[one.Target] = d.ToolUseID
			}
		}
		if tools["/home/ana/.ssh/id"] != "read" || tools["/other"] != "" || len(tools) != 2 {
			t.Errorf("%v", tools)
		}
	})
}

// TestDecisionsWithoutAQuestion: a run that works unattended, and an answer that holds on.
func TestDecisionsWithoutAQuestion(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		if v := r.now(r.held("alone", rename("x"))); v.Allow {
			t.Error("allowed")
		}
		h := r.held("spawn1", inPlace("/a", "1:1"))
		r.answer(r.one(), true, core.ScopeRun)
		r.now(h)
		for range 2 {
			if v := r.now(r.held("spawn1", inPlace("/a", "1:1"))); !v.Allow {
				t.Error("denied")
			}
		}
		written := len(r.records())
		r.pass(2 * settling)
		got := r.decisions()
		if len(got) != 2 {
			t.Fatalf("%+v", got)
		}
		for _, d := range got {
			one := d.Decisions[0]
			switch d.RunID {
			case "night":
				if one.State != core.ApprovalDenied || one.By != "the policy" || one.Calls != 1 {
					t.Errorf("%+v", one)
				}
			default:
				if one.State != core.ApprovalAllowed || one.By != "an answer for this run" || one.Calls != 2 || len(d.Decisions) != 1 {
					t.Errorf("%+v", d)
				}
			}
		}
		if n := len(r.records()); n != written || written != 3 {
			t.Errorf("%d records, then %d", written, n)
		}
		r.pass(addingUp)
		if n := len(r.records()); n != 4 { // one more that counts the second call
			t.Errorf("%d records in the end", n)
		}
	})
}

// TestReportsThatDoNotComeThrough are missed, and a guest that tells too much is not heard.
func TestReportsThatDoNotComeThrough(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.tells("spawn1", 7, wire.Decisions{Unruled: 1}) // Loop may have been started since
		r.tells("spawn1", 10, wire.Decisions{Unruled: 1})
		r.Told("box", core.Told{Spawn: "spawn1", Number: 11, Kind: wire.KindDecided, Detail: []byte(`{"unruled":-1}`)})
		r.Told("box", core.Told{Spawn: "spawn1", Number: 12, Kind: "other", Detail: []byte(`{}`)})
		r.Told("elsewhere", core.Told{Spawn: "spawn1", Number: 99, Kind: wire.KindDecided, Detail: []byte(`{}`)})
		r.tells("spawn1", 13, wire.Decisions{Unruled: 1})
		r.pass(gathering + 2*settling)
		if got := r.decisions(); len(got) != 1 || got[0].Missed != 4 {
			t.Errorf("%+v", got)
		}
		for i := range 10000 {
			r.tells("spawn2", uint64(i+1), wire.Decisions{Denied: []wire.Denial{deniedRead(1)}})
		}
		r.pass(2 * settling)
		r.tells("spawn2", 10001, wire.Decisions{Denied: []wire.Denial{deniedRead(1)}})
		r.pass(2 * settling)
		got := r.decisions()[1:]
		if len(got) != 2 || got[0].Decisions[0].Calls != toldBurst || got[1].Missed != 10000-toldBurst {
			t.Errorf("%+v", got)
		}
	})
}

// TestReportsAroundTheLifeOfASpawn: before anybody has named it, and after it was forgotten.
func TestReportsAroundTheLifeOfASpawn(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		for i := range 2 * maxEarly {
			r.tells(core.SpawnID(fmt.Sprint("new", i)), 1, wire.Decisions{Denied: []wire.Denial{deniedRead(1)}})
		}
		r.Admit("box", "new0", core.Identity{ChannelID: "chan", RunID: "run3"})
		r.Admit("other", "new1", core.Identity{ChannelID: "chan", RunID: "run4"})
		r.Dismiss("spawn1")
		r.tells("spawn1", 1, wire.Decisions{Denied: []wire.Denial{deniedRead(1)}})
		r.pass(2 * settling)
		var runs []string
		for _, d := range r.decisions() {
			runs = append(runs, string(d.RunID))
		}
		if strings.Join(runs, " ") != "run3 run1" && strings.Join(runs, " ") != "run1 run3" {
			t.Errorf("%v", runs)
		}
		if len(r.decided.early) > maxEarly {
			t.Error("early reports have no bound")
		}
		r.pass(2 * remembered)
		r.tells("spawn1", 2, wire.Decisions{Denied: []wire.Denial{deniedRead(1)}})
		r.Dismiss("spawn2")
		r.pass(2 * settling)
		if n := len(r.decisions()); n != 2 || len(r.decided.gone) != 1 {
			t.Errorf("%d events, %d gone", n, len(r.decided.gone))
		}
	})
}

// TestTheLastReport is written when Loop ends.
func TestTheLastReport(t *testing.T) {
	var r *rig
	bubble(t, func(_ *testing.T, in *rig) {
		r = in
		r.tells("spawn1", 1, wire.Decisions{Denied: []wire.Denial{deniedRead(1)}})
	})
	if records := r.audit.all(); len(records) != 1 || len(r.kept.list) != 1 {
		t.Errorf("%+v %+v", records, r.kept.list)
	}
}

// FuzzTold: no bytes of a container do more than be counted or refused.
func FuzzTold(f *testing.F) {
	f.Add([]byte(`{"policy":1,"unruled":3,"denied":[{"kind":"file","operation":"read","target":"/x","calls":1,"age_ms":-1}]}`))
	f.Add([]byte(`{"denied":[{"kind":"file","category":"gate","target":"\u0000","calls":9007199254740992,"age_ms":9223372036854775807}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		s := New(Options{})
		s.Admit("box", "spawn", core.Identity{ChannelID: "chan", RunID: "run"})
		s.Told("box", core.Told{Spawn: "spawn", Number: 1, Kind: wire.KindDecided, Detail: raw})
		s.settleDecided(true)
		for _, o := range s.out {
			if o.record.Calls < 0 || len(o.event.Data) > 1<<20 {
				t.Fatalf("%+v", o)
			}
		}
	})
}

// TestWhatWouldHaveBeenAskedIsWrittenDown: with its object, as allowed.
func TestWhatWouldHaveBeenAskedIsWrittenDown(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		d := deniedRead(2)
		d.Rule, d.Allowed = policy.WouldAsk+"startup.shell", true
		r.tells("spawn1", 1, wire.Decisions{Policy: 4, Denied: []wire.Denial{d}})
		r.pass(2 * settling)
		list := r.audit.all()
		if len(list) != 1 || list[0].Decision != "allowed" || list[0].Target != d.Target || list[0].Calls != 2 || list[0].Rule != d.Rule || list[0].By != "a rule" {
			t.Errorf("%+v", list)
		}
	})
}

// TestReportsAreBounded: what a guest says of kinds, categories and times is not believed,
// and no number of reports fills the memory.
func TestReportsAreBounded(t *testing.T) {
	s := New(Options{})
	read := func(change func(*wire.Denial)) (report, error) {
		d := deniedRead(1)
		change(&d)
		raw, err := json.Marshal(wire.Decisions{Denied: []wire.Denial{d}})
		if err != nil {
			t.Fatal(err)
		}
		return s.read(&asker{}, core.Told{Kind: wire.KindDecided, Detail: raw})
	}
	if _, err := read(func(d *wire.Denial) { d.Kind = "docker" }); err == nil {
		t.Error("an unknown kind is taken")
	}
	if _, err := read(func(d *wire.Denial) { d.Category = "fine" }); err == nil {
		t.Error("an unknown category is taken")
	}
	old, err := read(func(d *wire.Denial) { d.AgeMs = (1000 * time.Hour).Milliseconds() })
	if err != nil || old.at.Sub(old.acts[0].record.At) != maxAge {
		t.Errorf("%v: %+v", err, old)
	}
	for range maxReports + 10 {
		s.decided.add(report{})
	}
	if len(s.decided.reports) != maxReports || s.decided.dropped != 10 {
		t.Errorf("%d reports wait, %d were dropped", len(s.decided.reports), s.decided.dropped)
	}
	s.askers["spawn1"] = &asker{who: who{Container: "box"}}
	s.decided.tellers["spawn1"] = &teller{last: 1, bucket: bucket{left: toldBurst, at: time.Now()}}
	s.Told("box", core.Told{Spawn: "spawn1", Number: 1 << 60, Kind: "other"})
	if n := s.decided.tellers["spawn1"].missed; n > maxMissed+1 {
		t.Errorf("%d are missed", n)
	}
}
