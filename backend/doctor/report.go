package doctor

import (
	"context"
	"fmt"
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
	DurationMs int64  `json:"duration_ms"`
}

// Report is every check, in the order shown.
type Report struct {
	Checks []Check `json:"checks"`
}

// OK reports whether nothing failed.
func (r Report) OK() bool {
	for _, c := range r.Checks {
		if c.State == Fail {
			return false
		}
	}
	return true
}

// Probe performs one operation. Needs names probes that must not have failed.
// Do fills State, Summary, Remedy and Detail; an error is turned into a failed
// check. It must end when ctx does.
type Probe struct {
	ID, Title string
	Needs     []string
	Limit     time.Duration
	Do        func(ctx context.Context) (Check, error)
}

// Doctor runs probes; those that do not need each other run side by side.
type Doctor struct{ Probes []Probe }

// Check performs every probe and returns when all are done.
func (d Doctor) Check(ctx context.Context) Report {
	out := make([]Check, len(d.Probes))
	done := make(map[string]chan struct{}, len(d.Probes))
	index := make(map[string]int, len(d.Probes))
	for i, p := range d.Probes {
		done[p.ID], index[p.ID] = make(chan struct{}), i
	}
	var wg sync.WaitGroup
	for i, p := range d.Probes {
		wg.Go(func() {
			defer close(done[p.ID])
			for _, need := range p.Needs {
				<-done[need] // probes name earlier ones only, so this cannot wait for itself
				if c := out[index[need]]; c.State == Fail || c.State == Skip {
					out[i] = Check{ID: p.ID, Title: p.Title, State: Skip, Summary: fmt.Sprintf("Not tried: %s comes first.", c.Title)}
					return
				}
			}
			out[i] = p.perform(ctx)
		})
	}
	wg.Wait()
	return Report{Checks: out}
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
