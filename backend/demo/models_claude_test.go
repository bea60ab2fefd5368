//go:build claude

package demo

import (
	"bytes"
	"os"
	"regexp"
	"testing"
)

// TestThePageKnowsModelsOfTheCLI: every name that the page offers is one that the CLI has in it.
func TestThePageKnowsModelsOfTheCLI(t *testing.T) {
	page, err := os.ReadFile("../../frontend/src/model/models.ts")
	if err != nil {
		t.Fatal(err)
	}
	cli, err := os.ReadFile(claudeBin(t))
	if err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile(`\{ name: "([^"]+)"`).FindAllSubmatch(page, -1)
	if len(names) < 10 {
		t.Fatalf("found %d names", len(names))
	}
	for _, m := range names {
		if !bytes.Contains(cli, []byte(`"`+string(m[1])+`"`)) {
			t.Errorf("the CLI does not know %s", m[1])
		}
	}
}
