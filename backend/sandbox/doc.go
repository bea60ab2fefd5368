// Package sandbox turns layered settings, a subject and facts about the host
// into a complete core.Spec, with an explanation of every field.
//
// It is pure: no I/O, no clock, no randomness, no goroutines. What it must know
// of the host arrives in a Host; Probes names the paths whose facts Resolve
// will ask for, and package hostfacts looks at them. Path rules follow Host.OS
// and never the system the code was compiled for, so that Windows and macOS
// hosts are tested everywhere.
//
// It may be imported by hostfacts, services and daemon; it imports core only
// (and wire for the paths shared with the guest).
package sandbox
