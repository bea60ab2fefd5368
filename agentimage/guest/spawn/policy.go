//go:build linux

package spawn

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"loop/agentimage/guest/denial"
	"loop/agentimage/guest/filter"
	"loop/backend/policy"
	"loop/backend/wire"
)

// document is a policy from the host.
type document struct {
	head wire.Policy
	doc  []byte
}

// newer refuses a document that is not newer than this one, unless it is the same.
func (d document) newer(head wire.Policy) error {
	if was := d.head; head.Version < was.Version || head.Version == was.Version && head.Hash != was.Hash {
		return wire.NewError(wire.CodeConflict, fmt.Sprintf("policy version %d is there already", was.Version))
	}
	return nil
}

func (d document) state(enforced bool) wire.PolicyState {
	return wire.PolicyState{Version: d.head.Version, Hash: d.head.Hash, Enforced: enforced}
}

// compile checks that a document is the one its head names, and makes it ready to judge.
// What is wrong with it comes back as a *wire.Error.
func compile(head wire.Policy, doc []byte) (*policy.Engine, error) {
	if sum := sha256.Sum256(doc); hex.EncodeToString(sum[:]) != head.Hash {
		return nil, wire.NewError(wire.CodeInvalid, "the policy is not the one its hash names")
	}
	p, err := policy.Parse(doc)
	if err != nil {
		return nil, wire.NewError(wire.CodePolicy, err.Error())
	}
	engine, err := policy.Compile(p)
	if err != nil {
		return nil, wire.NewError(wire.CodePolicy, err.Error())
	}
	return engine, nil
}

// Why a program does not run, or not under this policy.
var (
	errNoPolicy = wire.NewError(wire.CodeGate, "this container runs nothing without a policy, and the request brings none")
	errReads    = wire.NewError(wire.CodePolicy,
		"the program began under a policy without rules for reads, so that its reads pass; a policy that has some needs a new start")
)

// govern finds the policy of a spawn, its own or else the table's, and the filter for it. A
// container of the gate runs nothing without one.
func (tab *Table) govern(req wire.Spawn, body Body) (d document, v filter.Variant, err error) {
	if req.Policy != nil {
		d = document{*req.Policy, body.Policy}
	} else {
		tab.mu.Lock()
		d = tab.policy
		tab.mu.Unlock()
	}
	if d.doc == nil {
		if tab.cfg.Gated {
			err = errNoPolicy
		}
		return d, v, err
	}
	engine, err := compile(d.head, d.doc)
	if err != nil {
		return d, v, err
	}
	v, err = variantFor(engine, filter.LandlockABI)
	return d, v, err
}

// variantFor is the filter for a policy. Without Landlock nothing would keep a debugger
// within its spawn, so that there debuggers stay refused whatever the policy says.
func variantFor(e *policy.Engine, landlock func() (int, error)) (filter.Variant, error) {
	if e.Debuggers() {
		abi, err := landlock()
		if err != nil {
			return filter.Agent, err
		}
		if abi > 0 {
			return filter.Debuggers, nil
		}
	}
	if e.ReadsMatter() {
		return filter.AgentReads, nil
	}
	return filter.Agent, nil
}

// SetPolicy gives a policy to one spawn, or with an empty id to those to come that bring
// none. For a supervised spawn it answers once its supervisor goes by it, and the state
// says so; for another one the policy is only kept. A version that was there before is
// refused, unless it is the one that is there, which is set again.
func (tab *Table) SetPolicy(ctx context.Context, id string, head wire.Policy, doc []byte) (wire.PolicyState, error) {
	engine, err := compile(head, doc)
	if err != nil {
		return wire.PolicyState{}, err
	}
	next := document{head, doc}
	if id == "" {
		tab.mu.Lock()
		defer tab.mu.Unlock()
		if err := tab.policy.newer(head); err != nil {
			return wire.PolicyState{}, err
		}
		tab.policy = next
		return next.state(false), nil
	}
	p, err := tab.find(id)
	if err != nil {
		return wire.PolicyState{}, err
	}
	if err := p.awaitGoverned(ctx); err != nil {
		return wire.PolicyState{}, err
	}
	p.policyMu.Lock()
	defer p.policyMu.Unlock()
	if err := p.policy.newer(head); err != nil {
		return wire.PolicyState{}, err
	}
	if !p.supervised {
		p.policy = next
		return next.state(false), nil
	}
	if engine.ReadsMatter() && p.variant == filter.Agent {
		return wire.PolicyState{}, errReads
	}
	if err := p.keep.Load().setPolicy(ctx, next); err != nil {
		return wire.PolicyState{}, err
	}
	p.policy = next
	return next.state(true), p.writePolicy() // the file last: it is what is told, not what is done
}

// awaitGoverned waits until a policy can be set: the spawn runs, or its supervisor does. A
// start that waits for a person has one.
func (p *proc) awaitGoverned(ctx context.Context) error {
	select {
	case <-p.going:
		return nil
	case <-p.ready:
		return p.startErr
	case <-ctx.Done():
		return ctx.Err()
	}
}

// policyPath names the file that tells a supervised program its policy.
func (tab *Table) policyPath(id string) string { return filepath.Join(tab.cfg.GateDir, id+".json") }

// deniedPath names the file that tells it what was denied; the keeper writes it.
func (tab *Table) deniedPath(id string) string {
	return filepath.Join(tab.cfg.GateDir, id+wire.DeniedSuffix)
}

// writePolicy replaces that file as a whole. Its group is its folder's, the agent's, which
// may read it; the supervisor never does.
func (p *proc) writePolicy() error {
	if err := writeWhole(p.tab.policyPath(p.id), p.policy.doc, 0o640); err != nil {
		return fileError(fmt.Errorf("write policy file: %w", err))
	}
	return nil
}

// removePolicy removes what a spawn has in the gate's folder.
func (p *proc) removePolicy() error {
	denied := p.tab.deniedPath(p.id)
	for _, path := range []string{p.tab.policyPath(p.id), denied, denied + denial.TempSuffix} {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove policy file: %w", err)
		}
	}
	return nil
}
