package archtest

import (
	"go/ast"
	"path"
	"slices"
	"strings"
	"testing"
)

// maxLines is the longest a written file may be; most are under 300. Larger
// ones stop being read as a whole.
const maxLines = 800

func TestFilesAreShort(t *testing.T) {
	for _, f := range allFiles(t) {
		switch path.Ext(f.path) {
		case ".go", ".ts", ".tsx", ".mts", ".mjs", ".css", ".sh":
			if n := f.lines(); n > maxLines && !f.generated() {
				t.Errorf("%s has %d lines, more than %d: split it by what it does", f.path, n, maxLines)
			}
		}
	}
}

// maxBytes is the longest a line of the product may be, a tab counting as one: two
// files stand beside each other on a screen. Failures name cause and remedy on lines
// of their own.
const maxBytes = 140

func TestLinesAreShort(t *testing.T) {
	for _, g := range goFiles(t) {
		if g.isTest() || g.generated() {
			continue
		}
		for i, line := range strings.Split(string(g.text), "\n") {
			if len(line) > maxBytes {
				t.Errorf("%s:%d is %d bytes long, more than %d", g.path, i+1, len(line), maxBytes)
			}
		}
	}
}

// bannedNames say nothing about what is inside.
var bannedNames = []string{"util", "utils", "common", "helper", "helpers", "manager", "managers", "misc", "shared", "lib"}

func TestNamesSayWhatIsInside(t *testing.T) {
	for _, f := range allFiles(t) {
		switch path.Ext(f.path) {
		case ".go", ".ts", ".tsx":
		default:
			continue
		}
		for part := range strings.SplitSeq(f.dir(), "/") {
			if slices.Contains(bannedNames, part) {
				t.Errorf("%s: a directory called %q does not say what it does", f.path, part)
			}
		}
		stem, _, _ := strings.Cut(path.Base(f.path), ".")
		for part := range strings.SplitSeq(strings.TrimSuffix(stem, "_test"), "_") {
			if slices.Contains(bannedNames, part) || part == "types" && path.Ext(f.path) == ".go" {
				t.Errorf("%s: a file called %q does not say what it does", f.path, part)
			}
		}
	}
	for _, g := range goFiles(t) {
		for _, d := range g.ast.Decls {
			gen, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, s := range gen.Specs {
				ts, ok := s.(*ast.TypeSpec)
				if !ok {
					continue
				}
				for _, bad := range []string{"Manager", "Helper", "Util", "Utils"} {
					if strings.HasSuffix(ts.Name.Name, bad) {
						t.Errorf("%s: a type called %s does not say what it does", g.pos(ts), ts.Name.Name)
					}
				}
			}
		}
	}
}

func TestEveryPackageSaysWhatItIs(t *testing.T) {
	for dir, group := range byDir(goFiles(t)) {
		var docs []string
		code := false
		for _, g := range group {
			if g.isTest() {
				continue
			}
			code = code || !g.generated()
			if g.ast.Doc != nil && strings.TrimSpace(g.ast.Doc.Text()) != "" {
				docs = append(docs, path.Base(g.path))
			}
		}
		switch {
		case !code && len(docs) == 0 && dir == "backend/store/internal/rows":
			// Wholly generated; package store says what it is.
		case len(docs) == 0:
			t.Errorf("%s has no package comment: say in doc.go what lives there and who may import it", dir)
		case len(docs) > 1:
			t.Errorf("%s has package comments in %s: keep one", dir, strings.Join(docs, " and "))
		}
	}
}

// maxMain is how long a program's entry may be: it names parts, and daemon or
// the package below assembles them.
const maxMain = 80

func TestMainsAreShort(t *testing.T) {
	for _, g := range goFiles(t) {
		if g.ast.Name.Name == "main" && path.Base(g.path) == "main.go" && g.lines() > maxMain {
			t.Errorf("%s has %d lines, more than %d", g.path, g.lines(), maxMain)
		}
	}
}

// unfinished marks are split here so that this file does not carry them.
var unfinished = []string{"TO" + "DO", "FIX" + "ME", "XX" + "X:", "not " + "implemented"}

func TestNothingIsMarkedUnfinished(t *testing.T) {
	for _, f := range allFiles(t) {
		if strings.Contains("/"+f.path, "/testdata/") || f.generated() {
			continue
		}
		n := 0
		for line := range strings.Lines(string(f.text)) {
			n++
			for _, mark := range unfinished {
				// CONTRIBUTING.md states the rule itself.
				if strings.Contains(line, mark) && f.path != "CONTRIBUTING.md" && f.path != ".golangci.yml" {
					t.Errorf("%s:%d says %q: finish it, or put it in docs/limits.md", f.path, n, mark)
				}
			}
		}
	}
}
