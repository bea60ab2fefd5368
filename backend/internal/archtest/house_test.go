package archtest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestReadme(t *testing.T) {
	text := read(t, "README.md")
	if n := strings.Count(text, "\n"); n >= 200 {
		t.Errorf("README.md has %d lines; it stays under 200", n)
	}
	for _, plain := range []string{"holds no network connections", "change and delete everything in the folders you give it", "docs/limits.md"} {
		if !strings.Contains(strings.Join(strings.Fields(strings.ReplaceAll(text, "\n>", "\n")), " "), plain) {
			t.Errorf("README.md must say plainly what the gate leaves open: no %q", plain)
		}
	}
	// README.md shows only these two set-up commands.
	want := []string{"make run", "make test"}
	var got []string
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(text, -1) {
		for line := range strings.Lines(block[1]) {
			if cmd, _, _ := strings.Cut(line, "#"); strings.HasPrefix(cmd, "make ") {
				got = append(got, strings.TrimSpace(cmd))
			}
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("README.md shows the set-up commands %q, want exactly %q", got, want)
	}
}

func TestArchitectureStaysReadable(t *testing.T) {
	if n := strings.Count(read(t, "ARCHITECTURE.md"), "\n"); n > 250 {
		t.Errorf("ARCHITECTURE.md has %d lines, more than 250", n)
	}
}

// TestArchitectureNamesEveryPackage keeps ARCHITECTURE.md in step with the packages.
func TestArchitectureNamesEveryPackage(t *testing.T) {
	text := read(t, "ARCHITECTURE.md")
	for dir := range byDir(goFiles(t)) {
		if dir == "." || strings.Count(dir, "/") > 1 && !strings.HasPrefix(dir, "agentimage/guest/") {
			continue
		}
		if strings.HasPrefix(dir, "agentimage/guest/") && strings.Count(dir, "/") > 2 {
			continue
		}
		if !strings.Contains(text, "`"+strings.TrimPrefix(dir, "backend/")+"`") && !strings.Contains(text, "`"+strings.TrimPrefix(dir, "agentimage/guest/")+"`") {
			t.Errorf("ARCHITECTURE.md does not mention the package %s", dir)
		}
	}
}

var mdLink = regexp.MustCompile(`\]\(([^)#:\s]+)(?:#[^)]*)?\)`)

func TestLinksInDocsLeadSomewhere(t *testing.T) {
	for _, f := range allFiles(t) {
		if !strings.HasSuffix(f.path, ".md") {
			continue
		}
		for _, m := range mdLink.FindAllStringSubmatch(string(f.text), -1) {
			if _, err := os.Stat(filepath.Join(root, f.dir(), m[1])); err != nil {
				t.Errorf("%s links to %s, which is not there", f.path, m[1])
			}
		}
	}
}

var requireLine = regexp.MustCompile(`(?m)^\s*([a-z0-9.-]+\.[a-z]+/\S+) (\S+)`)

func TestVersionsArePinned(t *testing.T) {
	mod := read(t, "go.mod")
	for _, bad := range []string{"\nreplace ", "\nexclude ", "\ntoolchain "} {
		if strings.Contains(mod, bad) {
			t.Errorf("go.mod has a %s line: depend on what was published", strings.TrimSpace(bad))
		}
	}
	version := regexp.MustCompile(`^v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+incompatible)?$`)
	lines := requireLine.FindAllStringSubmatch(mod, -1)
	if len(lines) < 10 {
		t.Fatalf("only %d requirements found in go.mod", len(lines))
	}
	for _, m := range lines {
		if !version.MatchString(m[2]) {
			t.Errorf("go.mod: %s %s is not a pinned version", m[1], m[2])
		}
	}

	var pkg struct {
		Dependencies    map[string]string `json:"dependencies"`
		DevDependencies map[string]string `json:"devDependencies"`
	}
	if err := json.Unmarshal([]byte(read(t, "frontend/package.json")), &pkg); err != nil {
		t.Fatal(err)
	}
	exact := regexp.MustCompile(`^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`)
	for _, deps := range []map[string]string{pkg.Dependencies, pkg.DevDependencies} {
		for name, v := range deps {
			if !exact.MatchString(v) {
				t.Errorf("frontend/package.json: %s %q is not an exact version", name, v)
			}
		}
	}

	for _, f := range allFiles(t) {
		if strings.HasSuffix(f.path, ".sh") || f.path == "Makefile" {
			if strings.Contains(string(f.text), "@latest") {
				t.Errorf("%s runs a tool at its latest version: pin it", f.path)
			}
		}
	}
}

// TestMakefileHelp: every target has an explanation, and every script that it calls
// exists.
func TestMakefileHelp(t *testing.T) {
	text := read(t, "Makefile")
	phony := regexp.MustCompile(`(?m)^\.PHONY: (.*)$`).FindStringSubmatch(text)
	if phony == nil {
		t.Fatal("Makefile has no .PHONY line")
	}
	for target := range strings.FieldsSeq(phony[1]) {
		if !regexp.MustCompile(`(?m)^` + target + `:.*## \S`).MatchString(text) {
			t.Errorf("make %s has no ## comment for make help", target)
		}
	}
	for _, m := range regexp.MustCompile(`build/[a-z-]+\.sh`).FindAllString(text, -1) {
		if info, err := os.Stat(filepath.Join(root, m)); err != nil || info.Mode()&0o111 == 0 {
			t.Errorf("Makefile calls %s, which is not an executable file", m)
		}
	}
}
