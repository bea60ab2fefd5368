package transcript

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"loop/backend/core"
)

const opus = "claude-opus-4-8"

// These are the tokens and the cost of one answer in the recordings.
var (
	answer    = core.Tokens{Input: 100, Output: 20, CacheRead: 1000, CacheWrite: 200}
	answerUSD = 0.00275
)

func times(n int64, t core.Tokens) core.Tokens {
	return core.Tokens{Input: n * t.Input, Output: n * t.Output, CacheRead: n * t.CacheRead, CacheWrite: n * t.CacheWrite}
}

// TestUsageOfRecordings reads output of Claude Code 2.1.330. The totals in its results
// go on from run to run. The usage of a single try does not.
func TestUsageOfRecordings(t *testing.T) {
	stated := func(tokens core.Tokens, usd float64) []core.ModelUsage {
		return []core.ModelUsage{{Model: opus, Tokens: tokens, CostUSD: usd, Window: 1_000_000}}
	}
	full := core.Context{Used: 1300, Window: 1_000_000}
	for name, want := range map[string]Usage{
		"first":              {Stated: stated(answer, answerUSD), SessionUSD: answerUSD, Context: full},
		"resume":             {Stated: stated(answer, answerUSD), SessionUSD: 2 * answerUSD, Context: full},
		"fork":               {Stated: stated(answer, answerUSD), SessionUSD: 3 * answerUSD, Context: full},
		"error-401-resumed":  {SessionUSD: 3 * answerUSD, Context: core.Context{Window: 1_000_000}},
		"background-command": {Stated: stated(times(3, answer), 3*answerUSD), SessionUSD: 3 * answerUSD, Context: full},
		// The first result covers the sub-agent and the turn after it, the second adds
		// nothing.
		"two-results": {Stated: stated(times(3, answer).Plus(core.Tokens{Input: 500, Output: 50}), 0.012), SessionUSD: 0.012, Context: full},
		"compact":     {Stated: stated(times(2, answer), 2*answerUSD), SessionUSD: 4 * answerUSD, Context: core.Context{Used: 2599, Window: 1_000_000}},
		// There is no result. Each message counts once, and a half message with its
		// tokens so far.
		"killed": {
			Open:    []core.ModelUsage{{Model: opus, Tokens: answer.Plus(core.Tokens{Input: 100, Output: 1, CacheRead: 2000, CacheWrite: 100})}},
			Context: core.Context{Used: 2200},
		},
	} {
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join("testdata/usage-claude-2.1.330", name+".jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			var p Parser
			parseAll(t, bytes.NewReader(data), &p)
			got := p.Usage()
			want.Model = opus
			got.SessionUSD = math.Round(got.SessionUSD*1e8) / 1e8
			for i := range got.Stated {
				got.Stated[i].CostUSD = math.Round(got.Stated[i].CostUSD*1e8) / 1e8
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
		})
	}
}

