package runner

import (
	"context"
	"errors"
	"slices"
	"time"

	"loop/backend/core"
	"loop/backend/runner/transcript"
)

// usage is what the run used: in the tries before the present one, and in it.
func (w *work) usage() core.Usage {
	before := w.run.Attempt.Usage
	if w.run.Demo {
		return before // the CLI prices the model it believes it talks to; a script costs nothing
	}
	t := w.parser.Usage()
	// What the database does not say leaves an estimate, so nobody waits for it long.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(w.service), 10*time.Second)
	defer cancel()
	var rates map[string]core.ModelRate // as of the last results that named prices
	if len(t.Open)+len(t.Covered) > 0 || t.Context.Used > 0 && t.Context.Window == 0 {
		var err error
		if rates, err = w.s.p.Store.ModelRates(ctx); err != nil {
			w.log.Warn("read the prices of models", "error", err)
		}
	}
	return before.Plus(priced(t, w.counted(ctx, t), rates))
}

// counted returns the conversation's total before the present try, negative when
// that is not known.
func (w *work) counted(ctx context.Context, t transcript.Usage) float64 {
	resumed := w.resumedFrom()
	switch {
	case !t.Totals || resumed == "":
		return 0
	case w.run.Attempt.Usage.SessionUSD > 0: // the tries before were in it
		return w.run.Attempt.Usage.SessionUSD
	}
	total, err := w.s.p.Store.SessionCost(ctx, resumed)
	if err != nil {
		if !errors.Is(err, core.ErrNotFound) {
			w.log.Warn("read what the conversation had cost", "error", err)
		}
		return -1
	}
	return total
}

// priced says what a try cost: what its results say of themselves; for results
// that say the conversation's total alone, by how much that has grown; and for
// what no result followed, its tokens at the last known rates.
func priced(t transcript.Usage, counted float64, rates map[string]core.ModelRate) core.Usage {
	u := core.Usage{Context: t.Context, SessionUSD: t.SessionUSD}
	for _, m := range t.Stated {
		u.CostUSD += m.CostUSD
	}
	covered, open := slices.Clone(t.Covered), slices.Clone(t.Open)
	if grown := t.SessionUSD - counted; t.Totals && (counted < 0 || grown < u.CostUSD) {
		u.CostUSD += estimate(covered, rates)
		u.Estimated = true
	} else if t.Totals {
		if len(t.Stated) == 0 && len(covered) == 1 {
			covered[0].CostUSD = grown
		}
		u.CostUSD = grown
	}
	if len(open) > 0 {
		u.CostUSD += estimate(open, rates)
		u.Estimated = true
	}
	u.Models = core.MergeUsage(core.MergeUsage(t.Stated, covered...), open...)
	if u.Context.Used > 0 && u.Context.Window == 0 {
		u.Context.Window = core.RateOf(rates, t.Model).Window
	}
	return u
}

// estimate gives each entry its cost and returns the sum. A model without a
// known rate adds tokens and no money.
func estimate(list []core.ModelUsage, rates map[string]core.ModelRate) (sum float64) {
	for i, m := range list {
		list[i].CostUSD = m.Weight() * core.RateOf(rates, m.Model).InputUSD
		sum += list[i].CostUSD
	}
	return sum
}
