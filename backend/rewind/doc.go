// Package rewind keeps what a channel's files and conversation were at each prompt, and goes
// back to it: it says what that would do, does it, and undoes it. The files are in package
// checkpoints; rows, sessions, folders and the queue are ports. It is a service; only daemon
// may import it.
package rewind
