package wire

import (
	"fmt"
	"strings"
)

// Policy heads the document that follows a policy request, or the files of a spawn
// request. The wire does not look into the document.
type Policy struct {
	Version int64  `json:"version"` // grows with every change; a guest refuses an older one
	Hash    string `json:"hash"`    // SHA-256 of the document in lower-case hex
	Size    int64  `json:"size"`
}

func (p Policy) validate() error {
	if p.Version < 1 {
		return fmt.Errorf("policy version %d", p.Version)
	}
	if !validHash(p.Hash) {
		return fmt.Errorf("policy hash %q is no SHA-256", clip(p.Hash))
	}
	if p.Size < 0 || p.Size > MaxPolicy {
		return fmt.Errorf("policy of %d bytes: %w", p.Size, ErrTooLarge)
	}
	return nil
}

// PolicyState names the policy that a guest has. Enforced is false where it only keeps
// the document: for spawns to come, and for one that began without supervision.
type PolicyState struct {
	Version  int64  `json:"version"`
	Hash     string `json:"hash"`
	Enforced bool   `json:"enforced"`
}

func validHash(s string) bool { return len(s) == 64 && strings.Trim(s, "0123456789abcdef") == "" }

// Question is something in the container that stands still until it is answered.
// Several wait at a time on the one stream of op questions, at most MaxQuestions. One that
// only tells something wants no answer, and gets none.
type Question struct {
	ID     uint64 `json:"id"` // the guest's, once per stream
	Spawn  string `json:"spawn,omitzero"`
	Kind   string `json:"kind,omitzero"`
	Detail []byte `json:"detail,omitzero"` // its meaning is the kind's
	// Withdrawn takes back the question of that id: nothing waits for it any more.
	Withdrawn bool `json:"withdrawn,omitzero"`
	// Told, if it is not 0, says that nothing waits: the host is only told something. It
	// counts such messages of a spawn from 1, so that one that was lost is missed.
	Told uint64 `json:"told,omitzero"`
}

// Validate bounds what a guest can ask.
func (q Question) Validate() error {
	switch {
	case q.ID == 0:
		return fmt.Errorf("question without an id")
	case q.Withdrawn:
		return nil
	case !ValidID(q.Spawn):
		return fmt.Errorf("spawn id %q is not a name", clip(q.Spawn))
	case !ValidID(q.Kind):
		return fmt.Errorf("kind of question %q is not a name", clip(q.Kind))
	case len(q.Detail) > MaxDetail:
		return fmt.Errorf("question of %d bytes: %w", len(q.Detail), ErrTooLarge)
	}
	return nil
}

// Answer is the host's verdict on one question.
type Answer struct {
	ID    uint64 `json:"id"`
	Allow bool   `json:"allow,omitzero"` // without it the answer denies
	Text  string `json:"text,omitzero"`  // why, for whoever asked; at most MaxText
	By    string `json:"by,omitzero"`    // of those below; empty is Loop itself, which could ask nobody
}

// Who an answer is from.
const (
	ByPerson = "person"
	ByTime   = "time" // nobody answered
	ByRun    = "run"  // it is ending, or works unattended
)

// Deny is an answer whose text is cut to MaxText.
func Deny(id uint64, why string) Answer { return Answer{ID: id, Text: clip(why)} }

// MaxBy bounds Answer.By, in bytes.
const MaxBy = 32

// Validate bounds what a host can answer.
func (a Answer) Validate() error {
	if a.ID == 0 || len(a.Text) > 2*MaxText || len(a.By) > MaxBy {
		return fmt.Errorf("impossible answer to question %d", a.ID)
	}
	return nil
}
