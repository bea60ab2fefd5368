//go:build docker

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loop/backend/core"
)

// TestSetupCommand: root sets a container up once, with a network, before the agent works in
// it without one; the next run has the same container, another command makes another one, and
// a set-up that failed is shown and leaves nothing.
func TestSetupCommand(t *testing.T) {
	t.Parallel()
	c := newCaller(t)
	// What package managers do: users, files that are given away and then get a mode, and a
	// tool for everybody.
	setup := `set -e; test "$(id -u)" = 0; ls /sys/class/net >/net; useradd --system made; touch /made; chown made:made /made; chmod 2755 /made
		echo '#!/bin/sh
		echo the tool works' >/usr/local/bin/tool; chmod 755 /usr/local/bin/tool; echo once >>/count; ls -A "$HOME" >/home-of-setup; (sleep 600 &) `
	sandbox, err := json.Marshal(map[string]any{"scope": "session", "docker": map[string]any{"network": "none", "setupCommand": setup}})
	if err != nil {
		t.Fatal(err)
	}
	h := newHome(t, fmt.Sprintf(`{"anthropic_base_url":"http://127.0.0.1:%s","anthropic_api_key":"k","agents":{"defaults":{"sandbox":%s}}}`, c.port, sandbox))
	s := h.serve()
	dir := t.TempDir()
	ch := s.add(dir)
	c.steps["look"] = []step{bash(`{ cat /count /proc/sys/kernel/hostname; tool; stat -c '%U %a' /made; cat /net; echo inside; ls /sys/class/net; echo of; wc -c </home-of-setup;
		echo by; id -un; pgrep -x sleep; grep -c . /opt/loop/setup/command; } >seen 2>&1; true`)}
	look := func() (string, timeline, core.RunID) {
		run := s.prompt(ch, "Do-look")
		page := s.finished(ch, run)
		seen, err := os.ReadFile(filepath.Join(dir, "seen"))
		if err != nil {
			t.Fatal(err)
		}
		return string(seen), page, run
	}
	seen, page, run := look()
	box := h.containers()
	if len(box) != 1 || box[0].HostConfig.NetworkMode != "none" || box[0].HostConfig.ReadonlyRootfs {
		t.Fatalf("containers %+v", box)
	}
	for _, e := range box[0].Config.Env {
		if strings.Contains(e, "useradd") {
			t.Errorf("the command is in the container's environment: %s", e)
		}
	}
	for _, want := range []string{"the tool works", "made 2755", "eth0", "inside\nlo\nof\n0\n"} {
		if !strings.Contains(seen, want) {
			t.Errorf("the agent does not see %q in %s", want, seen)
		}
	}
	if strings.Count(seen, "once") != 1 || strings.Contains(seen, "eth0\nof") {
		t.Errorf("the agent sees %s", seen)
	}
	if _, by, _ := strings.Cut(seen, "by\n"); !strings.Contains(by, "No such file") || strings.Contains(strings.SplitN(by, "grep", 2)[0], "\n1") {
		t.Errorf("something of the set-up is left: %s", by)
	}
	if said := strings.Join(kept(page, run, core.EventNotice), " "); !strings.Contains(said, "setupCommand runs as root") {
		t.Errorf("nobody said that it runs: %s", said)
	}

	again, page, run := look()
	if again != seen || len(h.containers()) != 1 || strings.Contains(strings.Join(kept(page, run, core.EventNotice), " "), "setupCommand") {
		t.Errorf("the second run saw %s", again)
	}

	s.must("Settings.Set", nil, "global", "", "agents.defaults.sandbox.docker.setupCommand", "echo of the second; "+setup)
	third, _, _ := look()
	if host := func(s string) string { return strings.SplitN(s, "\n", 3)[1] }; host(third) == host(seen) || strings.Count(third, "once") != 1 {
		t.Errorf("with another command, the third run saw %s after %s", third, seen)
	}

	s.must("Settings.Set", nil, "global", "", "agents.defaults.sandbox.docker.setupCommand", "echo no such package; exit 100")
	for range 2 { // it is not taken for set up by the next
		run := s.prompt(ch, "Do-look")
		page = s.until(ch, "the end of the run", func(p timeline) bool { return ended(p, run) })
		f := outcome(page, run).Failure
		if f == nil || f.Code != core.CodeSetup || !strings.Contains(f.Cause, "exit status 100") || !strings.Contains(f.Detail, "no such package") || f.Remedy == "" {
			t.Fatalf("a set-up that failed ended in %+v", f)
		}
	}
	for _, b := range h.containers() {
		if b.State.ExitCode == 91 {
			t.Errorf("what was not set up is left: %+v", b)
		}
	}
}

// TestSetupCommandOfAnAgent: an agent that may write the root of its container, as root's can,
// puts a command where loop init would look for one. It is not run when the container starts
// again, as it is for the next run.
func TestSetupCommandOfAnAgent(t *testing.T) {
	t.Parallel()
	c := newCaller(t)
	h := newHome(t, fmt.Sprintf(`{"anthropic_base_url":"http://127.0.0.1:%s","anthropic_api_key":"k",
		"agents":{"defaults":{"sandbox":{"scope":"session","docker":{"readOnlyRoot":false}}}}}`, c.port))
	s := h.serve()
	dir := t.TempDir()
	ch := s.add(dir)
	c.steps["plant"] = []step{bash(`mkdir -p /opt/loop/setup && echo 'id >/tmp/taken; id >/taken' >/opt/loop/setup/command; cat /proc/sys/kernel/hostname >box; true`)}
	c.steps["look"] = []step{bash(`{ cat /proc/sys/kernel/hostname; ls /taken /tmp/taken; id -u; ls /opt/loop/setup; } >seen 2>&1; true`)}
	s.finished(ch, s.prompt(ch, "Do-plant"))
	box := h.containers()
	if len(box) != 1 {
		t.Fatalf("containers %+v", box)
	}
	if out, err := docker(t.Context(), "stop", box[0].ID); err != nil {
		t.Fatal(err, out)
	}
	s.finished(ch, s.prompt(ch, "Do-look"))
	first, err := os.ReadFile(filepath.Join(dir, "box"))
	if err != nil {
		t.Fatal(err)
	}
	seen, err := os.ReadFile(filepath.Join(dir, "seen"))
	if err != nil || !strings.HasPrefix(string(seen), string(first)) || strings.Count(string(seen), "No such file") < 2 {
		t.Fatalf("in another container, or taken: %s, %v", seen, err)
	}
	if strings.Contains(string(seen), "\n0\n") && !strings.HasSuffix(string(seen), "command\n") {
		t.Errorf("root's agent could not plant a command, so this shows nothing: %s", seen)
	}
}