func TestUsageOfOtherShapes(t *testing.T) {
	said := func(id, parent string, in, out int) string {
		if parent != "" {
			parent = `,"parent_tool_use_id":"` + parent + `"`
		}
		return fmt.Sprintf(`{"type":"assistant","message":{"id":%q,"model":"m","content":[],"usage":{"input_tokens":%d,"output_tokens":%d}}%s}`+"\n", id, in, out, parent)
	}
	model := func(in, out int64) []core.ModelUsage {
		return []core.ModelUsage{{Model: "m", Tokens: core.Tokens{Input: in, Output: out}}}
	}
	const result = `{"type":"result","subtype":"success","is_error":false`
	for name, tc := range map[string]struct {
		in   string
		want Usage
	}{
		"a message that is repeated counts once, as it was last": {
			said("a", "", 10, 1) + said("a", "", 10, 1) + said("a", "", 10, 7), Usage{Open: model(10, 7), Context: core.Context{Used: 10}},
		},
		"a helper's message counts, but is not in the context": {
			said("a", "", 10, 1) + said("b", "t1", 500, 2), Usage{Open: model(510, 3), Context: core.Context{Used: 10}},
		},
		"pieces of a message": {
			`{"type":"stream_event","event":{"type":"message_start","message":{"id":"a","model":"m","usage":{"input_tokens":10,"output_tokens":1}}}}` + "\n" +
				`{"type":"stream_event","event":{"type":"message_delta","usage":{"output_tokens":40}}}` + "\n",
			Usage{Open: model(10, 40), Context: core.Context{Used: 10}},
		},
		"an older CLI says the total alone": {
			said("a", "", 10, 1) + result + `,"total_cost_usd":0.5}` + "\n", Usage{Covered: model(10, 1), Totals: true, SessionUSD: 0.5, Context: core.Context{Used: 10}},
		},
		"a result broken off in front of its numbers": {
			said("a", "", 10, 1) + result, Usage{Open: model(10, 1), Context: core.Context{Used: 10}},
		},
		"work after the last result": {
			result + `,"total_cost_usd":0.5,"model_usage_since_last_result":{}}` + "\n" + said("a", "", 10, 1),
			Usage{SessionUSD: 0.5, Open: model(10, 1), Context: core.Context{Used: 10}},
		},
		"negative and monstrous numbers": {
			result + `,"total_cost_usd":-3,"model_usage_since_last_result":{"m":{"inputTokens":-5,"outputTokens":1e300,"costUSD":-1,"contextWindow":-9}}}` + "\n" +
				result + `,"total_cost_usd":1e300,"model_usage_since_last_result":{"m":{"inputTokens":0.5,"costUSD":1e300}}}` + "\n",
			Usage{Stated: []core.ModelUsage{{Model: "m", Tokens: core.Tokens{Output: maxCount}, CostUSD: maxUSD}}, SessionUSD: maxUSD},
		},
		"no numbers at all": {
			result + `,"total_cost_usd":0.5,"model_usage_since_last_result":{"m":{"inputTokens":"many"}}}` + "\n", Usage{Totals: true, SessionUSD: 0.5},
		},
		"not a number": {
			said("a", "", 10, 1) + result + `,"total_cost_usd":NaN,"model_usage_since_last_result":{"m":{"costUSD":NaN}}}` + "\n",
			Usage{Open: model(10, 1), Context: core.Context{Used: 10}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var p Parser
			parseAll(t, strings.NewReader(tc.in), &p)
			got := p.Usage()
			got.Model = ""
			if !reflect.DeepEqual(got, tc.want) {
				t.Errorf("got  %+v\nwant %+v", got, tc.want)
			}
		})
	}
}

func TestUsageIsBounded(t *testing.T) {
	var sb strings.Builder
	sb.WriteString(`{"type":"result","subtype":"success","is_error":false,"model_usage_since_last_result":{`)
	for i := range 10_000 {
		fmt.Fprintf(&sb, `"model-%d-%s":{"inputTokens":1,"costUSD":0.01},`, i, strings.Repeat("x", 50))
	}
	sb.WriteString(`"last":{"inputTokens":1,"costUSD":0.01}}}` + "\n")
	for i := range maxMessages + 10 {
		fmt.Fprintf(&sb, `{"type":"assistant","message":{"id":"m%d","model":"m%d","content":[],"usage":{"input_tokens":1}}}`+"\n", i, i)
	}
	var p Parser
	parseAll(t, strings.NewReader(sb.String()), &p)
	u := p.Usage()
	sum := core.Usage{Models: u.Stated}.Tokens()
	cost := 0.0
	for _, m := range u.Stated {
		cost += m.CostUSD
	}
	if len(u.Stated) != 17 || sum.Input != 10_001 || math.Abs(cost-100.01) > 1e-6 {
		t.Errorf("%d models, %d tokens, $%v", len(u.Stated), sum.Input, cost)
	}
	if open := (core.Usage{Models: u.Open}).Tokens(); len(u.Open) != 17 || open.Input != maxMessages {
		t.Errorf("%d models and %d messages open", len(u.Open), open.Input)
	}
}
