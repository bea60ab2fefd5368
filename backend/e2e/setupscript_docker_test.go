//go:build docker

package e2e

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loop/agentimage"
	"loop/backend/core"
)

// toolchainRig is a project with files of its own, in a Loop with a pretended model.
type toolchainRig struct {
	t   *testing.T
	c   *caller
	h   *home
	s   *server
	dir string
	ch  core.ChannelID
}

func newToolchainRig(t *testing.T) *toolchainRig {
	r := &toolchainRig{t: t, dir: t.TempDir()}
	t.Cleanup(func() { // after the containers went, which newHome sees to
		if made := r.images(); len(made) == 0 {
			return
		} else if out, err := docker(context.WithoutCancel(t.Context()), append([]string{"rmi"}, made...)...); err != nil {
			t.Error(err, out)
		}
	})
	r.c = newCaller(t)
	r.h = newHome(t, fmt.Sprintf(`{"anthropic_base_url":"http://127.0.0.1:%s","anthropic_api_key":"k","container_keep_alive_sec":0}`, r.c.port))
	r.s = r.h.serve()
	r.ch = r.s.add(r.dir)
	return r
}

func (r *toolchainRig) images() []string {
	out, err := docker(context.WithoutCancel(r.t.Context()), "images", "--filter", "label="+core.LabelProjectDir+"="+r.dir, "--format", "{{.Repository}}:{{.Tag}}")
	if err != nil {
		r.t.Fatal(err, out)
	}
	return strings.Fields(out)
}

