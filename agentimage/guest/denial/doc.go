//go:build linux

// Package denial carries what the gate denied, and why, to the agent: the words
// (denied.go), the record that a spawn's supervisor keeps of it (journal.go), and the
// hook of the agent CLI that reads that record (hook.go). The CLI's own file tools say no
// more than “permission denied”.
//
// Only agentimage/guest and its packages may import it.
package denial
