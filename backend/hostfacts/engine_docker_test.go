//go:build docker && linux

package hostfacts

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"loop/backend/core"
	"loop/backend/sandbox"
)

// TestSpecOnEngine gives a resolved spec to a real engine and looks from inside a
// container: which mounts and tmpfs there are, and what they allow. It uses the
// engine's own command line tool, so Loop's adapter plays no part.
func TestSpecOnEngine(t *testing.T) {
	spec, h, _ := resolved(t, "~/.gitconfig:~/.gitconfig:ro")
	if _, err := (Computer{}).Prepare(spec, h); err != nil {
		t.Fatal(err)
	}
	args := []string{"run", "--label", "loop-test=hostfacts", "--rm", "--read-only", "--network", "none", "--user", spec.User, "--security-opt", "no-new-privileges",
		"--pids-limit", fmt.Sprint(spec.Limits.Pids), "--memory", fmt.Sprint(spec.Limits.MemoryBytes), "--workdir", spec.WorkDir}
	for _, c := range spec.CapDrop {
		args = append(args, "--cap-drop", c)
	}
	for _, c := range spec.CapAdd {
		args = append(args, "--cap-add", c)
	}
	for _, m := range spec.Mounts {
		if m.Volume {
			continue // the image's own tests cover the guest volume
		}
		o := fmt.Sprintf("type=bind,source=%s,target=%s", m.Source, m.Target)
		if m.ReadOnly {
			o += ",readonly"
		}
		args = append(args, "--mount", o)
	}
	// The last one is the tmpfs that hides LOOP_HOME below a read-only mount.
	for _, m := range append(spec.Tmpfs, core.Tmpfs{Target: "/cover", Options: "ro,nosuid,nodev,noexec,size=4k,mode=0555"}) {
		args = append(args, "--tmpfs", m.Target+":"+m.Options)
	}
	script := `
set -u
say() { printf '%s=%s\n' "$1" "$2"; }
try() { n=$1; shift; if "$@" 2>/dev/null; then say "$n" yes; else say "$n" no; fi; }
say pwd "$(pwd)"
say who "$(id -un ` + fmt.Sprint(spec.Agent.UID) + `)"
try root-write touch /usr/x
try passwd-write touch /etc/passwd
try home-write touch "` + spec.Agent.Home + `/x"
try claude-write touch "` + sandbox.ClaudeDir + `/x"
try claude-link touch "` + spec.Agent.Home + `/.claude/y"
try work-write touch "` + spec.WorkDir + `/made-inside"
try hooks-write touch "` + spec.WorkDir + `/.git/hooks/post-commit"
try cover-write touch /cover/x
try spool-write touch /run/loop/private/spool/x
try run-write touch /run/x
printf '#!/bin/sh\nexit 0\n' > /tmp/p; chmod +x /tmp/p; try tmp-exec /tmp/p
cp /tmp/p /run/loop/p; try run-exec /run/loop/p
say tmp-mode "$(stat -c %a /tmp)"
say run-mode "$(stat -c %a /run/loop)"
`
	args = append(args, spec.Image, "/bin/sh", "-c", script)
	cmd := exec.CommandContext(t.Context(), "docker", args...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, stderr.String())
	}
	got := map[string]string{}
	for line := range strings.Lines(string(out)) {
		k, v, _ := strings.Cut(strings.TrimSpace(line), "=")
		got[k] = v
	}
	want := map[string]string{
		"pwd": spec.WorkDir, "who": spec.Agent.Name, "root-write": "no", "passwd-write": "no", "home-write": "yes", "claude-write": "yes", "claude-link": "yes", "work-write": "yes",
		"hooks-write": "no", "cover-write": "no", "spool-write": "yes", "run-write": "yes", "tmp-exec": "yes", "run-exec": "no", "tmp-mode": "1777", "run-mode": "755",
	}
	for k, v := range want {
		if got[k] != v {
			t.Errorf("%s: got %q, want %q", k, got[k], v)
		}
	}
	if t.Failed() {
		raw, _ := json.MarshalIndent(spec, "", " ")
		t.Logf("%s\n%s", raw, out)
	}
}

// TestPlantedLinkMovesMount is the control for MakeMountpoint's refusal. With a link
// left in the agent's home, an engine mounts the workspace over /opt/loop, where the
// guest binary is. Without the refusal, an agent could choose PID 1.
func TestPlantedLinkMovesMount(t *testing.T) {
	d := tempDir(t)
	home, guest, project := filepath.Join(d, "state"), filepath.Join(d, "guest"), filepath.Join(d, "loop")
	for _, dir := range []string{home, guest, project} {
		must(t, os.Mkdir(dir, 0o755))
	}
	must(t, os.WriteFile(filepath.Join(guest, "from"), []byte("loop"), 0o644))
	must(t, os.WriteFile(filepath.Join(project, "from"), []byte("agent"), 0o644))
	must(t, os.Symlink("/opt", filepath.Join(home, "code")))

	out, err := exec.CommandContext(t.Context(), "docker", "run", "--rm", "--label", "loop-test=hostfacts", "--network", "none",
		"--mount", "type=bind,source="+guest+",target=/opt/loop,readonly",
		"--mount", "type=bind,source="+home+",target=/home/mira",
		"--mount", "type=bind,source="+project+",target=/home/mira/code/loop",
		"loop-agent:latest", "cat", "/opt/loop/from").CombinedOutput()
	if err != nil || string(out) != "agent" {
		t.Errorf("the control failed, the engine did not follow the link: %q, %v", out, err)
	}

	err = MakeMountpoint(sandbox.Mountpoint{Root: home, Rel: "code/loop"})
	if f, ok := errors.AsType[*core.Failure](err); !ok || f.Code != core.CodeMount {
		t.Errorf("the link was not refused: %v", err)
	}
}
