package policy

import (
	"strings"
	"testing"
)

// TestAgents: the agents' engine is never laxer than the one they are stacked on, and a
// document with them reads as it was written.
func TestAgents(t *testing.T) {
	deny := func(path string) []FileRule {
		return []FileRule{{Paths: []string{path}, Operations: []Operation{Read, Write}, Decision: Deny}}
	}
	p := Policy{Name: "person", DefaultDecision: Allow, Debuggers: true, FileRules: deny("/keys"),
		Agents: &Agents{Files: []string{"/usr/bin/claude"}, Policy: Policy{Name: "agent", DefaultDecision: Allow, FileRules: deny("/startup"),
			Tighten: []Policy{{FileRules: deny("/project")}}}}}
	read, err := Parse(p.Encode())
	if err != nil {
		t.Fatal(err)
	}
	if string(read.Encode()) != string(p.Encode()) {
		t.Errorf("%s", read.Encode())
	}
	e, err := Compile(read)
	if err != nil {
		t.Fatal(err)
	}
	files, agents := e.Agents()
	if len(files) != 1 || files[0] != "/usr/bin/claude" || agents == nil || !e.ReadsMatter() {
		t.Fatalf("%v, %v", files, agents)
	}
	only := read
	only.FileRules = nil // the filter is the same for all: what agents may not read is held for everybody
	if e, err := Compile(only); err != nil || !e.ReadsMatter() {
		t.Errorf("reads of agents alone pass: %v", err)
	}
	if !e.Debuggers() || agents.Debuggers() {
		t.Errorf("the person's programs may debug each other: %t, an agent them: %t", e.Debuggers(), agents.Debuggers())
	}
	for path, want := range map[string][2]Decision{
		"/keys": {Deny, Deny}, "/startup": {Allow, Deny}, "/project": {Allow, Deny}, "/else": {Allow, Allow},
	} {
		if mine, theirs := e.File(Write, path).Decision, agents.File(Write, path).Decision; mine != want[0] || theirs != want[1] {
			t.Errorf("%s: %s and %s", path, mine, theirs)
		}
	}
	for _, bad := range []string{
		`{"default_decision":"allow","agents":{}}`,
		`{"default_decision":"allow","agents":{"files":[],"policy":{"default_decision":"allow"}}}`,
		`{"default_decision":"allow","agents":{"files":["claude"],"policy":{"default_decision":"allow"}}}`,
		`{"default_decision":"allow","agents":{"files":["/claude"]}}`,
		`{"default_decision":"allow","agents":{"files":["/claude"],"policy":{}}}`,
		`{"default_decision":"allow","agents":{"files":["/claude"],"policy":{"default_decision":"allow","agents":{}}}}`,
		`{"default_decision":"allow","tighten":[{"agents":{}}]}`,
		`{"default_decision":"allow","tighten":[{"debuggers":true}]}`,
		`{"default_decision":"allow","debuggers":1}`,
		`{"default_decision":"allow","agents":{"files":["/claude"],"policy":{"default_decision":"allow","debuggers":true}}}`,
	} {
		if _, err := Parse([]byte(bad)); err == nil || !strings.Contains(err.Error(), "line 1") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func TestStrictness(t *testing.T) {
	for name, want := range map[string]int{NamePerson: Lax, NameSystem: Lax, NameAgent: Strict, NamePlan: Strictest, "": Strict, "Person": Strict} {
		e, err := Compile(Policy{Name: name, DefaultDecision: Allow})
		if err != nil || e.Strictness() != want {
			t.Errorf("%q: %v (%v)", name, e.Strictness(), err)
		}
	}
}
