//go:build linux

// Package kernel makes the system calls that Go's packages make for all threads of
// a process, or not at all: it changes and checks who a single thread is, and asks
// about descriptors. Only agentimage/guest and its packages may import it.
package kernel
