package transcript

import (
	"cmp"
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"loop/backend/core"
)

// Usage is what one try of a run used. A result's total_cost_usd is that of the
// whole conversation: it goes on over resuming and forking, and a refusal that
// cost nothing repeats it. What a try itself used is the sum of
// model_usage_since_last_result over its results (Claude Code 2.1.330).
type Usage struct {
	Stated []core.ModelUsage // by results, with its cost
	// Covered is of messages in front of a result that gave a total and no more.
	// Totals says that there was such a result.
	Covered []core.ModelUsage
	Totals  bool
	Open    []core.ModelUsage // of messages that no result followed: the agent was ended first
	// SessionUSD is the conversation's total, as the last result has it.
	SessionUSD float64
	Context    core.Context // Window is 0 when no result named it
	Model      string       // whose context it is
}

// Bounds of what a container may claim. The sums stay far from an overflow.
const (
	maxMessages = 20_000 // that no result has followed yet
	maxCount    = 1e12   // tokens
	maxUSD      = 1e6
)

// wireUsage counts tokens as the API does. The numbers are floats, so that no
// strange one costs the whole line.
type wireUsage struct {
	Input      float64 `json:"input_tokens"`
	Output     float64 `json:"output_tokens"`
	CacheRead  float64 `json:"cache_read_input_tokens"`
	CacheWrite float64 `json:"cache_creation_input_tokens"`
}

func (w wireUsage) tokens() core.Tokens {
	return core.Tokens{Input: count(w.Input), Output: count(w.Output), CacheRead: count(w.CacheRead), CacheWrite: count(w.CacheWrite)}
}

// wireModelUsage counts tokens as the CLI's results do.
type wireModelUsage struct {
	Input      float64 `json:"inputTokens"`
	Output     float64 `json:"outputTokens"`
	CacheRead  float64 `json:"cacheReadInputTokens"`
	CacheWrite float64 `json:"cacheCreationInputTokens"`
	CostUSD    float64 `json:"costUSD"`
	Window     float64 `json:"contextWindow"`
}

func count(x float64) int64 { return int64(bounded(x, maxCount)) }

func bounded(x, most float64) float64 {
	if !(x > 0) {
		return 0
	}
	return min(x, most)
}

// modelUsage reads usage by model; ok is false when the field is missing or of
// another shape.
func modelUsage(v jsontext.Value) (list []core.ModelUsage, ok bool) {
	var models map[string]wireModelUsage
	if v.Kind() != '{' || decode(v, &models) != nil {
		return nil, false
	}
	for name, w := range models {
		list = append(list, core.ModelUsage{
			Model: clipShort(name), Tokens: wireUsage{w.Input, w.Output, w.CacheRead, w.CacheWrite}.tokens(),
			CostUSD: bounded(w.CostUSD, maxUSD), Window: count(w.Window),
		})
	}
	return core.MergeUsage(list), true
}

// tally adds up what a try uses.
type tally struct {
	Usage
	open    map[string]core.ModelUsage // by message, which the stream repeats
	windows []core.ModelUsage          // what results said of the models' contexts
}

// heard takes the usage of a message: one that is repeated counts once, with the
// largest numbers, because the first ones are of a message that has only begun.
func (t *tally) heard(id, model, parent string, w wireUsage) {
	now := w.tokens()
	if id == "" || now == (core.Tokens{}) {
		return // the CLI's own words, such as a refusal
	}
	if t.open == nil {
		t.open = map[string]core.ModelUsage{}
	}
	id = clipShort(id)
	m, known := t.open[id]
	if !known && len(t.open) >= maxMessages {
		return
	}
	if model != "" {
		m.Model = clipShort(model)
	}
	m.Tokens = core.Tokens{
		Input: max(m.Input, now.Input), Output: max(m.Output, now.Output),
		CacheRead: max(m.CacheRead, now.CacheRead), CacheWrite: max(m.CacheWrite, now.CacheWrite),
	}
	t.open[id] = m
	if parent == "" {
		t.Context.Used, t.Model = m.AllInput(), m.Model
	}
}

// compacted: the conversation is as long as its summary now, 0 if that was not said.
func (t *tally) compacted(tokens int64) { t.Context.Used = min(max(tokens, 0), maxCount) }

// result closes what was open.
func (t *tally) result(w wireResult) {
	since, stated := modelUsage(w.Since)
	all, _ := modelUsage(w.ModelUsage)
	t.windows = core.MergeUsage(t.windows, append(all, since...)...)
	t.SessionUSD = max(bounded(w.TotalUSD, maxUSD), t.SessionUSD)
	switch {
	case stated:
		t.Stated = sane(core.MergeUsage(t.Stated, since...))
	case w.TotalUSD > 0:
		t.Totals = true
		t.Covered = sane(core.MergeUsage(t.Covered, slices.Collect(maps.Values(t.open))...))
	default:
		return // neither was said
	}
	t.open = nil
}

// sane keeps sums in bounds, however many results there are.
func sane(list []core.ModelUsage) []core.ModelUsage {
	for i := range list {
		m := &list[i]
		m.Input, m.Output = min(m.Input, maxCount), min(m.Output, maxCount)
		m.CacheRead, m.CacheWrite = min(m.CacheRead, maxCount), min(m.CacheWrite, maxCount)
		m.CostUSD = min(m.CostUSD, maxUSD)
	}
	return list
}

// sum is everything so far; model is the session's, for a try in which it said nothing.
func (t *tally) sum(model string) Usage {
	u := t.Usage
	u.Open, u.Model = sane(core.MergeUsage(slices.Collect(maps.Values(t.open)))), cmp.Or(t.Model, model)
	for _, m := range t.windows {
		if core.SameModel(m.Model, u.Model) && m.Window > 0 {
			u.Context.Window = m.Window
			break
		}
	}
	return u
}
