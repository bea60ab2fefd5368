// Package signin runs “claude setup-token” on a terminal that nobody sees, and reads from
// its screen what a person has to do: the address to open, whether a code is wanted, what
// went wrong, and the token at the end. The program is the person's own Claude Code; it gets
// a folder of its own for its settings, which goes away with it.
package signin
