//go:build linux

// Package threads keeps threads in reserve, and starts and reaps processes on one of
// them.
//
// Warm makes the Go runtime hold the threads it may ever need before an agent can
// use up the container's pids limit: a runtime that cannot start a thread ends its
// process, and with PID 1 the container.
//
// Reaper is the one thread that starts and waits for processes, in loop init;
// WaitAll is the same for the keeper of a spawn. All waiting of the guest is in
// this package. Only agentimage/guest and its packages may import it.
package threads
