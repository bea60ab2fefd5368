package config

import (
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// Diff shows what makes b of a as hunks of a unified diff, without headers of
// files; the empty text when they are the same. In texts that differ in hundreds
// of places it shows more than the least change, so that it stays quick.
func Diff(a, b string) string {
	whole := udiff.Unified("a", "b", a, b)
	return strings.TrimPrefix(whole, "--- a\n+++ b\n")
}

// Changed counts the lines that were added and removed.
func Changed(a, b string) (added, removed int) {
	for line := range strings.Lines(Diff(a, b)) {
		switch line[0] {
		case '+':
			added++
		case '-':
			removed++
		}
	}
	return added, removed
}
