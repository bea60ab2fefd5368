//go:build linux

package filter

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// call is a line of calls.txt with its numbers.
type call struct {
	name    string
	what    string // second column
	why     string
	numbers map[string]uint32 // by architecture
}

// node is what becomes of the call under a variant.
func (c call) node(t *testing.T, v Variant, a architecture) node {
	t.Helper()
	switch c.what {
	case "pass":
		return pass
	case "notify":
		return held(v)
	case "args":
		rule, ok := arguments[c.name]
		if !ok {
			t.Fatalf("calls.txt: %s has no rule for its arguments", c.name)
		}
		return rule(v, a)
	case "debug":
		if v == Debuggers {
			return notify
		}
		return deny(unix.EPERM)
	}
	e, ok := errnos[c.what]
	if !ok {
		t.Fatalf("calls.txt: %s is %q, which is nothing that can become of a call", c.name, c.what)
	}
	return deny(e)
}

var errnos = map[string]unix.Errno{"EPERM": unix.EPERM, "ENOSYS": unix.ENOSYS}

// held is notify where there is a supervisor.
func held(v Variant) node {
	if v == Static {
		return pass
	}
	return notify
}

// readCalls joins calls.txt and numbers.txt.
func readCalls(t *testing.T) []call {
	t.Helper()
	numbers := readNumbers(t)
	var out []call
	seen := map[string]bool{}
	for _, line := range dataLines(t, "calls.txt") {
		f := strings.Fields(line)
		if len(f) < 2 {
			t.Fatalf("calls.txt: %q has no second column", line)
		}
		c := call{name: f[0], what: f[1], why: strings.Join(f[2:], " "), numbers: numbers[f[0]]}
		switch {
		case seen[c.name]:
			t.Errorf("calls.txt: %s is there twice", c.name)
		case c.numbers == nil:
			t.Errorf("calls.txt: %s is not in numbers.txt", c.name)
		case c.what != "pass" && c.why == "":
			t.Errorf("calls.txt: %s does not pass and has no reason", c.name)
		}
		seen[c.name] = true
		out = append(out, c)
	}
	for name := range numbers {
		if !seen[name] {
			t.Errorf("calls.txt does not say what becomes of %s", name)
		}
	}
	return out
}

func readNumbers(t *testing.T) map[string]map[string]uint32 {
	t.Helper()
	out := map[string]map[string]uint32{}
	for _, line := range dataLines(t, "numbers.txt") {
		f := strings.Fields(line)
		if len(f) != 1+len(architectures) {
			t.Fatalf("numbers.txt: %q", line)
		}
		out[f[0]] = map[string]uint32{}
		for i, a := range architectures {
			if f[i+1] == "-" {
				continue
			}
			n, err := strconv.ParseUint(f[i+1], 10, 16)
			if err != nil {
				t.Fatalf("numbers.txt: %q: %v", line, err)
			}
			out[f[0]][a.name] = uint32(n)
		}
	}
	return out
}

func dataLines(t *testing.T, name string) []string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			out = append(out, line)
		}
	}
	return out
}
