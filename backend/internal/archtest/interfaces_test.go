package archtest

import (
	"go/ast"
	"strings"
	"testing"
)

// maxMethods is how many methods an interface may have, embedded ones included. A
// larger interface has several users that each need a part of it, and most methods of
// its fake are never called.
const maxMethods = 7

// wideInterfaces may have more, for the reason given.
var wideInterfaces = map[string]string{
	"backend/core.Link":            "one open link is handed from who opened it to who runs a program over it, whole; what it carries is one protocol",
	"backend/guestlink.Callbacks":  "the calls of one protocol, each the handler of a route, judged and counted in one place",
	"backend/bind.ChannelService":  "the calls of one bound struct, each passed on to the one service behind it",
	"backend/bind.GateLogService":  "the calls of one bound struct, each passed on to the one service behind it",
	"backend/bind.GateRuleService": "the calls of one bound struct, each passed on to the one service behind it",
	"backend/bind.RunService":      "the calls of one bound struct, each passed on to the one service behind it",
	"backend/bind.SettingsService": "the calls of one bound struct, each passed on to the one service behind it",
	"backend/imagebuild.Engine":    "one engine, which is asked about images, containers and volumes; a fake keeps them in step",
	"backend/registry.Engine":      "one engine: who makes its containers follows what becomes of them",
	"backend/runner.Store":         "one database: a fake keeps its parts in step, as its transactions do",
}

// standard are interfaces of the standard library that ours embed.
var standard = map[string]int{
	"io.Reader": 1, "io.Writer": 1, "io.Closer": 1, "io.ReadCloser": 2, "io.WriteCloser": 2, "io.ReadWriter": 2, "io.ReadWriteCloser": 3,
	"io.ReaderAt": 1, "io.WriterAt": 1,
	"net.Conn": 8, "error": 1,
}

// TestInterfacesAreSmall counts the methods of every interface.
func TestInterfacesAreSmall(t *testing.T) {
	type named struct {
		file goFile
		it   *ast.InterfaceType
	}
	all := map[string]named{} // by directory and name
	for _, g := range goFiles(t) {
		if g.isTest() || strings.HasSuffix(g.dir(), "test") {
			continue
		}
		ast.Inspect(g.ast, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok {
				if it, ok := spec.Type.(*ast.InterfaceType); ok {
					all[g.dir()+"."+spec.Name.Name] = named{g, it}
				}
			}
			return true
		})
	}
	var count func(g goFile, it *ast.InterfaceType) int
	count = func(g goFile, it *ast.InterfaceType) (sum int) {
		for _, m := range it.Methods.List {
			if len(m.Names) > 0 {
				sum += len(m.Names)
				continue
			}
			key := ""
			switch e := m.Type.(type) {
			case *ast.Ident:
				key = g.dir() + "." + e.Name
				if n, ok := standard[e.Name]; ok {
					sum += n
					continue
				}
			case *ast.SelectorExpr:
				pkg, ok := e.X.(*ast.Ident)
				if !ok {
					continue
				}
				if n, ok := standard[pkg.Name+"."+e.Sel.Name]; ok {
					sum += n
					continue
				}
				for _, imp := range g.imports() {
					if rel, ours := inModule(imp); ours && strings.HasSuffix(rel, "/"+pkg.Name) {
						key = rel + "." + e.Sel.Name
					}
				}
			default:
				continue // a set of types
			}
			inner, ok := all[key]
			if !ok {
				t.Errorf("%s embeds %s, whose methods are not known; add it to the table", g.path, key)
				continue
			}
			sum += count(inner.file, inner.it)
		}
		return sum
	}
	for key, n := range all {
		methods := count(n.file, n.it)
		why, wide := wideInterfaces[key]
		switch {
		case methods > maxMethods && !wide:
			t.Errorf("%s has %d methods, more than %d: split it by who calls them", key, methods, maxMethods)
		case methods <= maxMethods && wide:
			t.Errorf("%s is in the table of wide interfaces and is not wide", key)
		case wide && why == "":
			t.Errorf("%s is wide without a reason", key)
		}
	}
}

// maxDaemon is how long the package that assembles everything may be, in lines without
// tests. Code that grows there belongs to one of the parts.
const maxDaemon = 1200

func TestDaemonAssemblesOnly(t *testing.T) {
	lines := 0
	for _, g := range goFiles(t) {
		if g.dir() == "backend/daemon" && !g.isTest() {
			lines += g.lines()
		}
	}
	if lines > maxDaemon {
		t.Errorf("backend/daemon has %d lines, more than %d", lines, maxDaemon)
	}
}
