// Package soaktest decides how much of a long test runs: all of it under “make soak”, a
// tenth of it otherwise. Tests of any package may import it; nothing else may.
package soaktest

import "os"

// Whole reports whether long tests run in full; “make soak” sets LOOP_SOAK.
func Whole() bool { return os.Getenv("LOOP_SOAK") != "" }

// Skips reports whether round i of a long test is left out. Nine of ten are, unless
// long tests run in full.
func Skips(i int) bool { return !Whole() && i%10 != 0 }

// Of returns full under “make soak”, and otherwise a tenth of it, but at least one.
func Of(full int) int {
	if Whole() {
		return full
	}
	return max(1, full/10)
}
