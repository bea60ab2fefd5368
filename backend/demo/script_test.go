package demo

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"
)

func TestBuiltinScripts(t *testing.T) {
	lib, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{DefaultScript, "quick", "tools", "error-401", "error-403", "error-429", "error-500", "error-529", "error-cut", "error-hang", "error-malformed", "error-event", "error-retry", "error-late"} {
		s, ok := lib.Script(want)
		if !ok {
			t.Errorf("no script %q", want)
			continue
		}
		if s.Description == "" {
			t.Errorf("script %q says nothing of itself", want)
		}
	}
}

func TestParseScriptErrors(t *testing.T) {
	const ok = `{"title":"t","steps":[{"blocks":[{"type":"text","text":"x"}]}]}`
	if _, err := ParseScript("fine", []byte(ok)); err != nil {
		t.Fatal(err)
	}
	cases := []struct{ name, script, field, says string }{
		{"empty", ``, "", "EOF"},
		{"half", `{"title":`, "", "EOF"},
		{"unknown field", "{\n \"title\":\"t\",\n \"stepps\":[]}", "/stepps", "unknown"},
		{"repeated field", "{\"title\":\"t\",\n\"title\":\"u\",\"steps\":[]}", "", "duplicate"},
		{"wrong type", "{\"title\":\"t\",\n\"steps\":3}", "/steps", ""},
		{"no steps", `{"title":"t","steps":[]}`, "/steps", "needs a step"},
		{"no title", `{"steps":[{"blocks":[{"type":"text","text":"x"}]}]}`, "/title", "title is missing"},
		{"unknown block", `{"title":"t","steps":[{"blocks":[{"type":"image"}]}]}`, "/steps/0/blocks/0/type", "not one of"},
		{"unknown template", `{"title":"t","steps":[{"blocks":[{"type":"text","text":"{{name}}"}]}]}`, "/steps/0/blocks/0/text", "not a template"},
		{"prompt in a command", `{"title":"t","steps":[{"blocks":[{"type":"tool_use","tool":"Bash","input":{"command":"echo {{prompt}}"}}]}]}`, "/steps/0/blocks/0/input/command", "no template but"},
		{"input no object", `{"title":"t","steps":[{"blocks":[{"type":"tool_use","tool":"Bash","input":"x"}]}]}`, "/steps/0/blocks/0/input", "object"},
		{"unreachable", `{"title":"t","steps":[{"blocks":[{"type":"text","text":"x"}]},{"blocks":[{"type":"text","text":"y"}]}]}`, "/steps/0", "never reached"},
		{"nothing to say", `{"title":"t","steps":[{}]}`, "/steps/0", "needs blocks"},
		{"bad status", `{"title":"t","steps":[{"error":{"kind":"status","status":200}}]}`, "/steps/0/error/status", "400 and 599"},
		{"bad kind", `{"title":"t","steps":[{"error":{"kind":"explode"}}]}`, "/steps/0/error/kind", "not one of"},
		{"cut without blocks", `{"title":"t","steps":[{"error":{"kind":"cut"}}]}`, "/steps/0", "needs blocks"},
		{"header injection", `{"title":"t","steps":[{"error":{"kind":"status","status":429,"retry_after":"1\r\nX: y"}}]}`, "/steps/0/error/retry_after", "one line"},
		{"long wait", `{"title":"t","steps":[{"delay_ms":9999999,"blocks":[{"type":"text","text":"x"}]}]}`, "/steps/0/delay_ms", "not within"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := ParseScript("bad", []byte(c.script))
			e, ok := errors.AsType[*ScriptError](err)
			if !ok {
				t.Fatalf("got %v, want a *ScriptError", err)
			}
			if e.Line == 0 || e.Col == 0 {
				t.Errorf("%v has no place", e)
			}
			if c.field != "" && e.Field != c.field {
				t.Errorf("field %q, want %q", e.Field, c.field)
			}
			if !strings.Contains(e.Error(), c.says) || !strings.Contains(e.Error(), "bad.json:") {
				t.Errorf("%q does not say %q", e, c.says)
			}
		})
	}
	_, err := ParseScript("place", []byte("{\n  \"title\": \"t\",\n  \"steps\": [\n    {\"blocks\": [{\"type\": \"image\"}]}]}"))
	if e, ok := errors.AsType[*ScriptError](err); !ok || e.Line != 4 {
		t.Errorf("got %v, want line 4", err)
	}
	for _, name := range []string{"", "../x", "UPPER", "a b", strings.Repeat("x", 41)} {
		if _, err := ParseScript(name, []byte(ok)); err == nil {
			t.Errorf("name %q was taken", name)
		}
	}
	if _, err := ParseScript("big", make([]byte, maxScriptBytes+1)); err == nil {
		t.Error("an enormous script was taken")
	}
}

func TestLoadDir(t *testing.T) {
	one := &fstest.MapFile{Data: []byte(`{"title":"mine","steps":[{"blocks":[{"type":"text","text":"x"}]}]}`)}
	own, err := LoadDir(fstest.MapFS{"tour.json": one, "notes.md": {Data: []byte("x")}})
	if err != nil {
		t.Fatal(err)
	}
	base, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	both := base.With(own)
	if s, _ := both.Script("tour"); s.Title != "mine" {
		t.Error("a script of one's own does not win")
	}
	if _, ok := both.Script("quick"); !ok {
		t.Error("the built-in scripts are gone")
	}
	_, err = LoadDir(fstest.MapFS{"a.json": {Data: []byte("{")}, "b.json": {Data: []byte("[]")}})
	if err == nil || !strings.Contains(err.Error(), "a.json") || !strings.Contains(err.Error(), "b.json") {
		t.Errorf("got %v, want both files named", err)
	}
	if _, err := LoadDir(fstest.MapFS{}); err == nil {
		t.Error("an empty folder was taken")
	}
}

func FuzzParseScript(f *testing.F) {
	f.Add([]byte(`{"title":"t","steps":[{"blocks":[{"type":"text","text":"{{prompt}}"}]}]}`))
	f.Add([]byte("{\n\"title\":\"t\",\"steps\":[{\"blocks\":[{\"type\":\"tool_use\",\"tool\":\"Bash\",\"input\":{\"command\":[\"{{x}}\"]}}]}]}"))
	f.Add([]byte(`{"title":"t","steps":[{"error":{"kind":"status","status":429}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := ParseScript("fuzz", data)
		if err == nil {
			if len(s.Steps) == 0 {
				t.Fatal("a script without steps was taken")
			}
			return
		}
		e, ok := errors.AsType[*ScriptError](err)
		if !ok {
			t.Fatalf("%v is no *ScriptError", err)
		}
		if lines := 1 + strings.Count(string(data), "\n"); e.Line > lines {
			t.Fatalf("line %d of %d: %v", e.Line, lines, e)
		}
	})
}
