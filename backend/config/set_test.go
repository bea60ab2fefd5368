package config

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestEdit(t *testing.T) {
	for _, c := range []struct {
		name, in, field string
		value           any
		want            string
	}{
		{"empty", "", "theme", "dark", "{\n  \"theme\": \"dark\"\n}\n"},
		{"empty object", "{}", "theme", "dark", "{\n  \"theme\": \"dark\"\n}"},
		{"replace", "// top\n{\n\t// why\n\t\"theme\": /*a*/ \"dark\" /*b*/, // c\n}\n", "theme", "light", "// top\n{\n\t// why\n\t\"theme\": /*a*/ \"light\" /*b*/, // c\n}\n"},
		{"append", "{\n\t\"theme\": \"dark\" // c\n\t// last\n}\n", "container_cpus", 2.5, "{\n\t\"theme\": \"dark\", // c\n\t// last\n\t\"container_cpus\": 2.5\n}\n"},
		{"append after comma", "{\n    \"theme\": \"dark\", // c\n}\n", "anthropic_api_key", Secret("sk-<&>"), "{\n    \"theme\": \"dark\", // c\n    \"anthropic_api_key\": \"sk-<&>\"\n}\n"},
		{"one line", `{"theme": "dark"}`, "log_level", "debug", "{\"theme\": \"dark\",\n  \"log_level\": \"debug\"\n}"},
		{"crlf", "{\r\n  \"theme\": \"dark\"\r\n}\r\n", "log_level", "debug", "{\r\n  \"theme\": \"dark\",\r\n  \"log_level\": \"debug\"\r\n}\r\n"},
		{"bom", "\xef\xbb\xbf{\n  \"theme\": \"dark\"\n}", "theme", "light", "\xef\xbb\xbf{\n  \"theme\": \"light\"\n}"},
		{"nested", "{\n  \"font_sizes\": {\n    \"chat\": 12 // mine\n  }\n}\n", "font_sizes.chat", 14, "{\n  \"font_sizes\": {\n    \"chat\": 14 // mine\n  }\n}\n"},
		{"nested new", "{\n  \"font_sizes\": {\n    \"chat\": 12\n  }\n}\n", "font_sizes.panels", 14, "{\n  \"font_sizes\": {\n    \"chat\": 12,\n    \"panels\": 14\n  }\n}\n"},
		{"nested absent", "{\n  \"theme\": \"dark\"\n}\n", "font_sizes.chat", 14, "{\n  \"theme\": \"dark\",\n  \"font_sizes\": {\n    \"chat\": 14\n  }\n}\n"},
		{"remove", "{\n  // a\n  \"theme\": \"dark\",\n  // b\n  \"log_level\": \"info\"\n}\n", "theme", nil, "{\n  // a\n  // b\n  \"log_level\": \"info\"\n}\n"},
		{"remove last", "{\n  \"log_level\": \"info\",\n  // a\n  \"theme\": \"dark\",\n}\n", "theme", nil, "{\n  \"log_level\": \"info\",\n  // a\n}\n"},
		{"remove absent", "{}", "theme", nil, "{}"},
		{"keeps unknown", "{\"zzz\": [1, /*x*/ 2,],\n \"theme\": \"dark\"}", "theme", "light", "{\"zzz\": [1, /*x*/ 2,],\n \"theme\": \"light\"}"},
		{"no last line end", "{\"theme\": \"dark\"} // x", "theme", "light", "{\"theme\": \"light\"} // x"},
		{"list", "{}", "mounts", []string{"a-b:/c"}, "{\n  \"mounts\": [\"a-b:/c\"]\n}"},
	} {
		out, err := edit("c", []byte(c.in), c.field, c.value)
		if err != nil || string(out) != c.want {
			t.Errorf("%s: %v\n got %q\nwant %q", c.name, err, out, c.want)
		}
		if _, problems, err := Parse("c", out); err != nil {
			t.Errorf("%s: %v %v", c.name, problems, err)
		}
	}
	for _, c := range []struct {
		in, field string
		value     any
		part      string
	}{
		{"{", "theme", "dark", "has an error"},
		{"[]", "theme", "dark", "does not hold an object"},
		{"{\"theme\": \"dark\", \"theme\": \"light\"}", "theme", "dark", "twice"},
		{"{}", "log_level", "pink", "must be one of"},
		{"{}", "container_memory_mb", "x", "whole number"},
		{"{}", "theme", make(chan int), "cannot be written"},
		{"{\"font_sizes\": 1}", "font_sizes.chat", 14, "not an object"},
	} {
		if out, err := edit("c", []byte(c.in), c.field, c.value); err == nil || !strings.Contains(err.Error(), c.part) {
			t.Errorf("%q: %q, %v; want %q", c.in, out, err, c.part)
		}
	}
}

func TestSet(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "sub", FileName)
	if err := Set(path, "nope", 1); err == nil {
		t.Error("an unknown field was written")
	}
	if err := Set(path, "anthropic_api_key", "k"); err != nil {
		t.Fatal(err)
	}
	if c, problems, err := Load(path); err != nil || len(problems) != 0 || c.AnthropicAPIKey != "k" {
		t.Error(problems, err)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Error(info.Mode(), err)
	}
	if err := os.WriteFile(path, []byte("{ broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Set(path, "theme", "dark"); err == nil {
		t.Error("a broken file was edited")
	}
	if b, _ := os.ReadFile(path); string(b) != "{ broken" {
		t.Errorf("it became %q", b)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "sub", ".config-*")); len(left) != 0 {
		t.Error("left behind:", left)
	}
	link := filepath.Join(dir, FileName)
	if err := os.WriteFile(path, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if os.Symlink(path, link) != nil {
		return
	}
	if err := Set(link, "theme", "dark"); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link was replaced")
	}
	if c, _, err := Load(path); err != nil || c.Theme != "dark" {
		t.Error(err)
	}
}
