package demo

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/fstest"
)

func TestBuiltinScripts(t *testing.T) {
	lib := Builtin()
	for _, want := range []string{DefaultScript, "quick", "tools", "error-401", "error-403", "error-429", "error-500", "error-529", "error-cut", "error-hang", "error-malformed", "error-event", "error-retry", "error-late"} {
		s, ok := lib[want]
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
	for _, c := range []struct{ name, script, at, says string }{
		{"empty", ``, "", "EOF"},
		{"half", `{"title":`, "", "EOF"},
		{"unknown field", "{\n \"title\":\"t\",\n \"stepps\":[]}", "stepps", "unknown"},
		{"repeated field", "{\"title\":\"t\",\n\"title\":\"u\",\"steps\":[]}", "", "duplicate"},
		{"wrong type", "{\"title\":\"t\",\n\"steps\":3}", "/steps", ""},
		{"no steps", `{"title":"t","steps":[]}`, "/steps", "1 to 999 steps"},
		{"unknown block", `{"title":"t","steps":[{"blocks":[{"type":"image"}]}]}`, "/steps/0/blocks/0", "not one of"},
		{"unknown template", `{"title":"t","steps":[{"blocks":[{"type":"text","text":"{{name}}"}]}]}`, "/steps/0/blocks/0", "not a template"},
		{"prompt in a command", `{"title":"t","steps":[{"blocks":[{"type":"tool_use","tool":"Bash","input":{"command":"echo {{prompt}}"}}]}]}`, "/steps/0/blocks/0", "no template but"},
		{"input no object", `{"title":"t","steps":[{"blocks":[{"type":"tool_use","tool":"Bash","input":"x"}]}]}`, "/steps/0/blocks/0", "object"},
		{"unreachable", `{"title":"t","steps":[{"blocks":[{"type":"text","text":"x"}]},{"blocks":[{"type":"text","text":"y"}]}]}`, "/steps/0", "never reached"},
		{"nothing to say", `{"title":"t","steps":[{}]}`, "/steps/0", "needs blocks"},
		{"bad status", `{"title":"t","steps":[{"error":{"kind":"status","status":200}}]}`, "/steps/0/error/status", "400 and 599"},
		{"bad kind", `{"title":"t","steps":[{"error":{"kind":"explode"}}]}`, "/steps/0/error/kind", "not one of"},
		{"cut without blocks", `{"title":"t","steps":[{"error":{"kind":"cut"}}]}`, "/steps/0", "needs blocks"},
	} {
		_, err := ParseScript("bad", []byte(c.script))
		if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), c.at) {
			t.Errorf("%s: %v, want %q at %s", c.name, err, c.says, c.at)
		}
	}
	for _, name := range []string{"", "../x", "UPPER", "a b", strings.Repeat("x", 41)} {
		if _, err := ParseScript(name, []byte(ok)); err == nil {
			t.Errorf("name %q was taken", name)
		}
	}
}

// TestFilledInput: a value that is filled into a tool's input cannot change the input's
// shape.
func TestFilledInput(t *testing.T) {
	s, err := ParseScript("s", []byte(`{"steps":[{"blocks":[{"type":"tool_use","tool":"Write","input":{"content":"<{{prompt}}>"}}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, prompt := range []string{`","file_path":"/etc/x`, "a\\", "\n{{cwd}}\u2028", "\xff"} {
		var in map[string]string
		if err := json.Unmarshal(s.pick(conversation{prompt: prompt}, false).blocks[0].Input, &in); err != nil {
			t.Fatal(err)
		}
		if want := "<" + strings.ToValidUTF8(prompt, "\ufffd") + ">"; len(in) != 1 || in["content"] != want {
			t.Errorf("%q became %q", prompt, in)
		}
	}
}

func TestLoadDir(t *testing.T) {
	one := &fstest.MapFile{Data: []byte(`{"title":"mine","steps":[{"blocks":[{"type":"text","text":"x"}]}]}`)}
	own, err := LoadDir(fstest.MapFS{"tour.json": one, "notes.md": {Data: []byte("x")}})
	if err != nil {
		t.Fatal(err)
	}
	if len(own) != 1 || own["tour"].Title != "mine" {
		t.Errorf("read %v", own.Names())
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
		if s, err := ParseScript("fuzz", data); err == nil && len(s.Steps) == 0 {
			t.Fatal("a script without steps was taken")
		}
	})
}
