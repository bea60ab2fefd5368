package doctor

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"loop/backend/core"
)

// State of one check.
type State string

const (
	OK   State = "ok"
	Warn State = "warn"
	Fail State = "fail"
	Skip State = "skip" // could not be tried because another check failed
)

// Check is the outcome of one probe.
type Check struct {
	ID         string `json:"id"`
	Title      string `json:"title"`
	State      State  `json:"state"`
	Summary    string `json:"summary"`
	Remedy     string `json:"remedy,omitempty"`
	Detail     string `json:"detail,omitempty"`
	Fix        string `json:"fix,omitempty"` // what Doctor.Fix would do about it; empty: nothing
	DurationMs int64  `json:"duration_ms"`
}

// Report is every check, in the order shown.
type Report struct {
	Checks []Check `json:"checks"`
}

// OK reports whether nothing failed.
func (r Report) OK() bool {
	return !slices.ContainsFunc(r.Checks, func(c Check) bool { return c.State == Fail })
}

// Probe performs one operation. Needs names an earlier probe that must not have failed.
// Do fills State, Summary, Remedy and Detail; an error is turned into a failed
// check. It must end when ctx does.
type Probe struct {
	ID, Title, Needs string
	Limit            time.Duration
	Do               func(ctx context.Context) (Check, error)
	// Fix puts right what a check has named in Check.Fix, and takes as long as that takes.
	Fix func(ctx context.Context) error
}

// Doctor runs probes; those that do not need each other run side by side.
type Doctor struct{ Probes []Probe }

// Check performs every probe and returns when all are done.
func (d Doctor) Check(ctx context.Context) Report {
	out := make([]Check, len(d.Probes))
	checks := map[string]func() Check{}
	var wg sync.WaitGroup
	for i, p := range d.Probes {
		need := checks[p.Needs]
		check := sync.OnceValue(func() Check {
			if need != nil {
				if c := need(); c.State == Fail || c.State == Skip {
					return Check{ID: p.ID, Title: p.Title, State: Skip, Summary: fmt.Sprintf("Not tried: %s comes first.", c.Title)}
				}
			}
			return p.perform(ctx)
		})
		checks[p.ID] = check
		wg.Go(func() { out[i] = check() })
	}
	wg.Wait()
	return Report{Checks: out}
}

// Fix puts right what a check offers to, and checks again. Errors are Failures.
func (d Doctor) Fix(ctx context.Context, id string) (Check, error) {
	i := slices.IndexFunc(d.Probes, func(p Probe) bool { return p.ID == id && p.Fix != nil })
	if i < 0 {
		return Check{}, core.Fail(core.CodeInvalid, nil, fmt.Sprintf("There is nothing that Loop can put right about %q.", id),
			"Run “loop doctor”, which says what to do.")
	}
	if err := d.Probes[i].Fix(ctx); err != nil {
		return Check{}, err
	}
	return d.Probes[i].perform(ctx), nil
}

func (p Probe) perform(ctx context.Context) Check {
	ctx, cancel := context.WithTimeout(ctx, p.Limit)
	defer cancel()
	began := time.Now()
	c, err := p.Do(ctx)
	c.ID, c.Title, c.DurationMs = p.ID, p.Title, time.Since(began).Milliseconds()
	if err != nil {
		f := core.AsFailure(err)
		c.State, c.Summary, c.Remedy, c.Detail = Fail, f.Cause, f.Remedy, f.Detail
		if ctx.Err() == context.DeadlineExceeded {
			c.Summary = fmt.Sprintf("It did not finish within %v.", p.Limit)
		}
	}
	if c.State == "" {
		c.State = OK
	}
	return c
}
