package core

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
)

// Numbers in this file come from a container. They are bounded where they are read,
// and only the display depends on them.

// Cost is an amount in US dollars.
type Cost struct {
	CostUSD float64 `json:"cost_usd,omitempty"`
	// Estimated says that the agent named no price for a part of it. Loop works
	// that part out from tokens; where it knows no price it counts as nothing.
	Estimated bool `json:"cost_estimated,omitempty"`
}

// DayCost is the cost of the runs that ended in a day. LastEventID is the newest
// event stored by then: the ends of runs in later events are not in the sum.
type DayCost struct {
	Cost
	LastEventID int64 `json:"last_event_id"`
}

// Tokens of model calls. Input is what was not read from a cache; what was
// written to one is CacheWrite, and not in Input either.
type Tokens struct {
	Input      int64 `json:"input_tokens,omitempty"`
	Output     int64 `json:"output_tokens,omitempty"`
	CacheRead  int64 `json:"cache_read_tokens,omitempty"`
	CacheWrite int64 `json:"cache_write_tokens,omitempty"`
}

// Plus is the sum.
func (t Tokens) Plus(o Tokens) Tokens {
	return Tokens{t.Input + o.Input, t.Output + o.Output, t.CacheRead + o.CacheRead, t.CacheWrite + o.CacheWrite}
}

// AllInput is everything the model was given, from a cache or not.
func (t Tokens) AllInput() int64 { return t.Input + t.CacheRead + t.CacheWrite }

// Weight is how many plain input tokens cost as much. The list prices of all
// Claude models stand in these proportions.
func (t Tokens) Weight() float64 {
	return float64(t.Input) + 5*float64(t.Output) + 0.1*float64(t.CacheRead) + 1.25*float64(t.CacheWrite)
}

// ModelUsage is what one model was used for. Window is how many tokens its
// context holds, 0 where that was not said.
type ModelUsage struct {
	Model string `json:"model"`
	Tokens
	CostUSD float64 `json:"cost_usd,omitempty"`
	Window  int64   `json:"context_window,omitempty"`
}

// ModelRate is the latest knowledge of a model: the price of a plain input token
// (see Weight) in US dollars, and how many tokens the model's context holds.
type ModelRate struct {
	InputUSD float64
	Window   int64
}

// maxRate bounds what a token may be said to cost, in US dollars.
const maxRate = 0.01

// Rates returns the prices of models that follow from usage; none where Loop only
// estimated the cost.
func Rates(u Usage) map[string]ModelRate {
	out := map[string]ModelRate{}
	for _, m := range u.Models {
		if rate := m.CostUSD / m.Weight(); rate > 0 && rate <= maxRate && !u.Estimated && m.Model != otherModels {
			out[m.Model] = ModelRate{InputUSD: rate, Window: m.Window}
		}
	}
	return out
}

// dated matches what only some places write behind a model's name: a date, and [1m]
// for a larger context.
var dated = regexp.MustCompile(`(-20\d{6})?(\[.*)?$`)

// SameModel compares the names of two models.
func SameModel(a, b string) bool {
	return dated.ReplaceAllString(a, "") == dated.ReplaceAllString(b, "")
}

// RateOf is what is known of a model, whatever stands behind its name; zero is nothing.
func RateOf(rates map[string]ModelRate, model string) ModelRate {
	if r, ok := rates[model]; ok {
		return r
	}
	for _, name := range slices.Sorted(maps.Keys(rates)) {
		if SameModel(name, model) {
			return rates[name]
		}
	}
	return ModelRate{}
}

// Context is how full a conversation's context was at the last message of its
// main thread. Window is 0 where nobody said how much the model holds.
type Context struct {
	Used   int64 `json:"used_tokens"`
	Window int64 `json:"window_tokens,omitempty"`
}

// Usage is what a run, or some tries of one, used.
type Usage struct {
	Cost
	Models  []ModelUsage `json:"model_usage,omitempty"`
	Context Context      `json:"context,omitzero"`
	// SessionUSD is the agent's own count for the whole conversation, as far as it
	// named one. That sum goes on over resuming and forking.
	SessionUSD float64 `json:"session_cost_usd,omitempty"`
}

// Plus adds what came after u.
func (u Usage) Plus(o Usage) Usage {
	u.CostUSD += o.CostUSD
	u.Estimated = u.Estimated || o.Estimated
	u.Models = MergeUsage(u.Models, o.Models...)
	if o.Context.Used > 0 {
		u.Context = o.Context
	}
	if o.SessionUSD > 0 {
		u.SessionUSD = o.SessionUSD
	}
	return u
}

// Tokens of all models together.
func (u Usage) Tokens() (sum Tokens) {
	for _, m := range u.Models {
		sum = sum.Plus(m.Tokens)
	}
	return sum
}

const (
	maxModels   = 16
	otherModels = "other models"
)

// MergeUsage adds usage to a list with one entry for each model, most expensive
// first. It keeps 16; the rest is one entry more.
func MergeUsage(list []ModelUsage, more ...ModelUsage) []ModelUsage {
	at := make(map[string]int, len(list)+len(more))
	var out []ModelUsage
	for _, m := range append(slices.Clone(list), more...) {
		i, known := at[m.Model]
		if !known {
			at[m.Model] = len(out)
			out = append(out, m)
			continue
		}
		out[i].Tokens = out[i].Plus(m.Tokens)
		out[i].CostUSD += m.CostUSD
		out[i].Window = cmp.Or(m.Window, out[i].Window)
	}
	slices.SortStableFunc(out, func(a, b ModelUsage) int {
		other := func(m ModelUsage) int {
			if m.Model == otherModels {
				return 1
			}
			return 0
		}
		return cmp.Or(cmp.Compare(other(a), other(b)), cmp.Compare(b.CostUSD, a.CostUSD), cmp.Compare(b.Weight(), a.Weight()),
			cmp.Compare(a.Model, b.Model))
	})
	if len(out) <= maxModels {
		return out
	}
	rest := ModelUsage{Model: otherModels}
	for _, m := range out[maxModels:] {
		rest.Tokens = rest.Plus(m.Tokens)
		rest.CostUSD += m.CostUSD
	}
	return append(out[:maxModels], rest)
}
