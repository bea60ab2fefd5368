//go:build docker

package main_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"loop/backend/core"
	"loop/backend/policy"
	"loop/backend/soaktest"
	"loop/backend/wire"
)

// deadline is how long a gate may take to close when a part of it is gone.
const deadline = 2 * time.Second

// TestHeldCalls are the parts of the catalogue that need more than an attack: B3, B14,
// B16, the tightening of a policy in a race, and the race that a gate loses which lets
// the kernel go on.
func TestHeldCalls(t *testing.T) {
	b := newBox(t, agents()[0])
	t.Run("A1-continue", func(t *testing.T) { continueLoses(t, b) })
	t.Run("A21-exact", func(t *testing.T) { exactNames(t, b) })
	t.Run("B3", func(t *testing.T) { killedWhileAsking(t, b) })
	t.Run("B14", func(t *testing.T) { badPolicies(t, b) })
	t.Run("B16", func(t *testing.T) { policyWhilePending(t, b) })
	t.Run("X2", func(t *testing.T) { tightenedInRace(t, b) })
	t.Run("X33", func(t *testing.T) { anotherSpawnsAnswer(t, b) })
	t.Run("B8-memory", func(t *testing.T) { longCommands(t, b) })
	t.Run("A30-all", func(t *testing.T) { killsAll(t, b) }) // ends every other program of the agent
}

// continueLoses shows that the race of A1 can be won on this computer: against a gate
// that reads the path and lets the kernel read it again.
func continueLoses(t *testing.T, b *box) {
	p := b.place(t)
	text, _ := b.run(t, spawn{argv: []string{"/opt/loop/bin/attack", "continue", p.inside},
		env: []core.EnvVar{{Name: "ROUNDS", Value: fmt.Sprint(map[bool]int{false: 2000, true: 100_000}[soaktest.Whole()])}}})
	o, _ := parse(text)
	if o.Count["won"] == 0 || !strings.Contains(text, p.secret) {
		t.Errorf("no race was won, so that A1 proves nothing:\n%s", text)
	}
	report(t, "A1-continue", fmt.Sprintf("a gate that lets the kernel go on: of %d tries %d won", o.Count["tries"], o.Count["won"]))
}

// exactNames: a question about a name of any bytes says those bytes.
func exactNames(t *testing.T, b *box) {
	p := b.place(t)
	asked := make(chan wire.Approval, 64)
	b.run(t, spawn{argv: []string{"/opt/loop/bin/attack", "A21", p.inside}, policy: rules(t, true),
		person: func(_ context.Context, h core.HeldCall) core.Verdict {
			var a wire.Approval
			if err := json.Unmarshal(h.Detail, &a); err != nil {
				t.Errorf("%q: %v", h.Detail, err)
			}
			asked <- a
			return core.Verdict{}
		}})
	close(asked)
	seen := ""
	for a := range asked {
		seen += fmt.Sprintf("%q\n", a.Target)
	}
	for _, name := range []string{`new\nline`, `bidi\u202etxt.exe`, `esc\x1b[31m`, ` space "`} {
		if !strings.Contains(seen, name) {
			t.Errorf("no question about %s:\n%s", name, seen)
		}
	}
}

// killedWhileAsking: nobody can answer for a program that is dead.
func killedWhileAsking(t *testing.T, b *box) {
	p := b.place(t)
	begun, ended := make(chan struct{}), make(chan struct{})
	id := b.start(t, spawn{argv: []string{"/opt/loop/bin/attack", "ask", p.inside}, policy: rules(t, true),
		person: func(ctx context.Context, _ core.HeldCall) core.Verdict {
			close(begun)
			<-ctx.Done()
			close(ended)
			return core.Verdict{Allow: true}
		}})
	<-begun
	if err := b.link.Signal(t.Context(), id, "SIGKILL"); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
	case <-time.After(deadline):
		t.Error("the question outlives its program")
	}
	b.finish(t, id)
	if broken := p.broken(t, ""); len(broken) > 0 {
		t.Error(broken)
	}
}

