package policy

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the table in docs/gate-policy.md")

const page = "../../docs/gate-policy.md"

// TestPageShowsTheBaseline keeps the table in the documentation true.
func TestPageShowsTheBaseline(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(text), "-update -->\n")
	_, tail, ok2 := strings.Cut(rest, "<!-- end -->")
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the table", page)
	}
	want := head + "-update -->\n" + table(t) + "<!-- end -->" + tail
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(text) != want {
		t.Errorf("the table in %s is not the baseline: go test ./backend/policy -run Page -update", page)
	}
}

// TestPageExampleIsAPolicy reads the example as Loop would.
func TestPageExampleIsAPolicy(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "```json\n")
	doc, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("no example")
	}
	p, err := Parse([]byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	e := compiled(t, p)
	if v := e.File(Read, "/home/ada/x.pem"); v.Rule != "keys" {
		t.Errorf("%+v", v)
	}
	if v := e.Exec(Command{Path: "/usr/bin/git", Argv: []string{"git", "push", "--force"}}); v.Decision != Approve {
		t.Errorf("%+v", v)
	}
}

// table has a row for each rule, with what each policy says.
func table(t *testing.T) string {
	t.Helper()
	type row struct {
		id, what string
		says     [4]Decision
	}
	var rows []*row
	find := func(id string) *row {
		for _, r := range rows {
			if r.id == id {
				return r
			}
		}
		rows = append(rows, &row{id: id})
		return rows[len(rows)-1]
	}
	place := Place{Workspaces: []string{"/PROJECT"}, State: []string{"/opt/loop/.claude"}, RunDir: "/run/loop/runs/ID",
		CredentialGrants: []string{"/GRANTED"}}
	for i, name := range []string{NameAgent, NamePerson, NameSystem, NamePlan} {
		p, err := Baseline(name, place)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range p.FileRules {
			row := find(r.ID)
			row.says[i], row.what = r.Decision, OperationWords(r.Operations)+" "+patternWords(r.Paths)
		}
		sockets := map[string][]string{}
		for _, r := range p.PathRules {
			sockets[r.ID] = append(sockets[r.ID], r.Pattern)
			row := find(r.ID)
			row.says[i], row.what = r.Decision, "connect to "+patternWords(sockets[r.ID])
		}
		for _, r := range p.SiteRules {
			row := find(r.ID)
			row.says[i], row.what = r.Decision, "opening "+SiteWords(r.Sites)+" in the browser"
		}
		for _, r := range p.CommandRules {
			row := find(r.ID)
			row.says[i] = r.Decision
			row.what = map[string]string{
				"command.rm-inside": "`rm` of relative paths and paths below PROJECT, `/tmp` or `/var/tmp`",
				"command.rm":        "`rm -r` of any other absolute path",
			}[r.ID]
			if row.what == "" {
				t.Errorf("%s has no words", r.ID)
			}
		}
	}
	var b strings.Builder
	b.WriteString("\n| rule | agent | person | system | plan | covers |\n|---|---|---|---|---|---|\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s |\n", r.id, r.says[0], r.says[1], r.says[2], r.says[3], r.what)
	}
	b.WriteString("\n")
	return b.String()
}

func patternWords(patterns []string) string {
	var words []string
	for _, p := range patterns {
		if p = Shown(p, []string{"/PROJECT"}, "PROJECT"); p != "" {
			words = append(words, "`"+p+"`")
		}
	}
	return strings.Join(words, ", ")
}
