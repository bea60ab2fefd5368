//go:build linux

package main_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const root = "../../.."

func text(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestCatalogueIsComplete: every id of the catalogue has a line, every attack of the
// corpus as well, and every test that a line names is there.
func TestCatalogueIsComplete(t *testing.T) {
	lines := map[string][]string{}
	for _, m := range regexp.MustCompile(`(?m)^\| ([A-Z]\S*) \|.*\| ([^|]+) \|$`).FindAllStringSubmatch(text(t, "CATALOGUE.md"), -1) {
		if lines[m[1]] != nil {
			t.Errorf("%s has two lines", m[1])
		}
		lines[m[1]] = strings.Split(m[2], ", ")
	}
	for group, n := range map[string]int{"A": 30, "B": 16, "E": 14} {
		for i := range n {
			if id := fmt.Sprint(group, i+1); lines[id] == nil {
				t.Errorf("%s is missing", id)
			}
		}
	}
	corpus := map[string]bool{}
	for _, m := range regexp.MustCompile(`\{id: "([^"]+)"`).FindAllStringSubmatch(text(t, "catalogue_docker_test.go"), -1) {
		corpus[m[1]] = true
		if !slices.Contains(lines[m[1]], "attack") {
			t.Errorf("%s of the corpus has no line", m[1])
		}
	}
	tests := functions(t)
	for id, shown := range lines {
		for _, by := range shown {
			if by == "attack" && !corpus[id] || by != "attack" && !tests[by] {
				t.Errorf("%s names %s, which is not there", id, by)
			}
		}
	}
}

// TestGuardsHaveTests: what the second part of the catalogue says that would be red is there,
// and so is what it guards.
func TestGuardsHaveTests(t *testing.T) {
	_, guards, ok := strings.Cut(text(t, "CATALOGUE.md"), "\n## Guards\n")
	if !ok {
		t.Fatal("the catalogue has no guards")
	}
	tests, seen := functions(t), map[string]bool{}
	lines := regexp.MustCompile(`(?m)^\| (.+) \| (\S+/\S+) \| (.+) \|$`).FindAllStringSubmatch(guards, -1)
	for _, m := range lines {
		if guard := m[2] + ": " + m[1]; seen[guard] {
			t.Errorf("%s stands there twice", guard)
		} else {
			seen[guard] = true
		}
		if _, err := os.Stat(filepath.Join(root, m[2])); err != nil {
			t.Errorf("%s: %v", m[1], err)
		}
		for test := range strings.SplitSeq(m[3], ", ") {
			if !tests[test] {
				t.Errorf("%s: there is no %s", m[1], test)
			}
		}
	}
	if len(lines) < 250 || len(lines) != strings.Count(guards, "\n| ")-1 {
		t.Errorf("%d guards of %d lines", len(lines), strings.Count(guards, "\n| ")-1)
	}
}

// functions are the names of all tests of the repository.
func functions(t *testing.T) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	name := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	for _, top := range []string{"backend", "agentimage"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(path string, _ fs.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(path, "_test.go") {
				for _, m := range name.FindAllStringSubmatch(text(t, path), -1) {
					found[m[1]] = true
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
}

// TestEveryHeldCallIsTried: what the filter hands to the supervisor, A27 calls, unless
// another attack does.
func TestEveryHeldCallIsTried(t *testing.T) {
	tried := text(t, "nameattacks.go") + text(t, "nameattacks_amd64.go")
	elsewhere := map[string]string{
		"bind": "X28", "connect": "X25", "fchmod": "X21", "fchown": "X21", "fsetxattr": "X21", "fremovexattr": "X21",
	}
	held := regexp.MustCompile(`(?m)^(\w+)\s+(?:notify|args\s+notify)`).FindAllStringSubmatch(text(t, root+"/agentimage/guest/filter/calls.txt"), -1)
	if len(held) < 40 {
		t.Fatalf("only %d calls found", len(held))
	}
	for _, m := range held {
		name := m[1]
		if elsewhere[name] == "" && name != "sendto" && !strings.Contains(tried, `{"`+name+`"`) && !strings.Contains(tried, `{"`+name+" ") {
			t.Errorf("%s is not tried", name)
		}
	}
}
