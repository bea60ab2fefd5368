package config

import (
	"os"
	"path/filepath"
	"testing"
)

// FuzzProject: whatever a project's file says, a setting that reaches beyond the
// container needs approval to change. After the approval, the same file has nothing
// left that waits.
func FuzzProject(f *testing.F) {
	for name, value := range hostile {
		f.Add([]byte(`{"` + name + `": ` + value + `}`))
	}
	f.Add([]byte(`{"claude_model": "x", "container_memory_mb": 300, "container_network": "none"}`))
	f.Add([]byte(secretText))
	f.Add([]byte("\xef\xbb\xbf{}"))
	f.Add([]byte(`{"mounts": [":", "::", "a:~", ".:/x"], "inherit_mounts": null}`))
	g := Snapshot{Path: "/nowhere/config.json", Config: Defaults(), Good: true}
	g.Config.Mounts = []string{"vol:/v"}
	g.Config.AnthropicAPIKey = "sk-global"
	dir := f.TempDir()
	if err := os.Mkdir(filepath.Join(dir, ProjectFolder), 0o755); err != nil {
		f.Fatal(err)
	}
	trustPath := filepath.Join(f.TempDir(), TrustFileName)
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<16 {
			return
		}
		if err := os.WriteFile(ProjectPath(dir), data, 0o600); err != nil {
			t.Fatal(err)
		}
		e := ForDir(g, new(Trust), dir, "")
		for _, field := range leaves() {
			was, is := field.in(&g.Config), field.in(&e.Config)
			if same(was, is) || field.Project == ProjectFree || field.Project == ProjectTighten && tightens(field, was, is) {
				continue
			}
			t.Fatalf("%s changed to %v", field.Name, is)
		}
		if e.Err != nil {
			if len(e.Layers) != 1 || len(e.Pending) != 0 {
				t.Fatalf("a broken file counts: %+v", e)
			}
			return
		}
		for name := range e.Origins {
			if name == "" {
				t.Fatal("an origin of nothing")
			}
		}
		trust := OpenTrust(trustPath)
		for _, p := range e.Pending {
			if p.Diff == "" || len(p.Fields) == 0 {
				t.Fatalf("%+v", p)
			}
			if err := trust.Approve(ProjectFile(dir), p.SHA256); err != nil {
				t.Fatal(err)
			}
		}
		if e = ForDir(g, trust, dir, ""); len(e.Pending) != 0 || e.Err != nil {
			t.Fatalf("approved, and still %+v", e)
		}
	})
}
