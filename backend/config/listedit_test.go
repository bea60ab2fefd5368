package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loop/backend/core"
	"loop/backend/policy"
)

const commented = `{
  // top
  "theme": "dark", // why
  "gates": {"agentgate": {"file_rules": [
    // the first
    {"id": "a", "decision": "allow"}, // after a
    /* the second */
    {"id": "b", "decision": "deny"},
  ]}}
}`

func TestListEntriesAreEditedAlone(t *testing.T) {
	rule := policy.FileRule{ID: "n", Paths: []string{"/x"}, Decision: policy.Deny}
	const n = `{"id":"n","paths":["/x"],"decision":"deny"}`
	a, b := "    // the first\n    {\"id\": \"a\", \"decision\": \"allow\"},", "    {\"id\": \"b\", \"decision\": \"deny\"},"
	for name, c := range map[string]struct {
		change ListChange
		has    []string // in this order
		lacks  string
	}{
		"insert first":  {ListChange{Action: ListInsert, Value: rule}, []string{"[\n    " + n + ",\n" + a, b, "]"}, ""},
		"insert second": {ListChange{Action: ListInsert, Index: 1, Value: rule}, []string{a, "\n    " + n + ",", b}, ""},
		"insert last":   {ListChange{Action: ListInsert, Index: 2, Value: rule}, []string{a, b, "\n    " + n + ",\n  ]"}, ""},
		"replace":       {ListChange{Action: ListReplace, Index: 1, Value: rule}, []string{a, "/* the second */\n    {\"id\": \"n\", \"decision\": \"deny\", \"paths\": [\"/x\"]},\n  ]"}, `"b"`},
		"remove first":  {ListChange{Action: ListRemove}, []string{"// the first", "/* the second */", b}, `"a"`},
		"remove last":   {ListChange{Action: ListRemove, Index: 1}, []string{a, "// after a", "/* the second */", "]"}, `"b"`},
		"move down":     {ListChange{Action: ListMove, To: 1}, []string{`"id": "b"`, "// the first", `"id": "a"`, "]"}, ""},
		"move up":       {ListChange{Action: ListMove, Index: 1}, []string{`"id": "b"`, "// the first", `"id": "a"`, "]"}, ""},
	} {
		c.change.Field = "gates.agentgate.file_rules"
		out, err := editList("f", []byte(commented), c.change)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if doc := decode("f", out); failure(doc.problems) != nil || !strings.HasPrefix(string(out), "{\n  // top\n  \"theme\": \"dark\", // why\n") {
			t.Errorf("%s: %v\n%s", name, doc.problems, out)
		}
		rest := string(out)
		for _, part := range c.has {
			_, after, ok := strings.Cut(rest, part)
			if !ok {
				t.Errorf("%s: no %q in\n%s", name, part, out)
				break
			}
			rest = after
		}
		if c.lacks != "" && strings.Contains(string(out), c.lacks) {
			t.Errorf("%s: has %q\n%s", name, c.lacks, out)
		}
	}
}

