//go:build linux

package spawn

import (
	"fmt"
	"io"
	"os"

	"loop/backend/policy"
	"loop/backend/wire"
)

// report goes up, with one field set or none. The stage sends the keeper its Filter where
// there is one, an empty report right before it executes the program, or last of all an
// Error; no report at all means that it died earlier. The keeper sends loop init how the
// start goes (Goes) and went (Pid and Error), how the program ended (Status), and what it asks.
type report struct {
	Goes     bool           `json:"goes,omitempty"` // the stage is about to be let go on
	Pid      int            `json:"pid,omitempty"`
	Status   *int           `json:"status,omitempty"` // raw wait status
	Error    *wire.Error    `json:"error,omitempty"`  // why the program was not executed
	Filter   *installed     `json:"filter,omitempty"`
	Question *wire.Question `json:"question,omitempty"` // its ID is the keeper's
	Policy   *policyTaken   `json:"policy,omitempty"`
}

// installed goes with the listener of a filter.
type installed struct {
	Spawn  string `json:"spawn"`
	Thread int    `json:"thread"` // the one that will execute the program
}

// policyTaken says that a keeper goes by a policy, or why it still goes by the one before.
type policyTaken struct {
	Version int64       `json:"version"`
	Error   *wire.Error `json:"error,omitempty"`
}

// order goes down, from loop init to a keeper that supervises, with one field set.
type order struct {
	Supervise *supervision `json:"supervise,omitempty"` // the first; with the document
	Policy    *wire.Policy `json:"policy,omitempty"`    // with the document
	Answer    *wire.Answer `json:"answer,omitempty"`
	Deny      string       `json:"deny,omitempty"` // everything that waits, and why
}

// supervision is what a keeper needs to know to supervise.
type supervision struct {
	Spawn    string      `json:"spawn"`
	UID, GID int         // the agent's, as what follows
	Groups   []int       `json:"groups"`
	Home     string      `json:"home"`
	Denied   string      `json:"denied"` // the file that tells what was denied
	Policy   wire.Policy `json:"policy"`
}

// readPolicy takes a document from a pipe, which it closes, and makes it ready to judge.
// It was judged good in loop init.
func readPolicy(pipe int, head wire.Policy) (*policy.Engine, error) {
	if pipe < 0 {
		return nil, fmt.Errorf("the policy did not come")
	}
	f := os.NewFile(uintptr(pipe), "policy")
	defer func() { _ = f.Close() }()
	doc, err := io.ReadAll(io.LimitReader(f, wire.MaxPolicy+1))
	if err != nil {
		return nil, fmt.Errorf("read policy: %w", err)
	}
	return compile(head, doc)
}