func (r *toolchainRig) put(name, text string) {
	r.t.Helper()
	path := filepath.Join(r.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

func (r *toolchainRig) toolchain() core.ProjectToolchain {
	r.t.Helper()
	var v struct {
		Toolchains []core.ProjectToolchain `json:"toolchains"`
	}
	r.s.must("Settings.Get", &v, r.ch)
	if len(v.Toolchains) != 1 {
		r.t.Fatalf("toolchains %+v", v.Toolchains)
	}
	return v.Toolchains[0]
}

// held has a run that waits for a decision.
func (r *toolchainRig) held(prompt string) core.RunID {
	r.t.Helper()
	run := r.s.prompt(r.ch, prompt)
	r.s.until(r.ch, "the question", func(p timeline) bool { return outcome(p, run).Step == core.StepToolchain })
	return run
}

func (r *toolchainRig) decide(method string) {
	r.t.Helper()
	tc := r.toolchain()
	r.s.must("Settings."+method, nil, r.ch, tc.Path, tc.SHA256)
}

func (r *toolchainRig) seen() string {
	r.t.Helper()
	seen, err := os.ReadFile(filepath.Join(r.dir, "seen"))
	if err != nil {
		r.t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(r.dir, "seen")); err != nil {
		r.t.Fatal(err)
	}
	return string(seen)
}

// TestSetupScript: a run waits until the person has decided on the script of its project. Then
// root has run it in the image, and nothing of Loop's was replaced by it.
func TestSetupScript(t *testing.T) {
	t.Parallel()
	r := newToolchainRig(t)
	// It adds a tool, and puts programs of its own in the place of Loop's and a library before all.
	script := `#!/bin/sh
set -eu
test "$(id -u)" = 0
if ls -A ` + r.dir + ` 2>/dev/null | grep .; then exit 1; fi
printf '#!/bin/sh\necho the tool of the script\n' >/usr/local/bin/script-tool && chmod 755 /usr/local/bin/script-tool
mkdir -p /opt/loop/bin /run/loop/private /opt/loop/setup
printf '#!/bin/sh\necho replaced\n' >/opt/loop/bin/loop && chmod 755 /opt/loop/bin/loop
echo 'touch /tmp/taken' >/opt/loop/setup/command
echo /nowhere.so >/etc/ld.so.preload
`
	r.put(".loop/setup.sh", script)
	r.c.steps["look"] = []step{bash(`{ script-tool; sha256sum /opt/loop/bin/loop; ls /tmp/taken; id -u; } >seen 2>&1; true`)}
	run := r.held("Do-look")
	tc := r.toolchain()
	sum := sha256.Sum256([]byte(script))
	if tc.Kind != core.ToolchainSetup || tc.State != core.ToolchainUndecided || tc.Text != script || tc.SHA256 != hex.EncodeToString(sum[:]) {
		t.Fatalf("asked about %+v", tc)
	}
	if n := len(r.h.containers()); n != 0 || len(r.images()) != 0 {
		t.Fatalf("before it is decided: %d containers, images %q", n, r.images())
	}
	if err := r.s.call("Terminals.Create", nil, map[string]any{"channel_id": r.ch, "rows": 24, "cols": 80}); err == nil || !strings.Contains(err.Error(), "nobody has decided") {
		t.Errorf("a terminal before it is decided: %v", err)
	}
	r.decide("Approve")
	r.s.finished(r.ch, run)
	_, guest, err := agentimage.GuestBinary(r.arch())
	if err != nil {
		t.Fatal(err)
	}
	if seen := r.seen(); !strings.Contains(seen, "the tool of the script") || !strings.Contains(seen, guest) || !strings.Contains(seen, "cannot access '/tmp/taken'") {
		t.Errorf("built with it, the agent sees %s; the guest is %s", seen, guest)
	}
	made := r.images()
	if len(made) != 1 {
		t.Fatalf("images %q", made)
	}
	child, base := inspected(t, made[0]), inspected(t, agentimage.Agent.Ref)
	if fmt.Sprint(child.Entrypoint, child.Cmd, child.Env) != fmt.Sprint(base.Entrypoint, base.Cmd, base.Env) || child.Healthcheck != nil || len(child.Volumes) != 0 {
		t.Errorf("the image says %+v, the one beneath %+v", child, base)
	}

	// The same again is there; another channel of the folder has it, too. A change asks again.
	r.s.finished(r.ch, r.s.prompt(r.ch, "Do-look"))
	if seen := r.seen(); !strings.Contains(seen, "the tool of the script") || len(r.images()) != 1 {
		t.Errorf("the second run sees %s", seen)
	}
	r.put(".loop/setup.sh", "echo of another >/dev/null\nexit 3\n")
	run = r.held("Do-look")
	if tc := r.toolchain(); !strings.Contains(tc.Diff, "-set -eu") || !strings.Contains(tc.Diff, "+exit 3") {
		t.Errorf("what changed: %s", tc.Diff)
	}
	r.decide("Approve")
	page := r.s.until(r.ch, "the end of the run", func(p timeline) bool { return ended(p, run) })
	if f := outcome(page, run).Failure; f == nil || f.Code != core.CodeToolchainBuild || !strings.Contains(f.Cause, "set-up script") || f.Remedy == "" {
		t.Fatalf("a script that fails: %+v", f)
	}
	var out core.BuildOutput
	r.s.must("System.BuildOutput", &out)
	if !strings.Contains(out.Text, "setup.sh") || !strings.HasPrefix(out.Ref, "loop-project-") {
		t.Errorf("the output of the build: %+v", out)
	}
	r.decide("Decline")
	r.s.finished(r.ch, r.s.prompt(r.ch, "Do-look"))
	if seen := r.seen(); strings.Contains(seen, "the tool of the script") {
		t.Errorf("without it, the agent sees %s", seen)
	}
	// Switched off, nothing is asked.
	r.put(".loop/setup.sh", "exit 4\n")
	r.s.must("Settings.Set", nil, "global", "", "toolchains", "off")
	r.s.finished(r.ch, r.s.prompt(r.ch, "Do-look"))
}

// TestSetupScriptLeadsMountsAstray: links in an image would lead Loop's own mounts to places that
// the agent owns. No agent starts in such a container.
func TestSetupScriptLeadsMountsAstray(t *testing.T) {
	t.Parallel()
	r := newToolchainRig(t)
	r.c.steps["look"] = []step{bash(`echo the agent ran >seen; true`)}
	// An earlier agent has left a program where the link would have Loop's.
	r.put("planted/loop/bin/loop", "#!/bin/sh\necho planted >"+r.dir+"/seen\nexec sleep 60\n")
	if err := os.Chmod(filepath.Join(r.dir, "planted/loop/bin/loop"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, script := range map[string]string{
		"the guest":       "mkdir -p /var/tmp/x/loop/bin && chmod -R 777 /var/tmp/x && rm -rf /opt && ln -s /var/tmp/x /opt",
		"the project":     "rm -rf /opt && ln -s " + r.dir + "/planted /opt",
		"the run folder":  "mkdir -p /home/x && rm -rf /run && ln -s /home/x /run",
		"the parent dirs": "rm -rf " + topOf(r.dir) + " && mkdir -p /srv/x && chmod 777 /srv/x && ln -s /srv/x " + topOf(r.dir),
	} {
		if topOf(r.dir) == "/tmp" && name == "the parent dirs" {
			continue // it lies in a memory file system of Loop's
		}
		r.put(".loop/setup.sh", "set -e\n"+script+"\n")
		run := r.held("Do-look")
		r.decide("Approve")
		page := r.s.until(r.ch, "the end of the run", func(p timeline) bool { return ended(p, run) })
		st := outcome(page, run)
		if st.State != core.RunFailed || st.Failure == nil {
			t.Errorf("%s: the run ended as %+v", name, st)
			continue
		}
		t.Logf("%s: %s %s", name, st.Failure.Cause, st.Failure.Detail)
		if _, err := os.Stat(filepath.Join(r.dir, "seen")); err == nil {
			t.Errorf("%s: the agent ran", name)
		}
	}
}

func topOf(dir string) string { return "/" + strings.SplitN(dir, "/", 3)[1] }

func (r *toolchainRig) arch() string {
	out, err := docker(r.t.Context(), "version", "--format", "{{.Server.Arch}}")
	if err != nil {
		r.t.Fatal(err, out)
	}
	return strings.TrimSpace(out)
}

type imageConfig struct {
	Entrypoint, Cmd, Env []string
	User                 string
	Healthcheck          any
	Volumes              map[string]any
}

func inspected(t *testing.T, ref string) (c imageConfig) {
	t.Helper()
	out, err := docker(t.Context(), "image", "inspect", "--format", "{{json .Config}}", ref)
	if err == nil {
		err = json.Unmarshal([]byte(out), &c)
	}
	if err != nil {
		t.Fatal(err, out)
	}
	return c
}
