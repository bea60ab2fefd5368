package archtest

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// lives are the engine's calls that begin, pause or end a container. The values are the
// types of the arguments after the context. A Start with other arguments is another
// method and does not count.
var lives = map[string][]string{
	"Create":  {"Spec"},
	"Start":   {"ContainerID"},
	"Stop":    {"ContainerID", "Duration"},
	"Kill":    {"ContainerID"},
	"Remove":  {"ContainerID", "bool"},
	"Pause":   {"ContainerID"},
	"Unpause": {"ContainerID"},
	"Update":  {"ContainerID", "Limits"},
	"Rename":  {"ContainerID", "string"},
}

// TestOneOwnerOfLives: only the registry begins or ends a container, either with the
// engine itself or through a port of the same shape. The exception is imagebuild, which
// makes a base image in containers and waits for their end.
func TestOneOwnerOfLives(t *testing.T) {
	found := 0
	for _, g := range goFiles(t) {
		if g.isTest() || within(g.dir(), "backend/engine") || within(g.dir(), "backend/imagebuild") {
			continue
		}
		owner := g.dir() == "backend/registry"
		ast.Inspect(g.ast, func(n ast.Node) bool {
			var what string
			switch n := n.(type) {
			case *ast.CallExpr:
				if m, ok := n.Fun.(*ast.SelectorExpr); ok && lives[m.Sel.Name] != nil && isEngine(m.X) {
					what = "calls " + m.Sel.Name + " of the engine"
				}
			case *ast.InterfaceType:
				for _, m := range n.Methods.List {
					if f, ok := m.Type.(*ast.FuncType); ok && len(m.Names) == 1 && slices.Equal(afterContext(f), lives[m.Names[0].Name]) {
						what = "declares a port with the engine's " + m.Names[0].Name
					}
				}
			}
			if what != "" && owner {
				found++
			}
			if what != "" && !owner {
				t.Errorf("%s %s: a container's life is the registry's; take a lease and give it back", g.pos(n), what)
			}
			return true
		})
	}
	if found < 5 {
		t.Errorf("the registry itself was seen %d times: the rule does not see what it is about", found)
	}
}

// TestSpecsAreValidatedOnce: the registry validates a spec as the last step before it
// makes the container. An earlier check would prove nothing about that container.
func TestSpecsAreValidatedOnce(t *testing.T) {
	var callers []string
	for _, g := range goFiles(t) {
		ast.Inspect(g.ast, func(n ast.Node) bool {
			if m, ok := n.(*ast.SelectorExpr); ok && m.Sel.Name == "Validate" && !g.isTest() {
				if id, ok := m.X.(*ast.Ident); ok && id.Name == "sandbox" {
					callers = append(callers, g.path)
				}
			}
			return true
		})
	}
	if !slices.Equal(callers, []string{"backend/hostfacts/lastlook.go"}) {
		t.Errorf("sandbox.Validate is called in %v", callers)
	}
}

// isEngine recognises the engine by the name of the field or variable.
func isEngine(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.SelectorExpr:
		return strings.EqualFold(x.Sel.Name, "engine") || strings.EqualFold(x.Sel.Name, "docker")
	case *ast.Ident:
		return strings.EqualFold(x.Name, "engine") || strings.EqualFold(x.Name, "docker")
	}
	return false
}

// afterContext returns the types of a method's parameters after its context. Without a
// context it returns words that are no types.
func afterContext(f *ast.FuncType) []string {
	out := []string{}
	for _, p := range f.Params.List {
		name := ""
		switch x := p.Type.(type) {
		case *ast.SelectorExpr:
			name = x.Sel.Name
		case *ast.Ident:
			name = x.Name
		}
		for range max(1, len(p.Names)) {
			out = append(out, name)
		}
	}
	if len(out) < 2 || out[0] != "Context" {
		return []string{"no context"}
	}
	return out[1:]
}
