package core

// HeldCall is something in a container that stands still until somebody allows or
// denies it. Spawn is the guest's word; Detail is hostile and bounded by the link.
type HeldCall struct {
	Spawn  SpawnID
	Kind   string // names what Detail means
	Detail []byte
}

// Verdict is the answer; its zero value denies.
type Verdict struct {
	Allow bool
	Text  string // why, for whoever asked
}

// PolicyState is which policy a container's supervisor has.
type PolicyState struct {
	Version  int64
	Hash     string // SHA-256 of the document in hex
	Enforced bool   // false: it is kept, and nothing goes by it
}
