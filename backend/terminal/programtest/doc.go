// Package programtest is what every way to run a program on a terminal must do:
// the host's PTY, an exec in a container Loop did not make, and the PTY of loop
// init. Their tests call Run; nothing else imports it.
package programtest
