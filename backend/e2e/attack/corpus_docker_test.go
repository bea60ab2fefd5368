//go:build docker

package main_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"loop/backend/core"
	"loop/backend/soaktest"
	"loop/backend/wire"
)

// entry is one attack of the catalogue.
type entry struct {
	id   string
	what string
	// free says why the attack gets nowhere without a gate either. Empty: it must
	// succeed then, which shows that it is sound.
	free string
	// absent says the same of those machines alone where the attack counts "absent".
	absent string
	// limit says why it succeeds under the gate. It must succeed then, so that what is
	// said of it stays true. writes is the same for a policy without rules for reads.
	limit, writes string

	neighbour string         // a program without a policy to act through
	memory    bool           // the secret is in a process's memory, of which no rule speaks
	tty       bool           // on a terminal
	succeeded []string       // counts that say that it got somewhere
	must      map[string]int // counts that must be there, with the gate and without
	rounds    [2]int         // of a race: in a tenth of the time, and in full
	swap      func(testing.TB, *place)
	allows    bool // what asks is allowed, after the attack or the test has changed something
	broken    func(testing.TB, *place) []string
}

// outcome is what the program prints.
type outcome struct {
	Steps []struct{ Call, Errno string }
	Got   string
	Count map[string]int
}

func TestAttacks(t *testing.T) {
	for i, agent := range agents() {
		t.Run(fmt.Sprintf("agent%d", agent), func(t *testing.T) {
			b := newBox(t, agent)
			for _, e := range corpus() {
				t.Run(e.id, func(t *testing.T) {
					free, gated := b.free(t, e), b.gated(t, e, true, e.limit)
					report(t, e.id, e.says(free, gated))
					if i == 0 {
						b.gated(t, e, false, e.writes)
					}
				})
			}
		})
	}
}

// trial is what came of an attack.
type trial struct {
	outcome
	broken []string
	output string
}

// free runs an attack without a gate.
func (b *box) free(t *testing.T, e entry) trial {
	t.Helper()
	r := b.attack(t, e, nil)
	if r.Count["absent"] > 0 {
		e.free = e.absent
	}
	switch {
	case e.free == "" && len(r.broken) == 0:
		t.Errorf("%s gets nowhere without a gate either, so this proves nothing:\n%s", e.what, r.output)
	case e.free != "" && len(r.broken) > 0:
		t.Errorf("%s is said to get nowhere even without a gate (%s), and does:\n%s\n%s", e.what, e.free, strings.Join(r.broken, "\n"), r.output)
	}
	return r
}

// gated runs it under the policy.
func (b *box) gated(t *testing.T, e entry, reads bool, limit string) trial {
	t.Helper()
	r := b.attack(t, e, rules(t, reads))
	if !reads && !e.memory { // such a policy lets every file be read
		r.broken = slices.DeleteFunc(r.broken, func(what string) bool { return what == secretRead })
	}
	switch {
	case limit == "" && len(r.broken) > 0:
		t.Errorf("%s got through (rules for reads: %v):\n%s\n%s", e.what, reads, strings.Join(r.broken, "\n"), r.output)
	case limit != "" && len(r.broken) == 0:
		t.Errorf("%s is a known limit (%s), and did not get through (rules for reads: %v): strike the limit\n%s", e.what, limit, reads, r.output)
	}
	return r
}

