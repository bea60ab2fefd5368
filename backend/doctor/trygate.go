package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"unicode"

	"loop/backend/core"
	"loop/backend/policy"
	"loop/backend/provision"
	"loop/backend/wire"
)

// GateTried is what the same program did without supervision and with it. Free is the
// control: what it could not do there either is no refusal of the gate's.
type GateTried struct {
	Free, Held wire.GateTrial
	Refused    error // why nothing ran under the gate; then Held is empty
	Debuggers  bool  // the settings want them, and so did the policy
}

// trialRoot is in memory, in every container, and the agent may write there.
const trialRoot = "/tmp"

// TryGate starts a container as a run would, and has loop gate-probe try the gate in it:
// first without supervision, then under a policy that refuses one name and asks about
// another, with nobody to answer. It removes the container again.
func (p Container) TryGate(ctx context.Context) (t GateTried, err error) {
	// A gated container starts nothing without a policy, and so has no control. That is
	// its only difference: what supervises a program comes with the program.
	want := provision.Want{Settings: ungated{p.Settings}}
	err = p.with(ctx, want, func(ctx context.Context, l *provision.Lease) (err error) {
		dir := path.Join(trialRoot, "loop-gate-"+core.NewID())
		if t.Free, err = probe(ctx, l, wire.TrialFree, dir, nil); err != nil {
			return err
		}
		t.Debuggers = p.Debuggers()
		t.Held, err = probe(ctx, l, wire.TrialHeld, dir, trialPolicy(dir, t.Debuggers))
		if f, ok := errors.AsType[*core.Failure](err); ok && f.Code == core.CodeForbidden {
			t.Refused, err = f, nil
		}
		return err
	})
	return t, err
}

// ungated are the settings of a container that also starts what comes without a policy.
type ungated struct{ provision.Settings }

func (u ungated) ForChannel(ctx context.Context, ch core.Channel) (provision.Values, error) {
	v, err := u.Settings.ForChannel(ctx, ch)
	v.Container.Gate.Value = false
	return v, err
}

// trialPolicy refuses one name in a folder and asks about another.
func trialPolicy(dir string, debuggers bool) []byte {
	changes := []policy.Operation{policy.Write, policy.Create}
	rule := func(name string, d policy.Decision) policy.FileRule {
		return policy.FileRule{
			ID: "trial." + name, Paths: []string{policy.Quote(path.Join(dir, name))}, Operations: changes, Decision: d,
			Message: "This is a trial of the gate by loop doctor.",
		}
	}
	return policy.Policy{
		Name: policy.NameAgent, DefaultDecision: policy.Allow, Debuggers: debuggers,
		FileRules: []policy.FileRule{rule(wire.TrialRefused, policy.Deny), rule(wire.TrialAsked, policy.Approve)},
	}.Encode()
}

// probe runs loop gate-probe once, under a policy if there is one.
func probe(ctx context.Context, l *provision.Lease, mode, dir string, doc []byte) (t wire.GateTrial, err error) {
	req := core.SpawnRequest{
		ID: core.SpawnID(core.NewID()), Argv: []string{wire.GuestBinary, "gate-probe", mode, dir},
		Dir: trialRoot, Stdio: core.StdioPipes, Policy: doc,
	}
	if doc != nil {
		req.PolicyVersion = 1
		// Unattended: what its policy asks is denied, and no person sees a question.
		l.Link.Admit(req.ID, core.Identity{ChannelID: l.Spec.ChannelID, Unattended: true})
	}
	if _, err := l.Link.Spawn(ctx, req); err != nil {
		return t, err
	}
	out, err := printed(ctx, l.Link, req.ID, "out")
	if err != nil {
		return t, err
	}
	exit, err := l.Link.Wait(ctx, req.ID)
	if err != nil {
		return t, fmt.Errorf("wait for the trial of the gate: %w", err)
	}
	if exit.Code != 0 {
		said, _ := printed(ctx, l.Link, req.ID, "err")
		return t, fmt.Errorf("the trial of the gate ended with %d: %s", exit.Code, plain(string(said)))
	}
	if err := json.Unmarshal(out, &t); err != nil {
		return t, fmt.Errorf("read the trial of the gate: %w", err)
	}
	for _, s := range []*string{
		&t.Kernel, &t.Machine, &t.Arch, &t.Profile, &t.Install, &t.Refused.Error, &t.Asked.Error, &t.Allowed.Error,
		&t.IoUring, &t.Ptrace, &t.Outside, &t.Signals.Why, &t.Programs.Why,
	} {
		*s = plain(*s)
	}
	return t, nil
}

func printed(ctx context.Context, l core.Link, id core.SpawnID, stream string) ([]byte, error) {
	r, err := l.Read(ctx, id, stream, 0)
	if err != nil {
		return nil, fmt.Errorf("read the trial of the gate: %w", err)
	}
	defer func() { _ = r.Close() }()
	out, err := io.ReadAll(io.LimitReader(r, wire.MaxGateTrial+1))
	if err != nil {
		return nil, fmt.Errorf("read the trial of the gate: %w", err)
	}
	if len(out) > wire.MaxGateTrial {
		return nil, errors.New("the trial of the gate printed too much")
	}
	return out, nil
}

// maxWord bounds one text of the container's (bytes).
const maxWord = 300

// plain is a text from the container, short and on one line.
func plain(s string) string {
	s = strings.ToValidUTF8(s[:min(len(s), maxWord)], "")
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s))
}
