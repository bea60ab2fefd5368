//go:build docker

package guestlink_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"loop/backend/core"
	"loop/backend/guestlink"
	"loop/backend/policy"
	"loop/backend/wire"
)

// toldGate asks nobody, and keeps what it is told.
type toldGate struct {
	mu   sync.Mutex
	sum  map[core.SpawnID]*wire.Decisions
	last map[core.SpawnID]uint64
	bad  error
}

func (g *toldGate) Held(context.Context, core.ContainerID, core.HeldCall) core.Verdict {
	return core.Verdict{Text: "no"}
}
func (g *toldGate) Admit(core.ContainerID, core.SpawnID, core.Identity) {}
func (g *toldGate) Dismiss(core.SpawnID)                                {}
func (g *toldGate) Starts(core.SpawnID)                                 {}
func (g *toldGate) Renewed(core.SpawnID)                                {}
func (g *toldGate) Probed(error, bool)                                  {}

func (g *toldGate) Told(_ core.ContainerID, m core.Told) {
	g.mu.Lock()
	defer g.mu.Unlock()
	var d wire.Decisions
	err := json.Unmarshal(m.Detail, &d)
	if err == nil {
		err = d.Validate()
	}
	if err != nil {
		g.bad = err
	}
	sum := g.sum[m.Spawn]
	if sum == nil {
		sum = &wire.Decisions{}
		g.sum[m.Spawn] = sum
	}
	g.last[m.Spawn] = m.Number
	sum.Policy = d.Policy
	sum.Allowed = append(sum.Allowed, d.Allowed...)
	sum.Denied = append(sum.Denied, d.Denied...)
	sum.Unruled += d.Unruled
	sum.Uncounted += d.Uncounted
}

// TestGateTellsWhatRulesDecide: the host hears of each denied call and of how many were
// allowed, about when the program has ended, and not of those that a person answers.
func TestGateTellsWhatRulesDecide(t *testing.T) {
	g := &toldGate{sum: map[core.SpawnID]*wire.Decisions{}, last: map[core.SpawnID]uint64{}}
	l, _ := newBox(t, boxOptions{env: []string{wire.GateEnabled + "=1"}}).link(t, guestlink.Options{Gate: g})
	p := policy.Policy{Name: "agent", DefaultDecision: policy.Allow, FileRules: []policy.FileRule{
		{ID: "granted", Paths: []string{home + "/granted"}, Decision: policy.Allow},
		{ID: "asks", Paths: []string{home + "/asks"}, Decision: policy.Approve, Operations: []policy.Operation{policy.Write, policy.Create}},
		{ID: "keys", Paths: []string{home + "/key*", "/etc/hostname"}, Decision: policy.Deny, Category: policy.Credential, Message: "no keys"},
	}}
	id := gatedSpawn(t, l, p.Encode(), `for i in 1 2 3; do echo x > ~/granted; echo x > ~/key1; cat /etc/hostname /etc/hostname; done; echo x > ~/asks; true`)
	if _, err := l.Wait(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	end := time.Now().Add(patience / 6)
	for {
		g.mu.Lock()
		d, bad := g.sum[id], g.bad
		var denied, allowed int64
		if d != nil {
			for _, one := range d.Denied {
				denied += one.Calls
				if one.Rule != "keys" || one.Category != "credential" || one.Operation != "create" && one.Operation != "read" || one.Message != "no keys" || len(one.Processes) == 0 {
					bad = context.Canceled
				}
			}
			for _, one := range d.Allowed {
				if one.Rule == "granted" {
					allowed += one.Calls
				}
			}
		}
		g.mu.Unlock()
		if bad != nil {
			t.Fatalf("%+v: %v", d, bad)
		}
		if d != nil && allowed == 3 && denied == 9 && d.Policy == 1 && d.Unruled > 10 {
			t.Logf("%+v, %d reports", *d, g.last[id])
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%d denied, %d allowed: %+v", denied, allowed, d)
		}
		<-time.After(20 * time.Millisecond)
	}
}