// badPolicies: the program does not start, and the error says where the fault is.
func badPolicies(t *testing.T, b *box) {
	good := string(rules(t, false))
	for name, doc := range map[string]string{
		"no text":       " ",
		"no object":     "[]",
		"empty":         "{}",
		"unknown key":   strings.Replace(good, `{`, `{"alow":1,`, 1),
		"duplicate key": strings.Replace(good, `{`, `{"name":"agent",`, 1),
		"wrong type":    strings.Replace(good, `"default_decision":"allow"`, `"default_decision":1`, 1),
		"bad word":      strings.Replace(good, `"default_decision":"allow"`, `"default_decision":"alow"`, 1),
		"more after":    good + "{}",
		"cut":           good[:len(good)/2],
		"huge":          good[:len(good)-1] + strings.Repeat(" ", wire.MaxPolicy) + "}",
	} {
		p := b.place(t)
		marker := p.inside + "/ran/marker"
		_, err := b.link.Spawn(t.Context(), core.SpawnRequest{ID: core.SpawnID(core.NewID()), Argv: []string{"touch", marker}, Dir: "/tmp",
			Stdio: core.StdioPipes, Policy: []byte(doc), PolicyVersion: 1})
		if err == nil {
			t.Errorf("%s: the program started", name)
			continue
		}
		if _, serr := os.Lstat(filepath.Join(p.host, "ran/marker")); serr == nil {
			t.Errorf("%s: refused, and it ran", name)
		}
		f := core.AsFailure(err)
		t.Logf("%s: %v; %s; %s", name, err, f.Remedy, f.Detail)
	}
}

// policyWhilePending: calls that wait while the policy changes are each decided by one
// whole version, and later ones by the new one, without a question.
func policyWhilePending(t *testing.T, b *box) {
	const calls = 20 // fewer than one supervisor asks about at a time
	p := b.place(t)
	var asked atomic.Int32
	all, changed := make(chan struct{}), make(chan struct{})
	id := b.start(t, spawn{argv: []string{"/opt/loop/bin/attack", "B16", p.inside}, policy: rules(t, true),
		env: []core.EnvVar{{Name: "ROUNDS", Value: fmt.Sprint(calls)}},
		person: func(ctx context.Context, _ core.HeldCall) core.Verdict {
			if asked.Add(1) == calls {
				close(all)
			}
			select {
			case <-changed:
			case <-ctx.Done():
			}
			return core.Verdict{Allow: true}
		}})
	select {
	case <-all:
	case <-time.After(patience):
		t.Fatalf("%d questions", asked.Load())
	}
	state, err := b.link.SetPolicy(t.Context(), id, 2, tight(t, "/arena/*/ask/**"))
	if err != nil || !state.Enforced {
		t.Fatalf("%+v: %v", state, err)
	}
	close(changed)
	text, _ := b.finish(t, id)
	o, _ := parse(text)
	if n := o.Count["opened"]; n+o.Count["refused"] != calls || n != 0 && n != calls {
		t.Errorf("of %d calls %d were decided by one version and %d by another", calls, n, o.Count["refused"])
	}
	for _, s := range o.Steps {
		if s.Call == "open afterwards" && s.Errno != "EACCES" {
			t.Errorf("after the change: %+v", s)
		}
	}
	if n := asked.Load(); n != calls {
		t.Errorf("%d questions for %d calls", n, calls)
	}
}

// tight is the policy of the attacks with one more closed place.
func tight(t *testing.T, path string) []byte {
	t.Helper()
	p, err := policy.Parse(rules(t, true))
	if err != nil {
		t.Fatal(err)
	}
	p.FileRules = append([]policy.FileRule{{ID: "tight", Decision: policy.Deny, Operations: changes, Paths: []string{path}}}, p.FileRules...)
	return p.Encode()
}

