package rulebook

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"loop/backend/core"
	"loop/backend/policy"
	"loop/backend/wire"
)

// Replay decides recorded calls once more by the policy in a document. Want is what was
// decided then: a call that a person was asked about is approve, whatever they said.
// Records that name no call are left out.
func Replay(doc []byte, records []core.GateRecord) ([]core.GateTestResult, error) {
	p, err := policy.Parse(doc)
	if err != nil {
		return nil, ruleFailure(err)
	}
	e, err := policy.Compile(p)
	if err != nil {
		return nil, ruleFailure(err)
	}
	var out []core.GateTestResult
	for _, r := range records {
		what, v, known := decideAgain(e, r)
		if !known {
			continue
		}
		out = append(out, core.GateTestResult{
			Case: len(out) + 1, What: what, Want: string(decidedThen(r)), Got: string(v.Decision), Rule: v.Rule, Message: v.Message,
		})
	}
	return out, nil
}

func decideAgain(e *policy.Engine, r core.GateRecord) (what string, v policy.Verdict, known bool) {
	switch r.Kind {
	case wire.KindFile:
		return r.Operation + " " + r.Target, e.File(policy.Operation(r.Operation), r.Target), true
	case string(core.ApprovalNavigate):
		return "open " + r.Target, e.Site(hostOf(r.Target)), true
	case wire.KindConnect:
		return "connect " + r.Target, e.Connect(r.Target), true
	case wire.KindExec: // the record has the arguments joined, so one with a space is two here
		argv := strings.Fields(r.Target)
		if len(argv) == 0 {
			return "", v, false
		}
		return "run " + r.Target, e.Exec(policy.Command{Path: argv[0], Argv: argv}), true
	}
	return "", v, false
}

// decidedThen is what the policy of then said of a call.
func decidedThen(r core.GateRecord) policy.Decision {
	if r.Digest != "" || r.By != "a rule" && r.By != "the default" {
		return policy.Approve
	}
	if r.Decision == string(core.ApprovalAllowed) {
		return policy.Allow
	}
	return policy.Deny
}

// maxSuggested bounds the rules of one suggestion.
const maxSuggested = 100

// Suggest writes rules that would have answered what a person was asked and has always
// allowed, as they would stand in the settings. There are none for what is never
// remembered.
func Suggest(records []core.GateRecord, place policy.Place) (string, error) {
	type act struct{ operation, target string }
	asked, denied := map[act]int{}, map[act]bool{}
	var order []act
	for _, r := range records {
		if r.Kind != wire.KindFile || decidedThen(r) != policy.Approve {
			continue
		}
		a := act{r.Operation, r.Target}
		if asked[a]++; asked[a] == 1 {
			order = append(order, a)
		}
		denied[a] = denied[a] || r.Decision != string(core.ApprovalAllowed)
	}
	var b strings.Builder
	var seen []string
	for _, a := range order {
		if denied[a] || len(seen) >= maxSuggested {
			continue
		}
		rules := policy.Suggest(policy.Operation(a.operation), a.target, place)
		if len(rules) == 0 {
			continue
		}
		raw, err := json.Marshal(rules[0])
		if err != nil {
			return "", fmt.Errorf("encode rule: %w", err)
		}
		if !slices.Contains(seen, string(raw)) {
			seen = append(seen, string(raw))
			fmt.Fprintf(&b, "  // allowed each of %d times that it was asked\n  %s,\n", asked[a], raw)
		}
	}
	if len(seen) == 0 {
		return "", nil
	}
	return "\"file_rules\": [\n" + b.String() + "]\n", nil
}
