package talks

import (
	"time"

	"loop/backend/core"
)

// unknown is the count of a conversation whose earlier part nobody has counted here.
var unknown = core.SpentOn{Unknown: true}

// prior is the agent's count for the conversation before a talk that begins now.
func (r *reading) prior() core.SpentOn {
	switch c := r.kept.Stated; {
	case r.talk.ID != "" && !r.foreign: // its program goes on, and has said nothing of the talk before
		was := r.talk.Prior
		if was.Unknown {
			return unknown
		}
		return core.SpentOn{USD: was.USD + r.talk.CostUSD, Models: core.MergeUsage(was.Models, r.talk.Models...)}
	case c != nil:
		return core.SpentOn{USD: c.USD, Models: c.Models}
	case r.talk.ID != "" || r.earlier || r.foreign:
		return unknown
	}
	return core.SpentOn{}
}

// counted takes in the agent's own count. It covers all messages before it.
func (r *reading) counted(end int64) {
	r.brood.lost = false
	for _, a := range r.talk.Agents {
		a.Counted = a.Offset
	}
	if r.talk.ID == "" || r.foreign {
		return
	}
	c, before := r.kept.Stated, r.talk.Usage
	if r.talk.Prior.Unknown { // what was estimated up to here stays
		r.talk.Prior = core.SpentOn{USD: max(c.USD-before.CostUSD, 0), Models: less(c.Models, before.Models), Part: true}
	}
	r.talk.Stated = core.SpentOn{USD: c.USD, Models: c.Models, Part: !c.Whole || r.talk.Prior.Part, Offset: end}
	r.price()
	if r.dirty = true; r.talk.CostUSD != before.CostUSD || r.talk.Estimated != before.Estimated {
		r.tell(time.UnixMilli(r.talk.Last))
	}
}

// price works out what the talk has used: what the agent counts, and by its tokens what came
// after that. A model without a known price adds tokens and no money.
func (r *reading) price() {
	t := &r.talk
	was := t.CostUSD
	t.Usage, t.Unpriced = core.Usage{Context: r.kept.Context()}, nil
	defer func() {
		t.AddedUSD += t.CostUSD - was
		r.untold += t.CostUSD - was
	}()
	if t.Demo {
		return // a script costs nothing
	}
	open := r.kept.Used()
	if s := t.Stated; s.Offset > 0 {
		t.CostUSD, t.Estimated, t.Models = max(s.USD-t.Prior.USD, 0), s.Part, less(s.Models, t.Prior.Models)
	}
	for i, m := range open {
		rate := core.RateOf(r.rates, m.Model).InputUSD
		if rate == 0 {
			t.Unpriced = append(t.Unpriced, m.Model)
		}
		open[i].CostUSD = m.Weight() * rate
		t.CostUSD += open[i].CostUSD
		t.Estimated = true
	}
	t.Models = core.MergeUsage(t.Models, open...)
	if t.Context.Used > 0 && len(t.Models) > 0 {
		t.Context.Window = core.RateOf(r.rates, t.Models[0].Model).Window
	}
}

// less takes usage away from other usage, by model.
func less(from, usage []core.ModelUsage) (out []core.ModelUsage) {
	for _, m := range from {
		for _, o := range usage {
			if o.Model == m.Model {
				m.Input, m.Output = max(m.Input-o.Input, 0), max(m.Output-o.Output, 0)
				m.CacheRead, m.CacheWrite = max(m.CacheRead-o.CacheRead, 0), max(m.CacheWrite-o.CacheWrite, 0)
				m.CostUSD = max(m.CostUSD-o.CostUSD, 0)
			}
		}
		if m.Tokens != (core.Tokens{}) || m.CostUSD > 0 {
			out = append(out, m)
		}
	}
	return out
}
