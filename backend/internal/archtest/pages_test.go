package archtest

import (
	"flag"
	"fmt"
	"go/ast"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loop/backend/config"
)

var update = flag.Bool("update", false, "rewrite the generated part of docs/configuration.md, and the contract of the page")

const (
	tableBegin = "<!-- fields: generated from backend/config by “make gen” -->\n"
	tableEnd   = "<!-- end of fields -->\n"
)

// TestConfigurationPage: the reference page agrees with config.Config.
func TestConfigurationPage(t *testing.T) {
	const page = "docs/configuration.md"
	text := read(t, page)
	before, rest, ok := strings.Cut(text, tableBegin)
	_, after, ok2 := strings.Cut(rest, tableEnd)
	if !ok || !ok2 {
		t.Fatalf("%s lacks the marks around its table", page)
	}
	want := before + tableBegin + fieldTable() + tableEnd + after
	if want == text {
		return
	}
	if !*update {
		t.Fatalf("%s does not say what backend/config says; run “make gen”", page)
	}
	if err := os.WriteFile(filepath.Join(root, page), []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestPartsOfTheImage: the script installs exactly the parts that image_tools can
// switch off.
func TestPartsOfTheImage(t *testing.T) {
	script := read(t, "agentimage/install-tools.sh")
	parts := config.ImageTools{}.Off()
	for _, part := range parts {
		if !strings.Contains(script, "\nadd "+part+" ") && !strings.Contains(script, "with "+part+";") {
			t.Errorf("agentimage/install-tools.sh does not know the part %s", part)
		}
	}
	if n := strings.Count(script, "\nadd ") + 2; n != len(parts) { // node and pnpm are added in another way
		t.Errorf("the script knows %d parts, image_tools %d", n, len(parts))
	}
}

func fieldTable() string {
	var b strings.Builder
	b.WriteString("\n| field | default | unit | merge | project | |\n|---|---|---|---|---|---|\n")
	for _, f := range config.Leaves() {
		def := f.Default
		if def == "" {
			def = "none"
		} else {
			def = "`" + def + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s |\n", f.Name, def, f.Unit, f.Merge, f.Project, strings.ReplaceAll("*"+f.Title+".* "+f.Doc+bounds(f)+restart(f), "|", `\|`))
	}
	b.WriteString("\n")
	return b.String()
}

// restart marks a field whose change applies only at the next start.
func restart(f config.Field) string {
	if f.Restart {
		return " Counts after a restart."
	}
	return ""
}

func bounds(f config.Field) string {
	switch {
	case f.Min != "" && f.Max != "":
		return fmt.Sprintf(" From %s to %s.", f.Min, f.Max)
	case len(f.OneOf) > 0:
		var names []string
		for _, o := range f.OneOf {
			if o != "" {
				names = append(names, "`"+o+"`")
			}
		}
		return " One of " + strings.Join(names, ", ") + "."
	}
	return ""
}

// TestProtocolPageNamesEveryCall: the page about the protocol has every call of the
// window.
func TestProtocolPageNamesEveryCall(t *testing.T) {
	text := read(t, "docs/protocol.md")
	found := 0
	for _, g := range goFiles(t) {
		if g.dir() != "backend/bind" || g.isTest() {
			continue
		}
		for _, d := range g.ast.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv == nil || !fn.Name.IsExported() {
				continue
			}
			star, ok := fn.Recv.List[0].Type.(*ast.StarExpr)
			if !ok {
				continue
			}
			id, ok := star.X.(*ast.Ident)
			if !ok || id.Name != "Channels" && id.Name != "Runs" && id.Name != "Settings" && id.Name != "System" && id.Name != "Terminals" && id.Name != "App" {
				continue
			}
			found++
			if call := id.Name + "." + fn.Name.Name + "("; !strings.Contains(text, call) {
				t.Errorf("%s: docs/protocol.md does not name %s)", g.pos(fn), call)
			}
		}
	}
	if found < 10 {
		t.Errorf("only %d calls found in backend/bind: the test looks in the wrong place", found)
	}
}