// attack makes a place, lets the attack at it, and says what it broke.
func (b *box) attack(t *testing.T, e entry, policy []byte) trial {
	t.Helper()
	p := b.place(t)
	if e.neighbour != "" {
		id := b.start(t, spawn{argv: []string{"/opt/loop/bin/attack", e.neighbour, p.inside}, tty: e.tty})
		defer b.kill(t, id)
	}
	s := spawn{argv: []string{"/opt/loop/bin/attack", e.id, p.inside}, policy: policy, tty: e.tty}
	if n := e.rounds; n[0] > 0 {
		s.env = append(s.env, core.EnvVar{Name: "ROUNDS", Value: strconv.Itoa(map[bool]int{false: n[0], true: n[1]}[soaktest.Whole()])})
	}
	asked := make(chan string, 64)
	if e.allows && policy != nil {
		s.env = append(s.env, core.EnvVar{Name: "ASKED", Value: "1"})
		s.person = e.hesitates(t, p, asked)
	} else if e.swap != nil {
		e.swap(t, p)
	}
	text, exit := b.run(t, s)
	o, ok := parse(text)
	if !ok && exit.Signal == "" && e.must != nil {
		t.Errorf("the program ended with %+v and said:\n%s", exit, text)
	}
	if e.allows && policy != nil && len(asked) == 0 {
		t.Errorf("nobody was asked:\n%s", text)
	}
	for what, n := range e.must {
		if o.Count[what] != n {
			t.Errorf("%s: %d, want %d (gate: %v)\n%s", what, o.Count[what], n, policy != nil, text)
		}
	}
	if o.Count["inconclusive"] > 0 {
		t.Errorf("a race has shown nothing (gate: %v):\n%s", policy != nil, text)
	}
	var broken []string
	if e.broken != nil {
		broken = e.broken(t, p)
	} else {
		broken = p.broken(t, text)
	}
	for what, n := range o.Count {
		if n > 0 && slices.ContainsFunc(e.succeeded, func(s string) bool { return strings.HasPrefix(what, s) }) {
			broken = append(broken, fmt.Sprintf("%s: %d", what, n))
		}
	}
	return trial{o, broken, fmt.Sprintf("%s\n%+v", text, exit)}
}

// hesitates allows what is asked once the attack, or the test for it, has changed
// something behind the person's back.
func (e entry) hesitates(t *testing.T, p *place, asked chan<- string) person {
	var first atomic.Pointer[string]
	return func(ctx context.Context, h core.HeldCall) core.Verdict {
		select {
		case asked <- string(h.Detail):
		default:
		}
		var a wire.Approval
		if err := json.Unmarshal(h.Detail, &a); err != nil {
			t.Errorf("a question says %q: %v", h.Detail, err)
		}
		if a.After != nil && strings.Contains(string(a.After.Text), "EVIL") {
			return core.Verdict{} // the person reads what will be there
		}
		if e.swap != nil {
			e.swap(t, p)
			return core.Verdict{Allow: true}
		}
		if !first.CompareAndSwap(nil, &a.Act) && *first.Load() != a.Act {
			return core.Verdict{} // the person reads that it is another act
		}
		if err := os.WriteFile(filepath.Join(p.host, "open/asked"), nil, 0o644); err != nil {
			t.Error(err)
		}
		limit, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		for {
			if _, err := os.Lstat(filepath.Join(p.host, "open/swapped")); err == nil {
				return core.Verdict{Allow: true}
			}
			select {
			case <-tick.C:
			case <-limit.Done():
				t.Errorf("the attack did not use its time: %v", limit.Err())
				return core.Verdict{}
			}
		}
	}
}

// parse finds the line of the report; other programs may have printed too.
func parse(text string) (outcome, bool) {
	var o outcome
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, `{"id":`) && json.Unmarshal([]byte(line), &o) == nil {
			return o, true
		}
	}
	return o, false
}

// says is for people: what was expected and what came.
func (e entry) says(free, gated trial) string {
	say := func(r trial) string {
		if len(r.broken) > 0 {
			return "gets through"
		}
		return "refused"
	}
	expected, note := "refused", ""
	if e.limit != "" {
		expected, note = "gets through", "  limit: "+e.limit
	}
	actual, control := say(gated), "without a gate it "+say(free)
	if n := gated.Count; n["tries"] > 0 {
		actual += fmt.Sprintf(" (of %d tries %d allowed, %d won)", n["tries"], n["allowed"], n["won"])
		control += fmt.Sprintf(" (of %d tries %d won)", free.Count["tries"], free.Count["won"])
	}
	if free.Count["absent"] > 0 {
		e.free = e.absent
	}
	if e.free != "" {
		control += " (" + e.free + ")"
	}
	return fmt.Sprintf("%s: expected: %s; actual: %s; %s%s", e.what, expected, actual, control, note)
}
