package config

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"loop/backend/core"
)

func TestEditorSet(t *testing.T) {
	e, f := newEditor(t)
	write(t, f.Path, "{\n  // mine\n  \"envs\": {\"A_TOKEN\": \"t1\", \"B\": \"x\"}, // why\n}\n")
	for _, c := range []struct {
		field string
		value any
		want  string
	}{
		{"envs.B", "y", `"envs": {"A_TOKEN": "t1", "B": "y"}, // why`},
		{"envs.C.D", 1, `"C.D": 1`},
		{"envs.B", nil, `"envs": {"A_TOKEN": "t1",`},
		{"mcp.servers.gh", map[string]any{"command": "npx", "args": []string{"-y", "@modelcontextprotocol/server-github", "--with-a-long-argument"}}, "\n    \"servers\": {\n      \"gh\": {\n        \"args\": [\n"},
		{"mounts", []any{"a-b:/c"}, `"mounts": ["a-b:/c"]`},
		{"claude_retry.max_attempts", float64(3), `"max_attempts": 3`},
		// A hidden value that comes back as Hidden is unchanged.
		{"envs", map[string]any{"A_TOKEN": Hidden, "Z": "z"}, `"envs": {"A_TOKEN":"t1","Z":"z"}, // why`},
		{"font_sizes", map[string]any{"chat": 15}, `"font_sizes": {"chat":15}`},
	} {
		err := e.Set(f, c.field, c.value)
		data, _ := os.ReadFile(f.Path)
		if err != nil || !strings.Contains(string(data), c.want) || !strings.Contains(string(data), "// mine") {
			t.Errorf("%s: %v\n%s", c.field, err, data)
		}
		if _, problems, err := Parse("c", data); err != nil {
			t.Errorf("%s: %v", c.field, problems)
		}
	}
	before, _ := os.ReadFile(f.Path)
	for field, value := range map[string]any{
		"nonsense": 1, "envs.": 1, "mcp.servers.bad name": map[string]any{"command": "x"}, "mcp.servers.x": map[string]any{}, "claude_retry.max_attempts": 0,
		"inherit_mounts": false, "envs.NEW_TOKEN": Hidden, "log_level": "pink",
	} {
		if err := e.Set(f, field, value); err == nil || core.AsFailure(err).Code != core.CodeInvalid {
			t.Errorf("%s: %v", field, err)
		}
	}
	if after, _ := os.ReadFile(f.Path); string(after) != string(before) {
		t.Errorf("a refused change changed the file:\n%s", after)
	}
}

func TestEditorRaw(t *testing.T) {
	e, f := newEditor(t)
	if text, sum, err := e.Raw(f); text != "" || sum != "" || err != nil {
		t.Errorf("%q %q %v", text, sum, err)
	}
	if err := e.SetRaw(f, "{\"anthropic_api_key\": \"sk-1\"}\n", ""); err != nil {
		t.Fatal(err)
	}
	text, sum, err := e.Raw(f)
	if err != nil || strings.Contains(text, "sk-1") || sum != sumOf([]byte("{\"anthropic_api_key\": \"sk-1\"}\n")) {
		t.Errorf("%q %v", text, err)
	}
	text = strings.Replace(text, "{", "{\"theme\": \"dark\",\n", 1)
	if err := e.SetRaw(f, text, ""); !errors.Is(err, core.ErrConflict) || core.AsFailure(err).Code != core.CodeConflict {
		t.Errorf("%v", err)
	}
	if err := e.SetRaw(f, text, sum); err != nil {
		t.Fatal(err)
	}
	if data, _ := os.ReadFile(f.Path); string(data) != "{\"theme\": \"dark\",\n\"anthropic_api_key\": \"sk-1\"}\n" {
		t.Errorf("%s", data)
	}
	_, sum, _ = e.Raw(f)
	for _, bad := range []string{"", "{", "{\"log_level\": \"pink\"}", "{\"claude_code_oauth_token\": \"" + Hidden + "\"}", "{}" + strings.Repeat(" ", MaxSize)} {
		if err := e.SetRaw(f, bad, sum); err == nil {
			t.Errorf("%.40q passed", bad)
		}
	}
	if got := sources(t, e.History, f); got != "settings+2-1 settings+1-0" && got != "settings+2-1 initial+1-0" {
		t.Errorf("%s", got)
	}
}

