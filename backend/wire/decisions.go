package wire

import (
	"errors"
	"fmt"
)

// KindDecided is the kind of a Question that tells what rules have decided. Its Detail
// is a Decisions.
const KindDecided = "decided"

// TellEvery is how often a supervisor tells of its decisions, at most, in milliseconds.
const TellEvery = 500

// Bounds of the texts in a Decisions, in bytes; longer ones are cut by the guest.
const (
	MaxRuleID     = 256
	MaxToldTarget = 1 << 10
)

// Decisions is what a supervisor has decided by rules since it told last. Calls for which
// a person was asked are not in it. All strings are hostile.
type Decisions struct {
	Policy int64 `json:"policy"` // version in force when this was told
	// Allowed counts the calls that a rule allowed, and Unruled those that no rule covers.
	Allowed []RuleCount `json:"allowed,omitempty"`
	Unruled int64       `json:"unruled,omitzero"`
	Denied  []Denial    `json:"denied,omitempty"`
	// Uncounted are denied calls, and AllowedMore allowed ones, of which no more is said:
	// there were too many kinds.
	Uncounted   int64 `json:"uncounted,omitzero"`
	AllowedMore int64 `json:"allowed_more,omitzero"`
}

// RuleCount counts the calls that one rule allowed.
type RuleCount struct {
	Rule      string `json:"rule"`
	Operation string `json:"operation"` // of package policy; run, connect
	Calls     int64  `json:"calls"`
}

// Denial is one or more calls that a rule denied: the same operation on the same object.
type Denial struct {
	Kind      string    `json:"kind"` // of Approval
	Operation string    `json:"operation"`
	Target    string    `json:"target"`         // at most MaxToldTarget bytes
	Rule      string    `json:"rule,omitempty"` // empty: the default
	Category  string    `json:"category,omitempty"`
	Message   string    `json:"message,omitempty"`
	Call      string    `json:"call,omitempty"` // name of the system call
	Calls     int64     `json:"calls"`
	AgeMs     int64     `json:"age_ms"`              // how long before it was told the first of them came
	Processes []Process `json:"processes,omitempty"` // of the first: the caller, then its parents
	// Allowed says that the calls were performed: the rule only names what it would have done.
	Allowed bool `json:"allowed,omitempty"`
}

// maxCalls bounds a count: a kernel makes fewer in an hour, and sums of counts stay far
// from the end of 64 bits.
const maxCalls = 1 << 40

// Validate bounds what a guest can tell.
func (d Decisions) Validate() error {
	if d.Policy < 0 || len(d.Allowed) > MaxRuleCounts || len(d.Denied) > MaxDenials {
		return errors.New("impossible report of decisions")
	}
	for _, n := range []int64{d.Unruled, d.Uncounted, d.AllowedMore} {
		if n < 0 || n > maxCalls {
			return fmt.Errorf("%d calls", n)
		}
	}
	for _, c := range d.Allowed {
		if c.Calls < 1 || c.Calls > maxCalls || len(c.Rule) > MaxRuleID || len(c.Operation) > 32 {
			return errors.New("impossible count of a rule's calls")
		}
	}
	for _, c := range d.Denied {
		switch {
		case c.Calls < 1 || c.Calls > maxCalls || c.AgeMs < 0:
			return errors.New("impossible count of denied calls")
		case len(c.Target) > MaxToldTarget, len(c.Message) > MaxToldTarget, len(c.Rule) > MaxRuleID,
			len(c.Kind)+len(c.Operation)+len(c.Category)+len(c.Call) > 128, len(c.Processes) > MaxDetached:
			return errors.New("field of a denial is too long")
		}
		for _, p := range c.Processes {
			if len(p.Exe) > MaxToldTarget || len(p.Command) > MaxToldTarget {
				return errors.New("name of a process is too long")
			}
		}
	}
	return nil
}
