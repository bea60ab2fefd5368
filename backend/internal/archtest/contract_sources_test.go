package archtest

import (
	"go/ast"
	"go/token"
	"reflect"
	"strconv"
	"strings"
)

// sources is the part of the contract that comes from Go files, because reflection
// lacks it. Its keys begin with the import path and the type: “loop/backend/core.Run”.
type sources struct {
	consts   map[string][]string
	comments map[string]string   // at the end of a field's line
	params   map[string][]string // names of a method's parameters
}

func readSources(files []goFile) sources {
	s := sources{consts: map[string][]string{}, comments: map[string]string{}, params: map[string][]string{}}
	for _, g := range files {
		if g.isTest() {
			continue
		}
		pkg := module + "/" + g.dir() + "."
		for _, d := range g.ast.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				s.method(pkg, d)
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch spec := spec.(type) {
					case *ast.ValueSpec:
						if d.Tok == token.CONST {
							s.constant(pkg, spec)
						}
					case *ast.TypeSpec:
						s.fields(pkg+spec.Name.Name+".", spec)
					}
				}
			}
		}
	}
	return s
}

func (s sources) constant(pkg string, spec *ast.ValueSpec) {
	typ, ok := spec.Type.(*ast.Ident)
	for _, v := range spec.Values {
		lit, isLit := v.(*ast.BasicLit)
		if !ok || !isLit || lit.Kind != token.STRING {
			continue
		}
		if text, err := strconv.Unquote(lit.Value); err == nil {
			s.consts[pkg+typ.Name] = append(s.consts[pkg+typ.Name], text)
		}
	}
}

func (s sources) fields(at string, spec *ast.TypeSpec) {
	str, ok := spec.Type.(*ast.StructType)
	if !ok {
		return
	}
	for _, f := range str.Fields.List {
		for _, name := range f.Names {
			s.comments[at+name.Name] = strings.Join(strings.Fields(f.Comment.Text()), " ")
		}
	}
}

func (s sources) method(pkg string, fn *ast.FuncDecl) {
	if fn.Recv == nil {
		return
	}
	star, ok := fn.Recv.List[0].Type.(*ast.StarExpr)
	if !ok {
		return
	}
	recv, ok := star.X.(*ast.Ident)
	if !ok {
		return
	}
	names := []string{}
	for _, p := range fn.Type.Params.List {
		for _, n := range p.Names {
			names = append(names, n.Name)
		}
	}
	s.params[pkg+recv.Name+"."+fn.Name.Name] = names
}

func (s sources) constants(t reflect.Type) []string { return s.consts[t.PkgPath()+"."+t.Name()] }

func (s sources) comment(t reflect.Type, field string) string {
	if c := s.comments[t.PkgPath()+"."+t.Name()+"."+field]; c != "" {
		return " // " + c
	}
	return ""
}