func TestEditorKeepsTrustOnlyWhereItWas(t *testing.T) {
	e, _ := newEditor(t)
	g := global(t, `{}`)
	dir := t.TempDir()
	f := ProjectFile(dir)
	waiting := func() bool { return len(ForDir(g, e.Trust, dir, "").Pending) > 0 }
	// The owner makes a new file.
	if err := e.Set(f, "mounts", []string{"a-b:/a"}); err != nil || waiting() {
		t.Fatalf("%v, waiting %v", err, waiting())
	}
	if info, err := os.Stat(f.Path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o644 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	if err := e.Set(f, "envs.A", "1"); err != nil || waiting() {
		t.Fatalf("%v, waiting %v", err, waiting())
	}
	// Another person's change waits, and still waits when the owner adds one.
	project(t, dir, `{"mounts": ["/:/host"]}`)
	if err := e.Set(f, "claude_model", "opus"); err != nil || !waiting() {
		t.Fatalf("%v, waiting %v", err, waiting())
	}
	if c := ForDir(g, e.Trust, dir, "").Config; len(c.Mounts) != 0 || c.ClaudeModel != "opus" {
		t.Errorf("%+v", c)
	}
	// A field that needs approval waits too, even when its value is the default.
	project(t, dir, `{"container_image": "loop-agent:latest"}`)
	if err := e.Set(f, "mounts", []string{"a-b:/a"}); err != nil || !waiting() {
		t.Fatalf("%v, waiting %v", err, waiting())
	}
	// A file without such a field is no danger.
	project(t, dir, `{"claude_model": "opus"}`)
	if err := e.Set(f, "mounts", []string{"a-b:/a"}); err != nil || waiting() {
		t.Fatalf("%v, waiting %v", err, waiting())
	}
	// A refused edit leaves the approval as it was.
	if err := e.Set(f, "claude_effort", "tiny"); err == nil || waiting() {
		t.Errorf("%v, waiting %v", err, waiting())
	}
	if err := e.Set(f, "theme", "dark"); err == nil {
		t.Error("an app's field in a project's file")
	}
	if err := e.Set(f, "inherit_mounts", false); err != nil || waiting() {
		t.Errorf("%v", err)
	}
	if err := e.Set(f, "mounts", nil); err != nil || waiting() {
		t.Errorf("%v", err)
	}
}

// TestEditorStaysInTheProject: the editor does not follow links that an agent makes.
func TestEditorStaysInTheProject(t *testing.T) {
	e, _ := newEditor(t)
	outside := t.TempDir()
	write(t, filepath.Join(outside, FileName), `{}`)
	for name, link := range map[string]func(dir string) error{
		"folder": func(dir string) error { return os.Symlink(outside, filepath.Join(dir, ProjectFolder)) },
		"file": func(dir string) error {
			return errors.Join(os.Mkdir(filepath.Join(dir, ProjectFolder), 0o755), os.Symlink(filepath.Join(outside, FileName), ProjectPath(dir)))
		},
		"dangling": func(dir string) error {
			return errors.Join(os.Mkdir(filepath.Join(dir, ProjectFolder), 0o755), os.Symlink(filepath.Join(outside, "new.json"), ProjectPath(dir)))
		},
		"a file as folder": func(dir string) error { return os.WriteFile(filepath.Join(dir, ProjectFolder), nil, 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := link(dir); err != nil {
				t.Fatal(err)
			}
			if err := e.Set(ProjectFile(dir), "claude_model", "opus"); err == nil {
				t.Error("it was written")
			}
			if err := e.SetRaw(ProjectFile(dir), `{"claude_model": "opus"}`, ""); err == nil {
				t.Error("it was written")
			}
			data, _ := os.ReadFile(filepath.Join(outside, FileName))
			if list, _ := os.ReadDir(outside); string(data) != "{}" || len(list) != 1 {
				t.Errorf("%s, %d files", data, len(list))
			}
		})
	}
}

// TestEditorStaysInTheWorktree: an agent in the project can replace one of its work
// trees by a link. When that link leads to the home directory, the settings file behind
// it is the global one.
func TestEditorStaysInTheWorktree(t *testing.T) {
	for name, link := range map[string]func(project, home string) error{
		"the worktree": func(project, home string) error {
			return errors.Join(os.Mkdir(filepath.Join(project, ".worktrees"), 0o755), os.Symlink(home, filepath.Join(project, ".worktrees", "fix")))
		},
		"their folder": func(project, home string) error {
			return errors.Join(os.Mkdir(filepath.Join(home, "fix"), 0o755), os.Rename(filepath.Join(home, ProjectFolder), filepath.Join(home, "fix", ProjectFolder)), os.Symlink(home, filepath.Join(project, ".worktrees")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			e, _ := newEditor(t)
			home, dir := project(t, t.TempDir(), `{"theme": "dark"}`), t.TempDir()
			if err := link(dir, home); err != nil {
				t.Fatal(err)
			}
			tree := filepath.Join(dir, ".worktrees", "fix")
			if err := e.Set(ProjectFile(tree), "claude_model", "opus"); err == nil {
				t.Error("it was written")
			}
			if data, err := os.ReadFile(ProjectPath(tree)); err != nil || string(data) != `{"theme": "dark"}` {
				t.Errorf("%s %v", data, err)
			}
		})
	}
}

// TestRestoringIsNoApproval: an owner took out a text that somebody else wrote, because
// of what it asked for. When the text is restored, it asks again.
func TestRestoringIsNoApproval(t *testing.T) {
	e, _ := newEditor(t)
	dir := t.TempDir()
	f := ProjectFile(dir)
	find := func(string) (File, bool) { return f, true }
	project(t, dir, `{"mounts": ["/:/host"]}`)
	// This makes a revision by the owner, of a text that still waits for approval.
	if err := e.Set(f, "claude_model", "opus"); err != nil {
		t.Fatal(err)
	}
	project(t, dir, `{}`)
	if err := e.Set(f, "claude_effort", "low"); err != nil {
		t.Fatal(err)
	}
	list, err := e.History.List(f)
	if err != nil || len(list) != 4 {
		t.Fatalf("%+v %v", list, err)
	}
	for _, rev := range list[2:] {
		if _, err := e.Restore(rev.ID, find); err != nil {
			t.Fatal(err)
		}
		got := ForDir(global(t, `{}`), e.Trust, dir, "")
		if len(got.Pending) != 1 || len(got.Config.Mounts) != 0 || !strings.Contains(got.Pending[0].Diff, "/:/host") {
			t.Errorf("%s: mounts %q, pending %+v", rev.Source, got.Config.Mounts, got.Pending)
		}
		project(t, dir, `{}`)
	}
}
