package gate

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"loop/backend/core"
	"loop/backend/wire"
)

// A program that asks and takes its questions back is asked about as one, and stores
// little.
func TestQuestionsThatAreTakenBack(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		shown := 0
		for i := range 200 {
			h := r.held("spawn1", rename(fmt.Sprintf("new %d\n", i)))
			for _, q := range r.Pending() {
				if !isFlood(q) {
					shown++
				}
			}
			r.pass(300 * time.Millisecond)
			h.leave(core.ErrWithdrawn)
			r.now(h)
		}
		if shown > backBurst+15 { // 60 seconds
			t.Errorf("%d questions were shown", shown)
		}
		for _, a := range r.heard(core.EventGateResolved) {
			if a.Diff != "" || a.Offers != nil || a.Details != nil {
				t.Fatalf("a question that was taken back is told whole twice: %+v", a)
			}
		}
		// Another run's are shown.
		r.waits(r.held("spawn2", rename("other\n")))
		for _, q := range r.Pending() {
			if q.RunID == "run2" && isFlood(q) {
				t.Error("run2 pays for run1")
			}
		}
	})
}

// What rules deny has a record each only as long as it is not too much.
func TestToldDenialsAreBoundedInTheRecord(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		const reports, each = 96, 20 // eight in two seconds, which are all taken
		for i := range reports {
			var d wire.Decisions
			for j := range each {
				one := deniedRead(1)
				one.Target = fmt.Sprintf("/home/ana/.ssh/%d-%d", i, j)
				d.Denied = append(d.Denied, one)
			}
			r.tells("spawn1", uint64(i+1), d)
			if i%8 == 7 {
				r.pass(2 * time.Second)
			}
		}
		calls, list := 0, r.records()
		for _, rec := range list {
			calls += rec.Calls
		}
		if len(list) > settleBurst+60 || calls != reports*each {
			t.Errorf("%d records of %d calls", len(list), calls)
		}
	})
}

func TestADiffIsBoundedAsItIsStored(t *testing.T) {
	for name, text := range map[string]string{
		"control characters": strings.Repeat("\x01", 16<<10), "escapes of terminals": "\x1b[2J", "delete": "a\x7f",
	} {
		a := rename(text)
		if diff, note := change(a); diff != "" || note != "The content is not text." {
			t.Errorf("%s: %.40q, %q", name, diff, note)
		}
	}
	for _, sign := range []string{"<", "\u2028", "\"", "é", "a"} {
		a := rename(strings.Repeat(strings.Repeat(sign, 50)+"\n", 16<<10/50/len(sign)))
		a.Before = content(strings.Repeat(strings.Repeat("&", 50)+"\n", 16<<10/50))
		diff, _ := change(a)
		raw, err := json.Marshal(diff)
		if err != nil {
			t.Fatal(err)
		}
		if len(raw) > maxDiff+2 || len(raw) < 10<<10 {
			t.Errorf("%q: %d bytes of a diff are stored", sign, len(raw))
		}
	}
}

// TestADiffOfWhatMatters: of a file that is too large to be shown, what matters is.
func TestADiffOfWhatMatters(t *testing.T) {
	large := content(strings.Repeat("x\n", wire.MaxContent/2))
	a := rename("")
	a.Before, a.After = large.Excerpt([]byte("a = 1\n")), large.Excerpt([]byte("a = 2\n"))
	if err := check(a); err != nil {
		t.Error(err)
	}
	diff, note := change(a)
	if !strings.Contains(diff, "-a = 1\n+a = 2\n") || !strings.Contains(note, "Only what runs or is permitted later") {
		t.Errorf("%q, %q", diff, note)
	}
	a.Before = large.Excerpt(nil)
	a.Before.Part = false
	if diff, note := change(a); diff != "" || !strings.Contains(note, "too long") {
		t.Errorf("with another part: %q, %q", diff, note)
	}
}
