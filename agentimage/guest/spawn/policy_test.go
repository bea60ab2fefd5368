//go:build linux

package spawn

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"loop/agentimage/guest/filter"
	"loop/backend/policy"
	"loop/backend/wire"
)

// TestContainerOfTheGate: nothing runs without a policy or under a wrong one, whatever
// the environment of a request says.
func TestContainerOfTheGate(t *testing.T) {
	m := newTable(t, func(c *Config) { c.Gated = true })
	req := sh("true")
	req.Env = []string{wire.GateEnabled + "=0"}
	if _, err := m.Spawn(t.Context(), "a", req, Body{}); code(err) != wire.CodeGate {
		t.Errorf("no policy: %v", err)
	}
	for name, doc := range map[string]string{"empty": "", "no JSON": "{", "unknown key": `{"default_decision":"allow","defaults":1}`,
		"twice": `{"default_decision":"allow","default_decision":"deny"}`, "wrong type": `{"default_decision":1}`, "no decision": `{}`} {
		bad, body := ruled(req, doc)
		_, err := m.Spawn(t.Context(), "a", bad, body)
		if code(err) != wire.CodePolicy || !strings.Contains(err.Error(), "line 1") {
			t.Errorf("%s: %v", name, err)
		}
	}
	other, body := ruled(req, allowing)
	body.Policy = append(body.Policy, ' ')
	if _, err := m.Spawn(t.Context(), "a", other, body); code(err) != wire.CodeInvalid {
		t.Errorf("not the one of its hash: %v", err)
	}
	if all := m.all(); len(all) != 0 {
		t.Errorf("remembered: %v", all)
	}
}

func TestGateEnv(t *testing.T) {
	base := BaseEnv([]string{"A=1", wire.GateEnabled + "=1", wire.GatePolicyFile + "=/x", "LOOP_CHANNEL_ID=c"}, "u", "/home/u")
	if slices.ContainsFunc(base, func(e string) bool { return strings.HasPrefix(e, "LOOP_GATE") }) || !slices.Contains(base, "LOOP_CHANNEL_ID=c") {
		t.Errorf("%v", base)
	}
	m := newTable(t)
	req := sh("true")
	req.Env = []string{wire.GateEnabled + "=0", wire.GatePolicyFile + "=/tmp/mine", "B=2"}
	p := newProc(m, "a", [32]byte{}, req)
	p.supervised = true
	env := p.stageConfig(Body{}).Env
	for _, want := range []string{wire.GateEnabled + "=1", wire.GatePolicyFile + "=" + m.policyPath("a"), "B=2"} {
		name, _, _ := strings.Cut(want, "=")
		n := 0
		for _, e := range env {
			if strings.HasPrefix(e, name+"=") {
				n++
			}
		}
		if n != 1 || !slices.Contains(env, want) {
			t.Errorf("no %s in %v", want, env)
		}
	}
}

// TestPolicyOfAStartThatWaits: a start that stands still because somebody is asked takes
// a policy all the same.
func TestPolicyOfAStartThatWaits(t *testing.T) {
	k, keeper, _ := talk(t)
	p := k.p
	p.tab.mu.Lock()
	p.tab.spawns["a"] = p
	p.tab.mu.Unlock()
	defer p.tab.drop("a")
	req, body := ruled(sh("true"), allowing)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.tab.SetPolicy(ctx, "a", *req.Policy, body.Policy); !errors.Is(err, context.Canceled) {
		t.Errorf("before its supervisor: %v", err)
	}
	for range 2 { // said twice, it is still once
		if err := keeper.send(report{Goes: true}); err != nil {
			t.Fatal(err)
		}
	}
	<-p.going
	state := make(chan wire.PolicyState, 1)
	go func() {
		s, err := p.tab.SetPolicy(t.Context(), "a", *req.Policy, body.Policy)
		if err != nil {
			t.Error(err)
		}
		state <- s
	}()
	o, fd := ordered(t, keeper)
	if _, err := readPolicy(fd, *o.Policy); err != nil {
		t.Error(err)
	}
	if err := keeper.send(report{Policy: &policyTaken{Version: 1}}); err != nil {
		t.Fatal(err)
	}
	if s := <-state; !s.Enforced || s.Version != 1 {
		t.Errorf("%+v", s)
	}
	if doc, err := os.ReadFile(p.tab.policyPath("a")); err != nil || string(doc) != allowing {
		t.Errorf("%q %v", doc, err)
	}
}

// TestVersionsOnlyGrow: an older policy, or another one of the same version, does not take
// the place of the one that is there, which can be set again.
func TestVersionsOnlyGrow(t *testing.T) {
	was := document{head: wire.Policy{Version: 5, Hash: "a"}}
	for _, c := range []struct {
		head wire.Policy
		ok   bool
	}{{wire.Policy{Version: 6, Hash: "b"}, true}, {was.head, true}, {wire.Policy{Version: 4, Hash: "a"}, false}, {wire.Policy{Version: 5, Hash: "b"}, false}} {
		if err := was.newer(c.head); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c.head, err)
		}
	}
}

// TestReadsNeedAStart: a program whose reads pass its filter cannot be put under a policy
// that would hold them.
func TestReadsNeedAStart(t *testing.T) {
	k, _, _ := talk(t)
	p := k.p
	close(p.ready)
	p.tab.mu.Lock()
	p.tab.spawns["a"] = p
	p.tab.mu.Unlock()
	defer p.tab.drop("a")
	doc := string(policy.Policy{DefaultDecision: policy.Allow,
		FileRules: []policy.FileRule{{Paths: []string{"/secret"}, Operations: []policy.Operation{policy.Read}, Decision: policy.Deny}}}.Encode())
	req, body := ruled(sh("true"), doc)
	if _, err := p.tab.SetPolicy(t.Context(), "a", *req.Policy, body.Policy); code(err) != wire.CodePolicy {
		t.Errorf("%v", err)
	}
}

// TestDebuggersNeedLandlock: without it nothing keeps them within their spawn, so that the
// filter refuses them as if the policy did not have them.
func TestDebuggersNeedLandlock(t *testing.T) {
	reads := []policy.FileRule{{Paths: []string{"/secret"}, Operations: []policy.Operation{policy.Read}, Decision: policy.Deny}}
	broken := errors.New("no answer")
	for name, c := range map[string]struct {
		policy policy.Policy
		abi    int
		err    error
		want   filter.Variant
	}{
		"Landlock":           {policy.Policy{Debuggers: true}, 1, nil, filter.Debuggers},
		"without":            {policy.Policy{Debuggers: true}, 0, nil, filter.Agent},
		"without, and reads": {policy.Policy{Debuggers: true, FileRules: reads}, 0, nil, filter.AgentReads},
		"nobody knows":       {policy.Policy{Debuggers: true}, 0, broken, filter.Agent},
		"not asked for":      {policy.Policy{FileRules: reads}, 7, broken, filter.AgentReads},
	} {
		c.policy.DefaultDecision = policy.Allow
		e, err := policy.Compile(c.policy)
		if err != nil {
			t.Fatal(err)
		}
		v, err := variantFor(e, func() (int, error) { return c.abi, c.err })
		if v != c.want || (err != nil) != (name == "nobody knows") {
			t.Errorf("%s: %s, %v", name, v, err)
		}
	}
}
