package runner

import (
	"fmt"
	"math"
	"testing"
	"time"

	"loop/backend/core"
	"loop/backend/runner/transcript"
)

func TestPriced(t *testing.T) {
	used := func(model string, in, out int64, usd float64) core.ModelUsage {
		return core.ModelUsage{Model: model, Tokens: core.Tokens{Input: in, Output: out}, CostUSD: usd}
	}
	rates := map[string]core.ModelRate{"m": {InputUSD: 1e-5, Window: 1000}, "big[1m]": {InputUSD: 2e-5, Window: 9000}}
	for name, tc := range map[string]struct {
		try       transcript.Usage
		counted   float64
		usd       float64
		estimated bool
		tokens    core.Tokens
	}{
		"nothing": {},
		"what results state, whatever the conversation's total": {
			try:    transcript.Usage{Stated: []core.ModelUsage{used("m", 10, 1, 0.25), used("n", 5, 1, 0.5)}, SessionUSD: 9},
			tokens: core.Tokens{Input: 15, Output: 2}, usd: 0.75,
		},
		"a refusal that repeats the total": {try: transcript.Usage{SessionUSD: 0.47}},
		"the total alone, of a new conversation": {
			try: transcript.Usage{Totals: true, SessionUSD: 0.2, Covered: []core.ModelUsage{used("m", 10, 0, 0)}}, usd: 0.2, tokens: core.Tokens{Input: 10},
		},
		"the total alone, resumed": {try: transcript.Usage{Totals: true, SessionUSD: 0.5}, counted: 0.4, usd: 0.1},
		"the total alone, of a conversation nobody knows": {
			try: transcript.Usage{Totals: true, SessionUSD: 0.5, Covered: []core.ModelUsage{used("m", 10, 2, 0)}}, counted: -1, usd: 20e-5, estimated: true,
			tokens: core.Tokens{Input: 10, Output: 2},
		},
		"a total that went back is no cost": {
			try: transcript.Usage{Totals: true, SessionUSD: 0.1, Covered: []core.ModelUsage{used("m", 10, 0, 0)}}, counted: 0.4, usd: 1e-4, estimated: true,
			tokens: core.Tokens{Input: 10},
		},
		"no result": {try: transcript.Usage{Open: []core.ModelUsage{used("m", 10, 2, 0)}}, usd: 20e-5, estimated: true, tokens: core.Tokens{Input: 10, Output: 2}},
		"no result, and a name with a suffix": {
			try: transcript.Usage{Open: []core.ModelUsage{used("big-20260101", 10, 0, 0)}}, usd: 2e-4, estimated: true, tokens: core.Tokens{Input: 10},
		},
		"no result and no known rate": {try: transcript.Usage{Open: []core.ModelUsage{used("new", 10, 2, 0)}}, estimated: true, tokens: core.Tokens{Input: 10, Output: 2}},
		"ended after a result": {
			try: transcript.Usage{Stated: []core.ModelUsage{used("m", 10, 1, 0.25)}, Open: []core.ModelUsage{used("m", 10, 2, 0)}}, usd: 0.2502, estimated: true,
			tokens: core.Tokens{Input: 20, Output: 3},
		},
	} {
		t.Run(name, func(t *testing.T) {
			for range 2 { // a second call changes nothing
				u := priced(tc.try, tc.counted, rates)
				if math.Abs(u.CostUSD-tc.usd) > 1e-9 || u.Estimated != tc.estimated || u.Tokens() != tc.tokens {
					t.Errorf("%+v", u)
				}
			}
		})
	}
	full := priced(transcript.Usage{Context: core.Context{Used: 400}, Model: "m"}, 0, rates)
	if full.Context != (core.Context{Used: 400, Window: 1000}) {
		t.Errorf("context %+v", full.Context)
	}
}

// usageLine is a result as Claude Code 2.1.330 prints it.
func usageLine(total, own float64) string {
	return fmt.Sprintf(`{"total_cost_usd":%v,"is_error":false,"num_turns":1,"subtype":"success","result":"fine","type":"result","session_id":"sess",`+
		`"model_usage_since_last_result":{"m":{"inputTokens":1000,"outputTokens":0,"costUSD":%v,"contextWindow":8000}}}`+"\n", total, own)
}

