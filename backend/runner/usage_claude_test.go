//go:build claude

package runner

import (
	"context"
	"math"
	"net/http"
	"testing"
	"testing/fstest"

	"loop/backend/core"
	"loop/backend/demo"
)

// pricedScript answers twice, with numbers that the test knows.
const pricedScript = `{"title": "Known numbers", "description": "Two answers.", "steps": [
	{"usage": {"input_tokens": 100, "output_tokens": 20, "cache_read_input_tokens": 1000, "cache_creation_input_tokens": 200},
	 "blocks": [{"type": "tool_use", "tool": "Bash", "input": {"command": "echo one", "description": "Say one"}}]},
	{"usage": {"input_tokens": 50, "output_tokens": 10, "cache_read_input_tokens": 3000, "cache_creation_input_tokens": 100},
	 "blocks": [{"type": "text", "text": "Two."}]}]}`

// TestClaudeCosts runs, resumes, forks, stops and is refused. Each run has the cost of
// its own answers, although the CLI's total goes on through all runs.
func TestClaudeCosts(t *testing.T) {
	lib, err := demo.LoadDir(fstest.MapFS{"priced.json": {Data: []byte(pricedScript)}})
	if err != nil {
		t.Fatal(err)
	}
	r := newReal(t)
	r.api.model = demo.New(demo.Options{Pace: demo.Instant, Library: lib})
	r.model = "claude-opus-4-8"
	first := core.Tokens{Input: 100, Output: 20, CacheRead: 1000, CacheWrite: 200}
	both := first.Plus(core.Tokens{Input: 50, Output: 10, CacheRead: 3000, CacheWrite: 100})
	const prompt = "demo:priced\ngo on"

	var rate, total float64 // price of a plain input token; cost of the conversation so far
	for _, tc := range []struct {
		name  string
		start core.SessionStart
	}{
		{"run", core.SessionStart{}},
		{"resume", core.SessionStart{}},
		{"fork", core.SessionStart{Mode: core.SessionFork}},
	} {
		run := r.run(core.Run{Prompt: prompt, Session: tc.start})
		r.want(run, core.RunDone)
		u := run.Outcome.Usage
		if rate == 0 {
			rate = u.CostUSD / both.Weight()
		}
		if u.Tokens() != both || u.CostUSD <= 0 || math.Abs(u.CostUSD-rate*both.Weight()) > 1e-9 || u.Estimated {
			t.Errorf("%s: %+v, want %+v", tc.name, u, both)
		}
		if u.Context.Used != 3150 || u.Context.Window < 100_000 {
			t.Errorf("%s: context %+v", tc.name, u.Context)
		}
		if u.SessionUSD < total+u.CostUSD-1e-9 {
			t.Errorf("%s: the CLI's total is $%v after $%v: it does not go on any more", tc.name, u.SessionUSD, total)
		}
		total = u.SessionUSD
	}

	r.api.cue(firstFew(9, 401, "authentication_error", "invalid x-api-key"))
	run := r.run(core.Run{Prompt: prompt})
	r.want(run, core.RunFailed)
	// It is ended at the first refusal, before the CLI would say the total of the session.
	if u := run.Outcome.Usage; u.CostUSD != 0 || u.Estimated || u.SessionUSD != 0 {
		t.Errorf("refused: %+v", u)
	}

	hang := make(chan struct{})
	defer close(hang)
	r.api.cue(func(n int, _ string, _ http.ResponseWriter) bool {
		if n > 1 {
			<-hang
		}
		return n > 1
	})
	run, err = r.s.Prompt(context.Background(), core.Run{ChannelID: "c", Prompt: prompt})
	if err != nil {
		t.Fatal(err)
	}
	r.when("the second turn", func() bool { return r.api.asked() >= 2 })
	if err := r.s.Cancel(context.Background(), run.ID); err != nil {
		t.Fatal(err)
	}
	run = r.ended(run.ID)
	if u := run.Outcome.Usage; run.State != core.RunCancelled || u.Tokens() != first || math.Abs(u.CostUSD-rate*first.Weight()) > 1e-9 || !u.Estimated ||
		u.Context.Used != 1300 || u.Context.Window < 100_000 {
		t.Errorf("stopped: %s %+v", run.State, u)
	}
}