// tightenedInRace closes a file while two threads race for it: once the change is
// acknowledged, no race is won, and the file does not grow any more.
func tightenedInRace(t *testing.T, b *box) {
	p := b.place(t)
	grows := filepath.Join(p.host, "tight/filf")
	size := func() int64 {
		info, err := os.Stat(grows)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	rounds := map[bool]int{false: 2000, true: 100_000}[soaktest.Whole()]
	id := b.start(t, spawn{argv: []string{"/opt/loop/bin/attack", "X2", p.inside}, policy: rules(t, true),
		env: []core.EnvVar{{Name: "ROUNDS", Value: fmt.Sprint(rounds)}}})
	eventually(t, "the race is won while it may be", patience, func() bool { return size() > 0 })
	state, err := b.link.SetPolicy(t.Context(), id, 2, tight(t, "/arena/*/tight/filf"))
	if err != nil || !state.Enforced {
		t.Fatalf("%+v: %v", state, err)
	}
	then := size()
	if err := os.WriteFile(filepath.Join(p.host, "open/told"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	text, _ := b.finish(t, id)
	o, _ := parse(text)
	if n := o.Count; n["tries"] < rounds || n["won"] > 0 || n["allowed"] == 0 || n["refused"] == 0 || n["before won"] == 0 {
		t.Errorf("a race across a change:\n%s", text)
	}
	if now := size(); now > then+1 { // one open may have been answered before, and written since
		t.Errorf("the file had %d bytes when it was closed, and has %d", then, now)
	}
	report(t, "X2", fmt.Sprintf("a race across a tightening: won %d times before it; of %d tries afterwards %d allowed, %d won",
		o.Count["before won"], o.Count["tries"], o.Count["allowed"], o.Count["won"]))
}

// anotherSpawnsAnswer: a yes to one program's question is no yes to another's for the same file.
func anotherSpawnsAnswer(t *testing.T, b *box) {
	p := b.place(t)
	yes := func(context.Context, core.HeldCall) core.Verdict { return core.Verdict{Allow: true} }
	ask := []string{"/opt/loop/bin/attack", "ask", p.inside}
	one, _ := b.run(t, spawn{argv: ask, policy: rules(t, true), person: yes})
	other, _ := b.run(t, spawn{argv: ask, policy: rules(t, true)})
	if o, _ := parse(one); o.Count["opened"] != 1 {
		t.Errorf("what was allowed was refused: %s", one)
	}
	if o, _ := parse(other); o.Count["refused"] != 1 {
		t.Errorf("what was denied was opened: %s", other)
	}
}

// killsAll: a program that signals everything it can ends none of Loop's.
func killsAll(t *testing.T, b *box) {
	p := b.place(t)
	bystander := b.place(t)
	id := b.start(t, spawn{argv: []string{"/opt/loop/bin/attack", "hold", bystander.inside}})
	eventually(t, "the bystander runs", patience, func() bool {
		_, err := os.Lstat(filepath.Join(bystander.host, "neighbour.json"))
		return err == nil
	})
	b.run(t, spawn{argv: []string{"/opt/loop/bin/attack", "A30-all", p.inside}, policy: rules(t, true)})
	b.kill(t, id) // it may be dead: programs of one user may signal each other
	if _, err := b.link.Ping(t.Context()); err != nil {
		t.Fatalf("the link is gone: %v", err)
	}
	text, _ := b.run(t, spawn{argv: []string{"/opt/loop/bin/attack", "A12", p.inside}, policy: rules(t, true)})
	if broken := p.broken(t, text); len(broken) > 0 {
		t.Errorf("afterwards the gate is open: %v", broken)
	}
}

// longCommands: what programs ask about costs the supervisor memory, of which there is a bound.
func longCommands(t *testing.T, b *box) {
	const most = 256 << 10 // KiB
	p := b.place(t)
	enough, looked := make(chan struct{}), make(chan struct{})
	var asked atomic.Int32
	id := b.start(t, spawn{argv: []string{"/opt/loop/bin/attack", "B8-memory", p.inside}, policy: rules(t, false),
		person: func(ctx context.Context, _ core.HeldCall) core.Verdict {
			if asked.Add(1) == 10 {
				close(enough)
			}
			select {
			case <-looked:
			case <-ctx.Done():
			}
			return core.Verdict{}
		}})
	select {
	case <-enough:
	case <-time.After(patience):
		close(looked)
		t.Fatalf("%d asked", asked.Load())
	}
	sup := keeper(t, b, id)
	<-time.After(time.Second) // so that all have asked, or wait to
	out, err := dockerTry("exec", "-u", "0:0", string(b.id), "sh", "-c", "grep VmHWM /proc/"+sup+"/status | tr -dc 0-9")
	close(looked)
	kib := 0
	if _, serr := fmt.Sscan(out, &kib); err != nil || serr != nil {
		t.Errorf("%v: %s", err, out)
	}
	t.Logf("the supervisor had %d MiB, %d asked", kib>>10, asked.Load())
	if kib > most {
		t.Errorf("the supervisor took %d MiB for held commands", kib>>10)
	}
	text, _ := b.finish(t, id)
	if o, _ := parse(text); o.Count["alive"] != 1 {
		t.Errorf("%s", text)
	}
}

// TestSignalsByDescriptors is X34: the kernel signals for a descriptor's owner, and looks
// only at a uid. Each agent has a container of its own, which ends if that works.
func TestSignalsByDescriptors(t *testing.T) {
	for _, agent := range agents() {
		t.Run(fmt.Sprintf("agent%d", agent), func(t *testing.T) {
			b := newBox(t, agent)
			p := b.place(t)
			r, err := b.link.Spawn(t.Context(), core.SpawnRequest{ID: core.SpawnID(core.NewID()), Dir: "/tmp", Stdio: core.StdioPipes,
				Argv: []string{"/opt/loop/bin/attack", "X34", p.inside}, Policy: rules(t, true), PolicyVersion: 1})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := b.link.Wait(t.Context(), r.ID); err != nil {
				t.Fatalf("the attack ended the container: %v", err)
			}
			if _, err := b.link.Ping(t.Context()); err != nil {
				t.Fatal(err)
			}
		})
	}
}
