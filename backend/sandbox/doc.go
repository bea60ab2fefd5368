// Package sandbox turns settings, a subject and facts about the host into a
// complete core.Spec, with an explanation of every field. The settings are merged
// by package config and bring along where each was made.
//
// It is pure: no clock, no randomness, no goroutines, and no I/O of its own. Facts of
// the host arrive in a Host, which package hostfacts fills. Path rules follow Host.OS
// and never the system the code was compiled for, so that Windows and macOS
// hosts are tested everywhere.
//
// It may be imported by config, hostfacts, services and daemon; it imports core only
// (and wire for the paths shared with the guest).
package sandbox