func saidLine(id string, in int) string {
	return fmt.Sprintf(`{"type":"assistant","session_id":"sess","message":{"id":%q,"model":"m","content":[{"type":"text","text":"x"}],"usage":{"input_tokens":%d,"output_tokens":0}}}`+"\n", id, in)
}

// TestCostOfRuns: each run of a conversation has a cost of its own. So have a run that
// was stopped, and one of an older CLI that reports only the total.
func TestCostOfRuns(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r, _ := newSpawnRig(t,
			plays(saidLine("a", 1000)+usageLine(0.01, 0.01), 0),
			plays(saidLine("b", 2000)+saidLine("c", 500)+usageLine(0.03, 0.015)+usageLine(0.03, 0.005), 0),
			plays(saidLine("d", 3000)+saidLine("d", 3000), 137),
			plays(saidLine("e", 100)+`{"type":"result","subtype":"success","is_error":false,"session_id":"sess","num_turns":1,"total_cost_usd":0.04}`+"\n", 0),
		)
		r.start()
		defer r.quit()
		for i, want := range []struct {
			usd     float64
			guessed bool
			context core.Context
		}{
			{0.01, false, core.Context{Used: 1000, Window: 8000}},
			{0.02, false, core.Context{Used: 500, Window: 8000}},
			{0.03, true, core.Context{Used: 3000, Window: 8000}}, // 3000 tokens at the rate of the earlier runs
			{0.01, false, core.Context{Used: 100, Window: 8000}},
		} {
			run := r.ended(r.prompt("c", fmt.Sprint("x", i)).ID, time.Hour)
			u := run.Outcome.Usage
			if math.Abs(u.CostUSD-want.usd) > 1e-9 || u.Estimated != want.guessed || u.Context != want.context {
				t.Errorf("run %d (%s): %+v", i, run.State, u)
			}
		}
	})
}

// TestCostOfTriesWithEstimate: the costs of an interrupted try and of a complete one
// add up.
func TestCostOfTriesWithEstimate(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r, _ := newSpawnRig(t,
			plays(usageLine(0.01, 0.01), 0),
			plays(saidLine("a", 2000)+"npm ERR! bad\n", 1),
			plays(usageLine(0.02, 0.01), 0),
		)
		r.start()
		defer r.quit()
		r.ended(r.prompt("c", "x").ID, time.Hour)
		run := r.ended(r.prompt("c", "y").ID, time.Hour)
		if u := run.Outcome.Usage; run.Attempt.Number != 2 || math.Abs(u.CostUSD-0.03) > 1e-9 || !u.Estimated || u.Tokens().Input != 3000 {
			t.Errorf("try %d: %+v", run.Attempt.Number, u)
		}
		if got := r.attempts(run.ID); len(got) != 1 || math.Abs(got[0].Usage.CostUSD-0.02) > 1e-9 {
			t.Errorf("between the tries: %+v", got)
		}
	})
}

// TestCostAcrossARestart: usage from before the restart of Loop counts as well.
func TestCostAcrossARestart(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r, _ := newSpawnRig(t, plays(usageLine(0.01, 0.01), 0), func(p *proc) {
			p.print(saidLine("a", 2000))
			<-p.killed
		})
		r.start()
		r.ended(r.prompt("c", "x").ID, time.Hour)
		id := r.prompt("c", "y").ID
		r.pass(5 * time.Second)
		r.quit()
		r.start()
		defer r.quit()
		r.pass(5 * time.Second)
		if err := r.s.Cancel(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		run := r.ended(id, time.Hour)
		if u := run.Outcome.Usage; run.State != core.RunCancelled || math.Abs(u.CostUSD-0.02) > 1e-9 || !u.Estimated {
			t.Errorf("%s: %+v", run.State, u)
		}
		if n := len(r.told(id, core.EventMessageCreated)); n != 2 { // the prompt and one answer
			t.Errorf("%d messages stored", n)
		}
	})
}
