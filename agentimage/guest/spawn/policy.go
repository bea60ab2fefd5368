//go:build linux

package spawn

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"loop/backend/wire"
)

// policy is a document from the host. It is kept for a supervisor to read; nothing is
// enforced yet, and its state says so.
type policy struct {
	state wire.PolicyState
	doc   []byte
}

// SetPolicy keeps a policy for one spawn, or with an empty id for those to come. A
// version that was there before is refused, unless it is the one that is there.
func (tab *Table) SetPolicy(id string, head wire.Policy, doc []byte) (wire.PolicyState, error) {
	if sum := sha256.Sum256(doc); hex.EncodeToString(sum[:]) != head.Hash {
		return wire.PolicyState{}, wire.NewError(wire.CodeInvalid, "the policy is not the one its hash names")
	}
	tab.mu.Lock()
	defer tab.mu.Unlock()
	at := &tab.policy
	if id != "" {
		p, ok := tab.spawns[id]
		if !ok {
			return wire.PolicyState{}, wire.NewError(wire.CodeNotFound, "no spawn "+id)
		}
		at = &p.policy
	}
	if was := at.state; head.Version < was.Version || head.Version == was.Version && head.Hash != was.Hash {
		return wire.PolicyState{}, wire.NewError(wire.CodeConflict, fmt.Sprintf("policy version %d is there already", was.Version))
	}
	*at = policy{wire.PolicyState{Version: head.Version, Hash: head.Hash}, doc}
	return at.state, nil
}
