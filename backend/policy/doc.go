// Package policy judges what a program in a container is about to do: which rule of
// a policy covers it, and whether that rule allows it, denies it, or asks a person.
// It is pure: it reads no file, asks no clock and keeps no state, so that the
// supervisor in the container, the app and `loop gate test` come to the same answer.
// Everybody may import it; it imports nothing of Loop's.
package policy
