package archtest

import (
	"regexp"
	"strings"
	"testing"
)

// unshown is how many points of the gate's limits say, of themselves or of a part, that no
// test shows it.
const unshown = 3

// TestLimitsOfTheGateAreShown: each point of what docs/limits.md says of the gate names a
// test that shows it, and every test that the page names is there.
func TestLimitsOfTheGateAreShown(t *testing.T) {
	tests := map[string]bool{}
	function := regexp.MustCompile(`(?m)^func ((?:Test|Benchmark)\w+)\(`)
	part := regexp.MustCompile(`(?:\{name: |t\.Run\()"([A-Z]\w+)"`)
	for _, f := range goFiles(t) {
		if !f.isTest() {
			continue
		}
		names := function.FindAllStringSubmatch(string(f.text), -1)
		if f.path == "backend/guestlink/docker_limits_test.go" {
			names = append(names, part.FindAllStringSubmatch(string(f.text), -1)...)
		}
		for _, m := range names {
			tests[m[1]] = true
		}
	}
	page := read(t, "docs/limits.md")
	_, section, found := strings.Cut(page, "\n## What the gate holds, and what it does not\n")
	section, _, _ = strings.Cut(section, "\n## ")
	named := regexp.MustCompile("`([A-Z][A-Za-z0-9]+)`")
	points, without := 0, 0
	for i, point := range strings.Split(section, "\n- ") {
		if i == 0 {
			continue // what stands before the first
		}
		points++
		shown := false
		for _, m := range named.FindAllStringSubmatch(point, -1) {
			shown = shown || tests[m[1]]
		}
		if strings.Contains(strings.Join(strings.Fields(point), " "), "No test shows") {
			without++
		} else if !shown {
			t.Errorf("docs/limits.md: no test is named for %q", point)
		}
	}
	if !found || points < 30 || without != unshown {
		t.Errorf("docs/limits.md has %d points of the gate, %d of them without a test; want %d", points, without, unshown)
	}
	for _, m := range named.FindAllStringSubmatch(page, -1) {
		if !tests[m[1]] {
			t.Errorf("docs/limits.md names %s, and there is no such test", m[1])
		}
	}
}
