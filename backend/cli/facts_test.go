package cli

import (
	"testing"

	"loop/backend/core"
)

func TestFactsOfARun(t *testing.T) {
	guessed, unpriced := fakeUsage, fakeUsage
	guessed.Estimated = true
	unpriced.Cost, unpriced.Context = core.Cost{Estimated: true}, core.Context{Used: 4200}
	for want, run := range map[string]core.Run{
		"": {},
		" $0.01, 4.0 k tokens in (90 % from cache), 50 out, context 42 % full":   {Outcome: core.Outcome{Usage: fakeUsage}},
		" ≈ $0.01, 4.0 k tokens in (90 % from cache), 50 out, context 42 % full": {Outcome: core.Outcome{Usage: guessed}},
		" 4.0 k tokens in (90 % from cache), 50 out":                             {Outcome: core.Outcome{Usage: unpriced}},
		" no cost, scripted": {Demo: true, Outcome: core.Outcome{Model: "scripted"}},
	} {
		if got := facts(run); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for n, want := range map[int64]string{999: "999", 1000: "1.0 k", 9_950: "10 k", 412_400: "412 k", 999_500: "1.0 M"} {
		if got := tokens(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}
