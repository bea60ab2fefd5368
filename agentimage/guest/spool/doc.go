//go:build linux

// Package spool keeps the output of one stream of a spawn and lets any number
// of readers follow it at absolute offsets. A Log is backed by a file, where
// nothing is ever dropped and the writer is held up when there is no room, or
// by a ring, where the oldest bytes go. Only agentimage/guest/spawn and
// agentimage/guest/initd may import it.
package spool
