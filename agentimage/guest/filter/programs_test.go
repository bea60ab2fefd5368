//go:build linux

package filter

import (
	"bytes"
	"crypto/sha256"
	"flag"
	"fmt"
	"go/format"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the programs and notified_*.go")

var variants = []Variant{Agent, AgentReads, Static, Debuggers}

func programFile(v Variant, a architecture) string {
	return filepath.Join("programs", fmt.Sprintf("%s-%s.bpf", v, a.name))
}

// TestPrograms compares the committed programs and tables with what calls.txt and
// numbers.txt make; -update writes them.
func TestPrograms(t *testing.T) {
	calls := readCalls(t)
	var sums bytes.Buffer
	for _, a := range architectures {
		for _, v := range variants {
			code, err := machineCode(tree(t, calls, a, v))
			if err != nil {
				t.Fatalf("%s on %s: %v", v, a.name, err)
			}
			t.Logf("%s on %s: %d instructions", v, a.name, len(code)/instructionSize)
			compare(t, programFile(v, a), code)
			fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(code), filepath.Base(programFile(v, a)))
		}
		compare(t, "notified_"+a.name+".go", notifiedSource(t, calls, a))
	}
	compare(t, filepath.Join("programs", "SHA256SUMS"), sums.Bytes()) // a change of bytes shows in a diff
}

func compare(t *testing.T, name string, want []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if have, err := os.ReadFile(name); err != nil || !bytes.Equal(have, want) {
		t.Errorf("%s is not what calls.txt and numbers.txt make (%v); see with: go test ./agentimage/guest/filter -run TestPrograms -update", name, err)
	}
}

// notifiedSource is the table of calls that an agent's filter may notify.
func notifiedSource(t *testing.T, calls []call, a architecture) []byte {
	t.Helper()
	calls = slices.DeleteFunc(slices.Clone(calls), func(c call) bool {
		_, here := c.numbers[a.name]
		return !here || !notifies(c.node(t, Debuggers, a))
	})
	slices.SortFunc(calls, func(x, y call) int { return int(x.numbers[a.name]) - int(y.numbers[a.name]) })
	var b strings.Builder
	b.WriteString("// Code generated from calls.txt and numbers.txt by TestPrograms. DO NOT EDIT.\n\n//go:build linux\n\npackage filter\n\n")
	b.WriteString("func notified() []Call {\n\treturn []Call{\n")
	for _, c := range calls {
		fmt.Fprintf(&b, "\t\t{%d, %q},\n", c.numbers[a.name], c.name)
	}
	b.WriteString("\t}\n}\n")
	src, err := format.Source([]byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func notifies(n node) bool {
	switch n := n.(type) {
	case verdict:
		return n == notify
	case word:
		return notifies(n.yes) || notifies(n.not)
	}
	return false
}
