package store

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"testing"
	"time"

	"github.com/pressly/goose/v3"

	"loop/backend/core"
)

// TestTotalsBecomeOwnCosts opens an older database, in which every run has the cost of
// its whole conversation.
func TestTotalsBecomeOwnCosts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "loop.db")
	earlier(t, path, 2)
	db, err := sql.Open("sqlite", dsn(path, ""))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	exec := func(stmt string, args ...any) {
		t.Helper()
		if _, err := db.Exec(stmt, args...); err != nil {
			t.Fatal(err)
		}
	}
	exec("insert into channels (id, parent_id, kind, name, dir, created_at) values ('t', 'c', 'thread', 't', '/c', 2)")
	runs := []struct {
		id, channel, session string
		start                core.SessionStart
		attempt              string
		stored, want         float64
		demo                 int
	}{
		{id: "first", session: "s", stored: 0.10, want: 0.10},
		{id: "resumed", session: "s", stored: 0.25, want: 0.15},
		{id: "refused", session: "s", stored: 0.25, want: 0}, // its 401 repeated the total
		{id: "forked", session: "f", start: core.SessionStart{Mode: core.SessionFork, SessionID: "s"}, stored: 0.30, want: 0.05},
		{id: "forked own", session: "g", start: core.SessionStart{Mode: core.SessionFork}, stored: 0.32, want: 0.02},
		{id: "new", session: "n", start: core.SessionStart{Mode: core.SessionFresh}, stored: 0.07, want: 0.07},
		{id: "began anew", session: "n", stored: 0.03, want: 0.03},
		{id: "tries", session: "n", attempt: `{"number":2,"spent_usd":0.05}`, stored: 0.13, want: 0.05},
		{id: "thread", channel: "t", session: "x", stored: 0.40, want: 0.32},
		{id: "thread again", channel: "t", session: "x", stored: 0.41, want: 0.01},
		{id: "unsaid", stored: 0.5, want: 0.5},
		{id: "demo", session: "s", stored: 0, want: 0, demo: 1},
	}
	for i, r := range runs {
		if r.channel == "" {
			r.channel = "c"
		}
		if r.attempt == "" {
			r.attempt = "{}"
		}
		exec(`insert into runs (id, channel_id, prompt, state, created_at, ended_at, cost_usd, demo, session, attempt, outcome) values (?, ?, '', 'done', 1, ?, ?, ?, ?, ?, ?)`,
			r.id, r.channel, epoch.Add(time.Duration(i)*time.Minute).UnixMilli(), r.stored, r.demo, asJSON(r.start), r.attempt,
			fmt.Sprintf(`{"session_id":%q,"cost_usd":%v,"text":"kept"}`, r.session, r.stored))
		exec(`insert into events (channel_id, run_id, type, ts, data) values (?, ?, 'agent.status', 1, ?)`, r.channel, r.id, fmt.Sprintf(`{"status":"completed","cost_usd":%v}`, r.stored))
		exec(`insert into events (channel_id, run_id, type, ts, data) values (?, ?, 'agent.raw', 1, '{"cost_usd":9}')`, r.channel, r.id)
	}

	s, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	near := func(got, want float64) bool { return math.Abs(got-want) < 1e-9 }
	sum := 0.0
	for _, r := range runs {
		run, err := s.Run(t.Context(), core.RunID(r.id))
		if err != nil || !near(run.Outcome.CostUSD, r.want) || run.Outcome.Text != "kept" || run.Outcome.Estimated {
			t.Errorf("%s: %+v, %v; want $%v", r.id, run.Outcome, err, r.want)
		}
		evs, err := runEvents(t.Context(), s, core.RunID(r.id))
		var st core.Status
		if err != nil || len(evs) != 2 || json.Unmarshal(evs[0].Data, &st) != nil || !near(st.CostUSD, r.want) || string(evs[1].Data) != `{"cost_usd":9}` {
			t.Errorf("%s: events %v, %v", r.id, evs, err)
		}
		sum += r.want
	}
	if got, err := s.CostSince(t.Context(), epoch); err != nil || !near(got.CostUSD, sum) || got.Estimated {
		t.Errorf("in all %+v, %v; want $%v", got, err, sum)
	}
	// The totals of the conversations stay.
	if usd, err := s.SessionCost(t.Context(), "n"); err != nil || !near(usd, 0.08) {
		t.Errorf("conversation n: $%v, %v", usd, err)
	}

	sub, err := fs.Sub(migrationFiles, "migrations")
	if err != nil {
		t.Fatal(err)
	}
	p, err := goose.NewProvider(goose.DialectSQLite3, s.writer, sub)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.DownTo(t.Context(), 2); err != nil {
		t.Errorf("down: %v", err)
	}
}

