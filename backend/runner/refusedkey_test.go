package runner

import (
	"testing"
	"time"

	"loop/backend/core"
)

const refusal = `{"type":"system","subtype":"api_retry","attempt":1,"max_retries":4,"retry_delay_ms":500,"error_status":401,` +
	`"error":"authentication_failed","session_id":"s"}` + "\n"

// A wrong key fails at the first refusal, without another try of the CLI's or of Loop's.
func TestAWrongKeyFailsAtOnce(t *testing.T) {
	for name, tc := range map[string]struct {
		key  string
		demo bool
	}{"a key": {key: "sk-ant-x"}, "the demo": {demo: true}} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				r, _ := newSpawnRig(t, func(p *proc) { p.print(turn("one") + refusal); <-p.killed })
				r.launch.APIKey = tc.key
				r.start()
				defer r.quit()
				began := time.Now()
				asked, err := r.s.Prompt(t.Context(), core.Run{ChannelID: "c", Prompt: "x", Demo: tc.demo})
				if err != nil {
					t.Fatal(err)
				}
				run := r.ended(asked.ID, time.Minute)
				if f := run.Outcome.Failure; run.State != core.RunFailed || f == nil || f.Code != core.CodeModelAuth || f.Remedy == "" {
					t.Errorf("%s, %+v", run.State, f)
				}
				if took := time.Since(began); took > 30*time.Second {
					t.Errorf("took %s", took)
				}
				if again := r.attempts(run.ID); len(again) > 0 {
					t.Errorf("tried again: %+v", again)
				}
			})
		})
	}
}

// Without a key of Loop's the CLI may renew a login of its own, so it is let ask once more.
func TestALoginIsRenewedOnce(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r, _ := newSpawnRig(t, plays(turn("one")+refusal+goodResult, 0))
		r.launch.APIKey = ""
		r.start()
		defer r.quit()
		if run := r.ended(r.prompt("c", "x").ID, time.Minute); run.State != core.RunDone {
			t.Errorf("%s, %+v", run.State, run.Outcome.Failure)
		}
	})
}