func TestListChangesThatCannotBe(t *testing.T) {
	file := filepath.Join(t.TempDir(), FileName)
	if err := os.WriteFile(file, []byte(commented), 0o600); err != nil {
		t.Fatal(err)
	}
	e := Editor{History: OpenHistory(t.TempDir()), Trust: new(Trust)}
	for name, c := range map[string]ListChange{
		"no entry":  {Action: ListRemove, Index: 2},
		"before":    {Action: ListInsert, Index: -1, Value: policy.FileRule{Decision: policy.Deny}},
		"past":      {Action: ListMove, Index: 0, To: 2},
		"no word":   {Action: ListInsert, Value: policy.FileRule{Decision: "maybe"}},
		"category":  {Action: ListReplace, Value: policy.FileRule{Decision: policy.Deny, Category: policy.Escape}},
		"of none":   {Field: "gates.agentgate.path_rules", Action: ListRemove},
		"no field":  {Field: "gates.agentgate.rules", Action: ListRemove},
		"one value": {Field: "theme", Action: ListRemove},
	} {
		if c.Field == "" {
			c.Field = "gates.agentgate.file_rules"
		}
		if err := e.List(GlobalFile(file), c); core.AsFailure(err).Code == core.CodeInternal {
			t.Errorf("%s: %v", name, err)
		}
		if now, err := os.ReadFile(file); err != nil || string(now) != commented {
			t.Errorf("%s: the file has changed: %s %v", name, now, err)
		}
	}
	if err := e.List(GlobalFile(file), ListChange{Field: "gates.agentgate.path_rules", Action: ListInsert,
		Value: policy.PathRule{Pattern: "/s", Decision: policy.Deny}}); err != nil {
		t.Error(err)
	}
	if now, err := os.ReadFile(file); err != nil || !strings.Contains(string(now), `"path_rules": [{"pattern":"/s","decision":"deny"}]`) {
		t.Errorf("%s %v", now, err)
	}
	inline, err := editList("f", []byte(`{"gates":{"agentgate":{"file_rules":[{"decision":"deny"}]}}}`),
		ListChange{Field: "gates.agentgate.file_rules", Action: ListInsert, Index: 1, Value: policy.FileRule{Decision: policy.Allow}})
	if err != nil || string(inline) != `{"gates":{"agentgate":{"file_rules":[{"decision":"deny"}, {"decision":"allow"}]}}}` {
		t.Errorf("%s %v", inline, err)
	}
}

func TestAnEntryThatIsReplacedKeepsWhatIsTheSame(t *testing.T) {
	rule := policy.FileRule{ID: "a", Paths: []string{"/x"}, Decision: policy.Deny}
	off := rule
	off.Off = true
	for name, c := range map[string]struct {
		entry string
		value policy.FileRule
		want  string
	}{
		"on one line": {`{"id": "a", /* mine */ "paths": ["/x"], "decision": "deny"}`, off,
			`{"id": "a", /* mine */ "paths": ["/x"], "decision": "deny", "off": true}`},
		"back on":         {`{"id": "a", "paths": [ "/x" ], "decision": "deny", "off": true}`, rule, `{"id": "a", "paths": [ "/x" ], "decision": "deny"}`},
		"back on, first":  {`{"off": true, "id": "a", "paths": ["/x"], "decision": "deny"}`, rule, `{ "id": "a", "paths": ["/x"], "decision": "deny"}`},
		"trailing comma":  {`{"id":"a","paths":["/x"],"decision":"deny",}`, off, `{"id":"a","paths":["/x"],"decision":"deny", "off":true,}`},
		"comment at last": {"{\"id\": \"a\", \"paths\": [\"/x\"], \"decision\": \"deny\", // now\n \"off\": true}", rule, "{\"id\": \"a\", \"paths\": [\"/x\"], \"decision\": \"deny\" // now\n}"},
		"on lines": {"{\n      // why\n      \"id\": \"a\",\n      \"paths\": [\n        \"/x\", // one\n      ],\n      \"decision\": \"deny\" // no\n    }", off,
			"{\n      // why\n      \"id\": \"a\",\n      \"paths\": [\n        \"/x\", // one\n      ],\n      \"decision\": \"deny\", // no\n      \"off\": true\n    }"},
	} {
		text := "{\"gates\": {\"agentgate\": {\"file_rules\": [\n    " + c.entry + "\n  ]}}}"
		out, err := editList("f", []byte(text), ListChange{Field: "gates.agentgate.file_rules", Action: ListReplace, Value: c.value})
		if want := strings.Replace(text, c.entry, c.want, 1); err != nil || string(out) != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, out, want)
			continue
		}
		if doc := decode("f", out); failure(doc.problems) != nil || doc.config.Gates.AgentGate.FileRules[0].Off != c.value.Off {
			t.Errorf("%s: %v", name, doc.problems)
		}
	}
}
