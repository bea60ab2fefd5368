package archtest

import (
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// bannedCall is a call that may not be made, with its reason. The field where limits
// the ban to tests or to code.
type bannedCall struct {
	pkg, fn string
	where   string // "tests", "code" or ""
	why     string
}

var bannedCalls = []bannedCall{
	{"time", "Sleep", "tests", "a test that sleeps is slow or flaky: use testing/synctest, an injected clock, or poll with a ticker against a deadline"},
	{"os", "IsNotExist", "", "it does not see wrapped errors: errors.Is(err, fs.ErrNotExist)"},
	{"os", "IsExist", "", "it does not see wrapped errors: errors.Is(err, fs.ErrExist)"},
	{"os", "IsPermission", "", "it does not see wrapped errors: errors.Is(err, fs.ErrPermission)"},
	{"ioutil", "", "", "replaced by os and io"},
	{"log", "Fatal", "", "a library never ends the process, and deferred work would be skipped"},
	{"log", "Fatalf", "", "a library never ends the process, and deferred work would be skipped"},
	{"log", "Println", "code", "log through the slog.Logger that was handed in"},
	{"log", "Printf", "code", "log through the slog.Logger that was handed in"},
	{"http", "Get", "code", "no context and no time limit"},
	{"http", "Post", "code", "no context and no time limit"},
	{"http", "ListenAndServe", "", "no shutdown: use an http.Server with an owner that closes it"},
	{"rand", "Seed", "", "deprecated"},
}

func TestBannedCalls(t *testing.T) {
	for _, g := range goFiles(t) {
		imported := map[string]bool{}
		for _, imp := range g.imports() {
			imported[path.Base(imp)] = true
		}
		ast.Inspect(g.ast, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			id, ok := sel.X.(*ast.Ident)
			if !ok || !imported[id.Name] {
				return true
			}
			for _, b := range bannedCalls {
				if b.pkg != id.Name || b.fn != "" && b.fn != sel.Sel.Name {
					continue
				}
				if b.where == "tests" && !g.isTest() || b.where == "code" && g.isTest() {
					continue
				}
				t.Errorf("%s uses %s.%s: %s", g.pos(n), id.Name, sel.Sel.Name, b.why)
			}
			return true
		})
	}
}

// TestNothingIsSkipped: CI has everything that tests need, so no test is skipped. A
// test that needs an engine or the agent CLI has a build tag instead.
func TestNothingIsSkipped(t *testing.T) {
	for _, g := range goFiles(t) {
		if !g.isTest() {
			continue
		}
		ast.Inspect(g.ast, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			sel, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || !slices.Contains([]string{"Skip", "Skipf", "SkipNow"}, sel.Sel.Name) {
				return true
			}
			id, ok := sel.X.(*ast.Ident)
			if ok && slices.Contains([]string{"t", "b", "f", "tb"}, id.Name) {
				t.Errorf("%s skips: put the test behind a build tag that make test sets", g.pos(n))
			}
			return true
		})
	}
}

// TestEngineTestsHaveTheirOwnNames: tests that need an engine or a browser are chosen by
// name and may be tried again. A unit test of the same name would be tried again too.
func TestEngineTestsHaveTheirOwnNames(t *testing.T) {
	for _, kind := range []struct{ tags, needs string }{{"docker|claude", "an engine"}, {"chrome", "a browser"}} { // a stage each
		needs := regexp.MustCompile(`(?m)^//go:build .*(` + kind.tags + `)`)
		chosen, unit := map[string]bool{}, map[string]string{}
		for _, group := range byDir(goFiles(t)) {
			tagged := func(g goFile) bool { return g.isTest() && needs.Match(g.text) }
			if !slices.ContainsFunc(group, tagged) {
				continue
			}
			for _, g := range group {
				for _, d := range g.ast.Decls {
					f, ok := d.(*ast.FuncDecl)
					switch {
					case !ok || f.Recv != nil || !g.isTest() || !strings.HasPrefix(f.Name.Name, "Test") || f.Name.Name == "TestMain":
					case tagged(g):
						chosen[f.Name.Name] = true
					default:
						unit[f.Name.Name] = g.pos(f)
					}
				}
			}
		}
		for name, pos := range unit {
			if chosen[name] {
				t.Errorf("%s: %s is also the name of a test that needs %s: give one of them another", pos, name, kind.needs)
			}
		}
		if len(chosen) == 0 {
			t.Errorf("no test that needs %s was found", kind.needs)
		}
	}
}

// TestErrorsNameTheStep: “open database: …” still reads well when it is wrapped three
// times. “failed to open database: failed to …” does not.
func TestErrorsNameTheStep(t *testing.T) {
	for _, g := range goFiles(t) {
		if g.generated() || g.isTest() {
			continue
		}
		ast.Inspect(g.ast, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			sel, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || sel.Sel.Name != "Errorf" && sel.Sel.Name != "New" {
				return true
			}
			id, ok := sel.X.(*ast.Ident)
			if !ok || id.Name != "fmt" && id.Name != "errors" {
				return true
			}
			lit, ok := call.Args[0].(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(lit.Value)
			if err != nil {
				return true
			}
			if lower := strings.ToLower(text); strings.HasPrefix(lower, "failed to") || strings.HasPrefix(lower, "could not") {
				t.Errorf("%s: %q: name the step only", g.pos(n), text)
			}
			return true
		})
	}
}

// TestGoroutinesAreCounted: a package that starts goroutines has a TestMain that fails
// when one is left.
func TestGoroutinesAreCounted(t *testing.T) {
	for dir, group := range byDir(goFiles(t)) {
		starts, checked := "", false
		for _, g := range group {
			if g.isTest() {
				checked = checked || slices.Contains(g.imports(), "go.uber.org/goleak")
				continue
			}
			if g.ast.Name.Name == "main" {
				checked = true // a program ends with its goroutines
			}
			if strings.HasSuffix(dir, "test") {
				checked = true // a suite for other packages, whose tests count them
			}
			ast.Inspect(g.ast, func(n ast.Node) bool {
				if _, ok := n.(*ast.GoStmt); ok && starts == "" {
					starts = g.pos(n)
				}
				if call, ok := n.(*ast.CallExpr); ok && starts == "" {
					if sel, ok := call.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "Go" && len(call.Args) == 1 {
						starts = g.pos(n)
					}
				}
				return true
			})
		}
		if starts != "" && !checked {
			t.Errorf("%s starts a goroutine (%s) and no test of the package uses goleak", dir, starts)
		}
	}
}

// TestOneThreadReapsTheGuest: a wait elsewhere would take a process's exit away from
// its owner, and a stop from the only thread that may trace.
func TestOneThreadReapsTheGuest(t *testing.T) {
	const owner = "agentimage/guest/threads"
	found := false
	for _, g := range goFiles(t) {
		if g.isTest() || !within(g.dir(), "agentimage/guest") {
			continue
		}
		for _, imp := range g.imports() {
			if imp == "os/exec" {
				t.Errorf("%s imports os/exec, whose Wait is a second one; start through threads.Reaper", g.path)
			}
		}
		ast.Inspect(g.ast, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			switch sel.Sel.Name {
			case "Wait4", "Waitid", "SYS_WAIT4", "SYS_WAITID", "StartProcess":
				if g.dir() != owner {
					t.Errorf("%s uses %s: only %s waits for processes", g.pos(n), sel.Sel.Name, owner)
				}
				found = true
			}
			return true
		})
	}
	if !found {
		t.Errorf("nothing in %s waits", owner)
	}
}
