// Package e2e holds black-box tests of the built binary on a real engine with
// the real agent CLI: only what a person could do, through the command line and
// the loopback API. It has no code of its own and nothing imports it.
//
// The tests need the build tag docker, an engine, the agent image, and the
// binary named by LOOP_BIN (make test sets it).
package e2e
