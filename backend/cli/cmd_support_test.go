package cli

import (
	"archive/zip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loop/backend/core"
)

// TestSupport packs what helps, and nothing that is the person's own.
func TestSupport(t *testing.T) {
	r := newRig(t)
	home := t.TempDir()
	log := strings.Repeat("level=INFO msg=spawned dir=/srv/secret-project/x channel=secret-project key=sk-ant-api03-abcdefghijkl\n", 10)
	if err := os.WriteFile(filepath.Join(home, "loop.log"), []byte(log), 0o600); err != nil {
		t.Fatal(err)
	}
	field := func(name, kind string, value any, layers ...any) map[string]any {
		return map[string]any{"name": name, "kind": kind, "value": value, "layers": layers}
	}
	set := map[string]any{}
	r.fake.answers["System.Snapshot"] = map[string]any{"version": "1.2.3",
		"channels": []any{core.Channel{ID: "c", Name: "secret-project", Dir: "/srv/secret-project"}}}
	r.fake.answers["System.Doctor"] = map[string]any{"checks": []any{map[string]any{"id": "disk", "state": "ok", "summary": "Wrote in /srv/secret-project."}}}
	r.fake.answers["Settings.Get"] = map[string]any{"path": filepath.Join(home, "config.json"), "fields": []any{
		field("container_memory_mb", "integer", 512, set), field("container_cpus", "number", 2),
		field("claude_append_prompt", "text", "my own words", set), field("anthropic_base_url", "text", ""),
	}}
	at := filepath.Join(r.dir, "out.zip")
	if code := r.run("support", at); code != exitOK {
		t.Fatalf("exit %d: %s", code, r.err.String())
	}
	r.wantIn("out", "Look through it before you give it to anybody.")
	z, err := zip.OpenReader(at)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	texts := map[string]string{}
	for _, f := range z.File {
		c, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(c)
		if err != nil {
			t.Fatal(err)
		}
		texts[f.Name] = string(text)
		for _, own := range []string{"secret-project", "sk-ant", "my own words"} {
			if strings.Contains(string(text), own) {
				t.Errorf("%s has %q", f.Name, own)
			}
		}
	}
	for name, want := range map[string]string{"about.txt": "Loop 1.2.3 on ", "checks.json": "Wrote in <project 1>.", "loop.log": "dir=<project 1>/x",
		"settings.txt": "container_memory_mb = 512\nclaude_append_prompt is set\n", "engine.json": "{", "containers.json": "null"} {
		if !strings.Contains(texts[name], want) {
			t.Errorf("%s: %.200q", name, texts[name])
		}
	}
	if info, err := os.Stat(at); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	before, err := os.ReadFile(at)
	if err != nil {
		t.Fatal(err)
	}
	if code := r.run("support", at); code == exitOK {
		t.Error("a file was replaced")
	}
	r.wantIn("err", "There is a "+at+" already.")
	if after, err := os.ReadFile(at); err != nil || string(after) != string(before) {
		t.Errorf("it changed: %v", err)
	}
	if code := r.run("support", filepath.Join(r.dir, "none", "x.zip")); code == exitOK {
		t.Error("no folder, no archive")
	}
	r.wantIn("err", "Name another file.")
}
