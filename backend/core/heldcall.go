package core

// HeldCall is an operation in a container that stands still until somebody allows or
// denies it. Spawn is the guest's claim; Detail is hostile, and the link bounds it.
type HeldCall struct {
	Spawn  SpawnID
	Kind   string // names what Detail means
	Detail []byte
}

// Verdict answers a HeldCall; its zero value denies.
type Verdict struct {
	Allow bool
	Text  string // the reason, for the program that asked
}

// PolicyState names the policy that a container's supervisor has.
type PolicyState struct {
	Version  int64
	Hash     string // SHA-256 of the document in hex
	Enforced bool   // false: the policy is stored, and nothing goes by it yet
}
