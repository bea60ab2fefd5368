package archtest

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// root is the repository, as seen from this package's directory.
const root = "../../.."

// module is the module path of go.mod.
const module = "loop"

// skipped directories hold no file that was written here.
var skipped = []string{"node_modules", "build/cache", "build/bin", "frontend/dist", "frontend/wailsjs", "agentimage/bin"}

// file is one file of the repository. Its path begins at the root and has slashes.
type file struct {
	path string
	text []byte
}

func (f file) dir() string     { return path.Dir(f.path) }
func (f file) isTest() bool    { return strings.HasSuffix(f.path, "_test.go") }
func (f file) generated() bool { return isGenerated(f.text) }

// lines counts as an editor does: a last line without a newline counts.
func (f file) lines() int {
	n := bytes.Count(f.text, []byte("\n"))
	if len(f.text) > 0 && f.text[len(f.text)-1] != '\n' {
		n++
	}
	return n
}

func isGenerated(text []byte) bool {
	head := text[:min(len(text), 400)]
	return bytes.Contains(head, []byte("Code generated ")) && bytes.Contains(head, []byte("DO NOT EDIT"))
}

// goFile is a parsed Go file, whatever its build tags.
type goFile struct {
	file
	ast  *ast.File
	fset *token.FileSet
}

func (g goFile) pos(n ast.Node) string {
	return g.path + ":" + strconv.Itoa(g.fset.Position(n.Pos()).Line)
}

func (g goFile) imports() []string {
	out := make([]string, 0, len(g.ast.Imports))
	for _, spec := range g.ast.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue // the parser accepted it, so it can be unquoted
		}
		out = append(out, name)
	}
	return out
}

// files reads every text file with one of the extensions once per test binary.
var files = sync.OnceValues(func() ([]file, error) {
	var out []file
	exts := []string{".go", ".ts", ".tsx", ".mts", ".mjs", ".css", ".sh", ".md", ".yml", ".yaml", ".sql"}
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			hidden := rel != "." && d.Name() != ".ci" && (d.Name()[0] == '.' || d.Name()[0] == '_') // go ignores them as well
			if hidden || slices.Contains(skipped, rel) || slices.Contains(skipped, d.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		named := rel == "Makefile" || rel == ".ci/run" || strings.HasPrefix(path.Base(rel), "Dockerfile")
		if !d.Type().IsRegular() || !named && !slices.Contains(exts, path.Ext(rel)) {
			return nil
		}
		text, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		out = append(out, file{path: rel, text: text})
		return nil
	})
	return out, err
})

func allFiles(t *testing.T) []file {
	t.Helper()
	out, err := files()
	if err != nil {
		t.Fatal(err)
	}
	if len(out) < 20 {
		t.Fatalf("only %d files found from %s: the walk is looking in the wrong place", len(out), root)
	}
	return out
}

// goFiles parses every Go file outside testdata, tests included.
func goFiles(t *testing.T) []goFile {
	t.Helper()
	var out []goFile
	for _, f := range allFiles(t) {
		if path.Ext(f.path) != ".go" || strings.Contains("/"+f.path, "/testdata/") {
			continue
		}
		fset := token.NewFileSet()
		tree, err := parser.ParseFile(fset, f.path, f.text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		out = append(out, goFile{file: f, ast: tree, fset: fset})
	}
	return out
}

// byDir groups files by directory.
func byDir(in []goFile) map[string][]goFile {
	out := map[string][]goFile{}
	for _, f := range in {
		out[f.dir()] = append(out[f.dir()], f)
	}
	return out
}
