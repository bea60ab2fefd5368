// Package programtest is the suite for every way to run a program on a terminal: the
// host's PTY, an exec in a container that Loop did not make, and the PTY of loop init.
// Only their tests import it.
package programtest
