// Package enginetest holds the one suite that every engine must pass: the
// in-memory fake always, the real engine under the build tag docker. Only tests
// may import it.
package enginetest