// TestEstimatesAreMarked: one estimate marks the day's sum as estimated, and no price
// is learned from it.
func TestEstimatesAreMarked(t *testing.T) {
	s := open(t)
	ctx := t.Context()
	for i, u := range []core.Usage{
		{Cost: core.Cost{CostUSD: 0.5}},
		{Cost: core.Cost{CostUSD: 0.25, Estimated: true}, Models: []core.ModelUsage{{Model: "m", Tokens: core.Tokens{Input: 1000}, CostUSD: 0.25}}},
	} {
		id := core.RunID(fmt.Sprint("r", i))
		if i == 0 {
			if err := s.AddChannel(ctx, core.Channel{ID: "c", Kind: core.KindProject, Name: "c", Dir: "/c"}); err != nil {
				t.Fatal(err)
			}
		}
		if _, _, _, err := s.Enqueue(ctx, core.Run{ID: id, ChannelID: "c", Prompt: "x"}); err != nil {
			t.Fatal(err)
		}
		run, ok, err := s.ClaimNext(ctx, "c")
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		run.State, run.EndedAt, run.Outcome.Usage = core.RunFailed, epoch.Add(time.Duration(i)*time.Hour), u
		if _, err := s.FinishRun(ctx, run); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := s.CostSince(ctx, epoch); err != nil || got.Cost != (core.Cost{CostUSD: 0.75, Estimated: true}) {
		t.Errorf("both %+v, %v", got, err)
	}
	if got, err := s.CostSince(ctx, epoch.Add(30*time.Minute)); err != nil || got.Cost != (core.Cost{CostUSD: 0.25, Estimated: true}) {
		t.Errorf("the later %+v, %v", got, err)
	}
	if rates, err := s.ModelRates(ctx); err != nil || len(rates) != 0 {
		t.Errorf("rates of an estimate: %v, %v", rates, err)
	}

	talk := core.SavedTalk{At: epoch.Add(2 * time.Hour), TerminalTalk: core.TerminalTalk{ID: "talk-1", ChannelID: "c", SessionID: "s", AddedUSD: 0.5}}
	evs, err := s.PutTalk(ctx, talk, notice("c", "", "said"))
	if err != nil {
		t.Fatal(err)
	}
	for since, usd := range map[time.Duration]float64{0: 1.25, 90 * time.Minute: 0.5, 3 * time.Hour: 0} {
		if got, err := s.CostSince(ctx, epoch.Add(since)); err != nil || got.CostUSD != usd || got.LastEventID != evs[0].ID {
			t.Errorf("with a talk, after %v: %+v, %v", since, got, err)
		}
	}
}

// TestPricesOfTalks: what a file of the agent says fills what no run named, and replaces nothing.
func TestPricesOfTalks(t *testing.T) {
	s := open(t)
	ctx := t.Context()
	named := func(model string, usd float64) core.ModelUsage {
		return core.ModelUsage{Model: model, Tokens: core.Tokens{Input: 1000}, CostUSD: usd}
	}
	if err := s.AddChannel(ctx, core.Channel{ID: "c", Kind: core.KindProject, Name: "c", Dir: "/c"}); err != nil {
		t.Fatal(err)
	}
	runs := 0
	run := func(models ...core.ModelUsage) {
		t.Helper()
		runs++
		if _, _, _, err := s.Enqueue(ctx, core.Run{ID: core.RunID(fmt.Sprint("r", runs)), ChannelID: "c", Prompt: "x"}); err != nil {
			t.Fatal(err)
		}
		r, ok, err := s.ClaimNext(ctx, "c")
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		r.State, r.EndedAt, r.Outcome.Usage = core.RunDone, epoch, core.Usage{Models: models}
		if _, err := s.FinishRun(ctx, r); err != nil {
			t.Fatal(err)
		}
	}
	at := int64(0)
	talk := func(models ...core.ModelUsage) {
		t.Helper()
		at++
		talk := core.SavedTalk{At: epoch.Add(time.Hour), Offset: at, Stated: core.SpentOn{Models: models}, TerminalTalk: core.TerminalTalk{ID: "talk-1", ChannelID: "c", SessionID: "s"}}
		if _, err := s.PutTalk(ctx, talk); err != nil {
			t.Fatal(err)
		}
	}
	wants := func(what string, want map[string]float64) {
		t.Helper()
		got, err := s.ModelRates(ctx)
		if err != nil || len(got) > maxRates {
			t.Fatalf("%s: %d rates, %v", what, len(got), err)
		}
		for model, usd := range want {
			if got[model].InputUSD != usd/1000 {
				t.Errorf("%s: %s costs %v", what, model, got[model].InputUSD)
			}
		}
	}
	run(named("claude-x", 1))
	talk(named("claude-x", 9), named("claude-x-20250101", 9), named("claude-y", 2))
	wants("a talk", map[string]float64{"claude-x": 1, "claude-x-20250101": 0, "claude-y": 2})
	talk(named("claude-y", 9))
	wants("another word", map[string]float64{"claude-y": 2})
	run(named("claude-y", 3))
	wants("a run's word", map[string]float64{"claude-y": 3})
	var flood []core.ModelUsage
	for i := range 2 * maxRates {
		flood = append(flood, named(fmt.Sprint("m", i), 1))
	}
	talk(flood...)
	run(named("claude-z", 4))
	wants("very many", map[string]float64{"claude-x": 1, "claude-y": 3, "claude-z": 4})
}
