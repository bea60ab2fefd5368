// Package soaktest says how much of a test that takes minutes by nature is done:
// all of it under “make soak”, a tenth of it otherwise. Tests of any package may
// import it; nothing else does.
package soaktest

import "os"

// Whole reports whether long tests are to run in full; “make soak” sets LOOP_SOAK.
func Whole() bool { return os.Getenv("LOOP_SOAK") != "" }

// Skips reports whether round i of a long test is left out: nine of ten are, unless
// all of it is to run.
func Skips(i int) bool { return !Whole() && i%10 != 0 }

// Of is full under “make soak”, and otherwise a tenth of it, at least one.
func Of(full int) int {
	if Whole() {
		return full
	}
	return max(1, full/10)
}
