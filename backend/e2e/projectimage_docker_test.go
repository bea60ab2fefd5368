//go:build docker

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loop/backend/core"
)

// TestProjectsDockerfile: a project's Dockerfile counts once it was approved with all that it copies.
// Then runs have what it adds, explain names it, and what it was before goes.
func TestProjectsDockerfile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	images := func() []string {
		out, err := docker(context.WithoutCancel(t.Context()), "images", "--filter", "label="+core.LabelProjectDir+"="+dir, "--format", "{{.Repository}}:{{.Tag}}")
		if err != nil {
			t.Fatal(err, out)
		}
		return strings.Fields(out)
	}
	t.Cleanup(func() { // after the containers went, which newHome sees to
		if made := images(); len(made) == 0 {
			return
		} else if out, err := docker(context.WithoutCancel(t.Context()), append([]string{"rmi"}, made...)...); err != nil {
			t.Error(err, out)
		}
	})
	c := newCaller(t)
	h := newHome(t, fmt.Sprintf(`{"anthropic_base_url":"http://127.0.0.1:%s","anthropic_api_key":"k","container_keep_alive_sec":0}`, c.port))
	s := h.serve()
	put := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, ".loop", "container", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("Dockerfile", "ARG BASE_IMAGE\nFROM ${BASE_IMAGE}\nCOPY tool /usr/local/bin/project-tool\n")
	put("tool", "#!/bin/sh\necho the tool of the project\n")
	ch := s.add(dir)
	c.steps["look"] = []step{bash(`{ project-tool; id -u; } >seen 2>&1; true`)}
	finish := func(run core.RunID) (string, string) {
		page := s.finished(ch, run)
		seen, err := os.ReadFile(filepath.Join(dir, "seen"))
		if err != nil {
			t.Fatal(err)
		}
		return string(seen), strings.Join(kept(page, run, core.EventNotice), " ")
	}
	look := func() (string, string) { return finish(s.prompt(ch, "Do-look")) }
	held := func() core.RunID {
		run := s.prompt(ch, "Do-look")
		s.until(ch, "the question", func(p timeline) bool { return outcome(p, run).Step == core.StepToolchain })
		return run
	}
	first := held()
	if n := len(h.containers()); n != 0 || len(images()) != 0 {
		t.Fatalf("before it is decided: %d containers, images %q", n, images())
	}
	approve := func() {
		t.Helper()
		waits, _ := s.pending(ch)
		if len(waits) != 1 || waits[0].Path != filepath.Join(dir, ".loop", "container", "Dockerfile") || !strings.Contains(waits[0].Diff, "tool of the project") {
			t.Fatalf("waiting: %+v", waits)
		}
		s.must("Settings.Approve", nil, ch, waits[0].Path, waits[0].SHA256)
		s.must("Containers.Recreate", nil, ch) // or the container goes on, which was used a moment ago
	}
	waits, _ := s.pending(ch)
	s.must("Settings.Decline", nil, ch, waits[0].Path, waits[0].SHA256)
	if seen, said := finish(first); strings.Contains(seen, "the tool of the project") || strings.Contains(said, "image") || len(images()) != 0 {
		t.Fatalf("without it, the agent sees %q, and the person %q; images %q", seen, said, images())
	}
	s.must("Settings.Revoke", nil, ch, waits[0].Path)
	approve()
	var why struct {
		Origins []core.FieldOrigin `json:"origins"`
		Notices []string           `json:"notices"`
	}
	s.must("System.Explain", &why, ch, false)
	text, _ := json.Marshal(why)
	for _, want := range []string{`"value":"loop-project-`, `/.loop/container/Dockerfile`, `"value":"loop-agent:latest"`, "not built yet"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("explained without %s: %s", want, text)
		}
	}
	seen, said := look()
	made := images()
	if !strings.Contains(seen, "the tool of the project") || len(made) != 1 || strings.Contains(said, "goes without") {
		t.Fatalf("approved, the agent sees %q, and the person %q; images %q", seen, said, made)
	}
	put("tool", "#!/bin/sh\necho another tool of the project\n")
	s.must("Containers.Recreate", nil, ch)
	second := held()
	approve()
	if seen, _ = finish(second); !strings.Contains(seen, "another tool of the project") {
		t.Errorf("approved again, the agent sees %s", seen)
	}
	s.until(ch, "the end of the containers before", func(timeline) bool { return len(h.containers()) <= 1 })
	look()
	if now := images(); len(now) != 1 || now[0] == made[0] {
		t.Errorf("images %q after %q", now, made)
	}
}
