package runner

import (
	"strings"
	"testing"
	"time"

	"loop/backend/core"
)

// TestFlood: a CLI that prints without end does not fill the database, and its result
// still counts.
func TestFlood(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t, printsAtOnce(strings.Repeat(`{"type":"system","subtype":"news"}`+"\n", maxEvents+5000)+goodResult))
		r.start()
		defer r.quit()
		run := r.ended(r.prompt("c", "x").ID, time.Hour)
		if run.State != core.RunDone || run.Outcome.Text == "" {
			t.Errorf("%s %+v", run.State, run.Outcome)
		}
		raw, notices := 0, 0
		for _, e := range r.store.timeline(run.ID) {
			switch e.Type {
			case core.EventRaw:
				raw++
			case core.EventNotice:
				notices++
			}
		}
		if raw != maxEvents || notices != 1 {
			t.Errorf("%d events, %d notices", raw, notices)
		}
	})
}

func printsAtOnce(text string) func(*proc) {
	return func(p *proc) { p.print(text); p.end(0) }
}
