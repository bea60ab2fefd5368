//go:build linux

// Package threads makes the Go runtime hold the threads it may ever need before
// an agent can use up the container's pids limit: a runtime that cannot start a
// thread ends its process, and with PID 1 the container. Only agentimage/guest
// and its packages may import it.
package threads
