package rulebook

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"loop/backend/core"
	"loop/backend/gate/auditlog"
	"loop/backend/soaktest"
)

var began = time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)

// recordedIn is a channel's record of so many decisions, and its folder.
func recordedIn(t *testing.T, r *bookRig, n int) (Decisions, string) {
	t.Helper()
	dir := t.TempDir()
	log := auditlog.Open(dir)
	for i := range n {
		rec := auditlog.Record{At: began.Add(time.Duration(i) * time.Second), Channel: "app", Run: fmt.Sprint("run", i/500), Spawn: "s",
			Tool: fmt.Sprint("tool", i/10), Kind: "file", Operation: "write", Target: fmt.Sprint("/work/", i/3), Decision: "allowed", By: "a rule",
			Rule: "cache", Calls: 1, Policy: "1", ID: fmt.Sprintf("id%06d", i)}
		switch i % 10 {
		case 0:
			rec.Decision, rec.Digest, rec.By, rec.LatencyMs = "denied", "shown", "window", 2000
		case 9:
			rec.Kind, rec.Operation, rec.Target, rec.Calls = "counted", "", "", 40
		case 8:
			rec.Tool, rec.Target = "", `/x","tool":"tool0","decision":"denied`
		}
		switch i {
		case 17:
			rec.Decision = "expired"
		case 998: // of a terminal
			rec.Run = ""
		}
		if err := log.Append(rec); err != nil {
			t.Fatal(err)
		}
	}
	return Decisions{Log: log, Rules: r.Book}, dir
}

func TestDecisionsInPages(t *testing.T) {
	d, dir := recordedIn(t, newBookRig(t), 1000)
	entries, calls, last := 0, 0, time.Now()
	after := ""
	for pages := 0; ; pages++ {
		p, err := d.Page(core.GateLogPageQuery{ChannelID: "app", After: after, Limit: 90})
		if err != nil || pages > 20 || len(p.Entries) == 0 {
			t.Fatalf("page %d: %v, %d entries", pages, err, len(p.Entries))
		}
		for _, e := range p.Entries {
			entries, calls = entries+e.Alike, calls+e.Record.Calls
			if e.Record.At.After(last) || e.First.After(e.Record.At) || e.Entry < 1 || e.Day != "2026-11-22" {
				t.Fatalf("%+v", e)
			}
			last = e.Record.At
		}
		if after = p.Next; after == "" {
			break
		}
	}
	if entries != 1000 || calls != 900+100*40 {
		t.Errorf("%d entries of %d calls", entries, calls)
	}
	for name, c := range map[string]struct {
		q    core.GateLogPageQuery
		want int
	}{
		"of a run":       {core.GateLogPageQuery{RunID: "run1"}, 499},
		"of a tool call": {core.GateLogPageQuery{ToolUseID: "tool7"}, 9},
		"of none":        {core.GateLogPageQuery{NoTool: true}, 100},
		"asked":          {core.GateLogPageQuery{Decision: "asked"}, 100},
		"denied":         {core.GateLogPageQuery{Decision: "denied"}, 100},
		"refused":        {core.GateLogPageQuery{Decision: "refused"}, 101},
		"of no run":      {core.GateLogPageQuery{NoRun: true}, 1},
		"counted":        {core.GateLogPageQuery{Kind: "counted"}, 100},
		"with a text":    {core.GateLogPageQuery{Text: "WORK/33"}, 10},
		"nothing":        {core.GateLogPageQuery{RunID: "run"}, 0},
		"another's":      {core.GateLogPageQuery{ChannelID: "other"}, 0},
	} {
		if c.q.ChannelID == "" {
			c.q.ChannelID = "app"
		}
		c.q.Limit = mostPage
		p, err := d.Page(c.q)
		n := 0
		for _, e := range p.Entries {
			n += e.Alike
		}
		if err != nil || n != c.want || p.Next != "" {
			t.Errorf("%s: %d %v", name, n, err)
		}
	}
	s, err := d.Summary(core.GateLogPageQuery{ChannelID: "app"})
	if err != nil || s.Entries != 1000 || s.Calls != 4900 || s.Asked != 100 || s.Denied != 101 || s.Counted != 100 || s.Files != 900 || s.AnswerMs != 2000 || len(s.Groups) != 103 {
		t.Errorf("%+v %v", s, err)
	}
	if g := s.Groups[0]; g.RunID != "run1" || g.ToolUseID != "tool99" || g.Entries != 9 || g.Asked != 1 || g.Calls != 48 {
		t.Errorf("%+v", g)
	}
	w, err := d.Why(t.Context(), "app", "id000120")
	if err != nil || !w.Holds || w.Entry.Entry != 121 || w.Of != 1000 || !w.Entry.Asked || w.Rule == nil || w.Rule.ID != "cache" {
		t.Errorf("%+v %v", w, err)
	}
	for id, code := range map[string]core.Code{"id0001": core.CodeInvalid, "none": core.CodeNotFound, "": core.CodeNotFound} {
		if _, err := d.Why(t.Context(), "app", id); core.AsFailure(err).Code != code {
			t.Errorf("%q: %v", id, err)
		}
	}
	for _, q := range []core.GateLogPageQuery{{}, {ChannelID: "app", After: "x"}, {ChannelID: "app", After: "2026-11-22.0"}} {
		if _, err := d.Page(q); core.AsFailure(err).Code != core.CodeInvalid {
			t.Errorf("%+v: %v", q, err)
		}
	}
	c, err := d.Chain("app")
	if err != nil || c.Entries != 1000 || c.Days != 1 || len(c.Breaks) != 0 {
		t.Errorf("%+v %v", c, err)
	}
	// A line that is taken out shows.
	name := filepath.Join(dir, "app-2026-11-22.jsonl")
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(raw), "\n")
	if err := os.WriteFile(name, []byte(strings.Join(append(lines[:120:120], lines[121:]...), "")), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err = d.Chain("app")
	if err != nil || len(c.Breaks) != 1 || c.Breaks[0].Text != "Entry 121 does not follow 120." || c.Breaks[0].Entry != 121 {
		t.Errorf("%+v %v", c, err)
	}
	if w, err = d.Why(t.Context(), "app", "id000121"); err != nil || w.Holds || w.Broken != "Entry 121 does not follow 120." {
		t.Errorf("%+v %v", w, err)
	}
	if w, err = d.Why(t.Context(), "app", "id000122"); err != nil || !w.Holds {
		t.Errorf("%+v %v", w, err)
	}
}

// TestAHundredThousandDecisions are paged and counted without being read whole. A tenth
// of them outside of make soak.
func TestAHundredThousandDecisions(t *testing.T) {
	n := 10_000
	if soaktest.Whole() {
		n = 100_000
	}
	d, _ := recordedIn(t, newBookRig(t), n)
	start := time.Now()
	p, err := d.Page(core.GateLogPageQuery{ChannelID: "app"})
	page := time.Since(start)
	if err != nil || len(p.Entries) != usualPage {
		t.Fatalf("%d %v", len(p.Entries), err)
	}
	start = time.Now()
	s, err := d.Summary(core.GateLogPageQuery{ChannelID: "app"})
	if err != nil || s.Entries != n || len(s.Groups) == 0 {
		t.Fatalf("%+v %v", s, err)
	}
	t.Logf("%d entries: a page in %v, all counted in %v", n, page, time.Since(start))
}
