package core

import (
	"encoding/json"
	"os"
	"slices"
	"testing"
	"time"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// after returns a moment some seconds from noon, or the zero time for nil.
func after(seconds *int) time.Time {
	if seconds == nil {
		return time.Time{}
	}
	return noon.Add(time.Duration(*seconds) * time.Second)
}

// TestWaits has the same cases as the page's own rule.
func TestWaits(t *testing.T) {
	raw, err := os.ReadFile("testdata/waits.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Name          string
		Question      QuestionKind
		Running, Full bool
		Queue         []struct {
			NotBefore *int `json:"not_before"`
			HoldUntil *int `json:"hold_until"`
		}
		Want []struct {
			Reason     WaitReason
			QuestionID string `json:"question_id"`
			Until      *int
			Ahead      int
		}
	}
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	for _, tc := range cases {
		s := QueueState{Running: tc.Running, Full: tc.Full, Now: noon}
		if tc.Question != "" {
			s.Question = &Question{ID: "q", Kind: tc.Question}
		}
		var queue []Run
		for _, r := range tc.Queue {
			queue = append(queue, Run{NotBefore: after(r.NotBefore), HoldUntil: after(r.HoldUntil)})
		}
		var want []Wait
		for _, w := range tc.Want {
			want = append(want, Wait{Reason: w.Reason, QuestionID: w.QuestionID, Until: after(w.Until), Ahead: w.Ahead})
		}
		if got := Waits(queue, s); !slices.Equal(got, want) {
			t.Errorf("%s: %+v, want %+v", tc.Name, got, want)
		}
	}
}

// TestWaitsWhenTheClockWasPutBack: a time that was set by a fast clock keeps nothing
// waiting longer than was meant.
func TestWaitsWhenTheClockWasPutBack(t *testing.T) {
	hour := noon.Add(time.Hour)
	for name, tc := range map[string]struct {
		run  Run
		want Wait
	}{
		"a delay is counted anew":   {Run{NotBefore: hour, Delay: time.Minute}, Wait{Reason: WaitDelayed, Until: noon.Add(time.Minute)}},
		"a delay as it was":         {Run{NotBefore: hour, Delay: time.Hour}, Wait{Reason: WaitDelayed, Until: hour}},
		"a hold longer than leases": {Run{HoldUntil: noon.Add(HoldLease + 2*time.Second)}, Wait{}},
		"a hold of a whole lease":   {Run{HoldUntil: noon.Add(HoldLease)}, Wait{Reason: WaitHeld, Until: noon.Add(HoldLease)}},
	} {
		if got := Waits([]Run{tc.run}, QueueState{Now: noon}); got[0] != tc.want {
			t.Errorf("%s: %+v, want %+v", name, got[0], tc.want)
		}
	}
}
