package archtest

import (
	"go/ast"
	"path"
	"slices"
	"strings"
	"testing"
)

// maxLines is the longest that a file may be; most have under 300 lines. Nobody reads a longer
// file as a whole, though the page's contract, which is made from Go's, is one of its kind.
const maxLines = 800

func TestFilesAreShort(t *testing.T) {
	for _, f := range allFiles(t) {
		switch path.Ext(f.path) {
		case ".go", ".ts", ".tsx", ".mts", ".mjs", ".css", ".sh":
			if n := f.lines(); n > maxLines && (!f.generated() || path.Ext(f.path) == ".go") {
				t.Errorf("%s has %d lines, more than %d: split it by what it does", f.path, n, maxLines)
			}
		}
	}
}

// maxBytes is the longest that a line of production code may be. A tab counts as one
// byte. At that length two files fit beside each other on a screen. A failure has its
// cause and its remedy on lines of their own.
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

// bannedNames tell nothing about the contents.
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

// TestFileNamesAreSaidOnce keeps production files apart by their names alone, as a
// reader names them. Entries of programs and package comments are called alike everywhere.
func TestFileNamesAreSaidOnce(t *testing.T) {
	first := map[string]string{"doc.go": "", "main.go": ""}
	for _, g := range goFiles(t) {
		name := path.Base(g.path)
		if g.isTest() || g.generated() {
			continue
		}
		switch other, met := first[name]; {
		case !met:
			first[name] = g.path
		case other != "":
			t.Errorf("%s and %s have one name: call each after its subject", other, g.path)
		}
	}
}

func TestEveryPackageSaysWhatItIs(t *testing.T) {
	for dir, group := range byDir(goFiles(t)) {
		var docs []string
		for _, g := range group {
			if g.isTest() {
				continue
			}
			if g.ast.Doc != nil && strings.TrimSpace(g.ast.Doc.Text()) != "" {
				docs = append(docs, path.Base(g.path))
			}
		}
		switch {
		case len(docs) == 0:
			t.Errorf("%s has no package comment: say in doc.go what lives there and who may import it", dir)
		case len(docs) > 1:
			t.Errorf("%s has package comments in %s: keep one", dir, strings.Join(docs, " and "))
		}
	}
}

// maxMain is the longest that a program's entry may be. It names the parts; daemon or
// the package below assembles them.
const maxMain = 80

func TestMainsAreShort(t *testing.T) {
	for _, g := range goFiles(t) {
		if g.ast.Name.Name == "main" && path.Base(g.path) == "main.go" && g.lines() > maxMain {
			t.Errorf("%s has %d lines, more than %d", g.path, g.lines(), maxMain)
		}
	}
}

// Marks for unfinished work are split here, so this file does not contain them.
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
				// CONTRIBUTING.md names the marks in the rule itself.
				if strings.Contains(line, mark) && f.path != "CONTRIBUTING.md" && f.path != ".golangci.yml" {
					t.Errorf("%s:%d says %q: finish it, or put it in docs/limits.md", f.path, n, mark)
				}
			}
		}
	}
}
