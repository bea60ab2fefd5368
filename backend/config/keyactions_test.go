package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"loop/backend/core"
)

func loadText(t *testing.T, text string) (Config, []core.SettingsProblem) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, problems, _ := Load(path) // the problems say more than the error
	return c, problems
}

func TestKeysOfActions(t *testing.T) {
	c, problems := loadText(t, `{"keys": {"page.palette": ["Ctrl+Shift+P", "mod+F1", "Alt+Up", "?", "Ctrl++"], "timeline.fork": [], "page.stop": null}}`)
	if len(problems) != 0 {
		t.Fatalf("%+v", problems)
	}
	k := c.Keys
	if len(k) != 2 || !slices.Equal(k["page.palette"], []string{"Ctrl+Shift+P", "mod+F1", "Alt+Up", "?", "Ctrl++"}) || k["timeline.fork"] == nil || len(k["timeline.fork"]) != 0 {
		t.Errorf("%#v", k)
	}
}

func TestKeysThatAreWrong(t *testing.T) {
	tests := []struct {
		name, text    string
		line, col     int
		message, hint string
		warning       bool
	}{
		{"unknown action", `{"keys": {"page.palete": ["F1"]}}`, 1, 11, "no action", "Did you mean “page.palette”?", true},
		{"strange action", `{"keys": {"a\u202eb": ["F1"]}}`, 1, 11, `a\u202eb`, "docs/keys.md", true},
		{"no key", `{"keys": {"page.stop": ["F1", "Ctl+P"]}}`, 1, 31, "is no key", "Write it like", false},
		{"control character", `{"keys": {"page.stop": ["\u0007"]}}`, 1, 25, "is no key", "", false},
		{"a modifier twice", `{"keys": {"page.stop": ["Ctrl+ctrl+P"]}}`, 1, 25, "is no key", "", false},
		{"an answer", `{"keys": {"page.stop": ["ctrl+enter"]}}`, 1, 25, "answers in cards", "another key", false},
		{"a digit", `{"keys": {"page.stop": ["1"]}}`, 1, 25, "answers in cards", "", false},
		{"no list", `{"keys": {"page.stop": "F1"}}`, 1, 24, "list of texts", "[]", false},
		{"a list of something else", `{"keys": {"page.stop": [1]}}`, 1, 24, "list of texts", "", false},
		{"too many", `{"keys": {"page.stop": ["F1","F2","F3","F4","F5","F6","F7","F8","F9"]}}`, 1, 65, "more than 8", "", false},
		{"no object", `{"keys": []}`, 1, 10, "must be an object", "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, problems := loadText(t, tt.text)
			if len(problems) != 1 {
				t.Fatalf("%+v", problems)
			}
			p := problems[0]
			if p.Line != tt.line || p.Col != tt.col || p.Warning != tt.warning || !strings.Contains(p.Message, tt.message) || !strings.Contains(p.Remedy, tt.hint) {
				t.Errorf("%+v", p)
			}
			if len(c.Keys) != 0 {
				t.Errorf("in force: %v", c.Keys)
			}
		})
	}
}

// A project's file cannot change keys, and an edit keeps what it does not know.
func TestKeysAreThePersons(t *testing.T) {
	g := global(t, `{"keys": {"page.stop": ["F9"]}}`)
	e := ForDir(g, new(Trust), project(t, t.TempDir(), `{"keys": {"page.stop": ["F1"]}}`), "")
	if !slices.Equal(e.Config.Keys["page.stop"], []string{"F9"}) || len(e.Problems) != 1 {
		t.Errorf("%v %+v", e.Config.Keys, e.Problems)
	}
	path := filepath.Join(t.TempDir(), "config.json")
	if err := os.WriteFile(path, []byte("{\n  // mine\n  \"keys\": {\n    \"later.action\": [\"F7\"] // from a newer one\n  }\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Set(path, "keys.page.stop", []string{"F9"}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(text), `"later.action": ["F7"], // from a newer one`) || !strings.Contains(string(text), `"page.stop": ["F9"]`) || !strings.Contains(string(text), "// mine") {
		t.Errorf("%s %v", text, err)
	}
	if err := Set(path, "keys.page.stop", []string{"Mod+Enter"}); err == nil || !strings.Contains(err.Error(), "answers in cards") {
		t.Errorf("%v", err)
	}
	if err := Set(path, "keys.page.stop", nil); err != nil {
		t.Fatal(err)
	}
	if c, _, err := Load(path); err != nil || len(c.Keys) != 0 {
		t.Errorf("%v %v", err, c.Keys)
	}
}
