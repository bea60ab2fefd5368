package cli

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loop/backend/bind"
	"loop/backend/core"
)

// settingsAnswer is the answer of every call of Settings in these tests.
func settingsAnswer() bind.SettingsView {
	sum := strings.Repeat("ab", 32)
	return bind.SettingsView{
		Path: "/h/config.json", ProjectPath: "/p/.loop/config.json",
		Fields: []bind.SettingsField{
			{Name: "anthropic_api_key", Kind: "text", Value: "•••hidden•••", Secret: true, Default: json.RawMessage("null"), Origin: core.SettingsOrigin{Layer: "built-in"}},
			{Name: "claude_model", Kind: "text", Value: "opus", Default: json.RawMessage("null"), Doc: "Model.", Merge: "override", Project: "free", Origin: core.SettingsOrigin{Layer: "project", Path: "/p/.loop/config.json", Line: 3}},
			{Name: "container_memory_mb", Kind: "integer", Value: 4096, Default: json.RawMessage("2048"), Doc: "Memory.", Merge: "override", Project: "tighten", Origin: core.SettingsOrigin{Layer: "global", Path: "/h/config.json", Line: 2},
				Layers: []bind.SettingsLayer{{Layer: "global", Value: 4096, Line: 2, InForce: true}, {Layer: "project", Value: 9999, Line: 4}}},
			{Name: "mounts", Kind: "list", Value: []string{"a:/a"}, Origin: core.SettingsOrigin{Layer: "global"}, Entries: []bind.SettingsEntry{{Name: "/a", Origin: core.SettingsOrigin{Layer: "global", Path: "/h/config.json"}}}},
			{Name: "envs", Kind: "object", Value: map[string]any{}, Origin: core.SettingsOrigin{Layer: "built-in"}},
			{Name: "font_sizes.chat", Kind: "integer", Value: 13, Origin: core.SettingsOrigin{Layer: "built-in"}},
		},
		Problems: []core.SettingsProblem{{Path: "/h/config.json", Line: 9, Col: 1, Message: "Something.", Remedy: "Mend it.", Warning: true}},
		Pending:  []core.SettingsPending{{Path: "/p/.loop/config.json", SHA256: sum, Diff: "@@ -0,0 +1 @@\n+\"mounts\": [\"/:/h\"]\x1b[2J\n", Fields: []string{"mounts"}}},
		Approved: []string{},
	}
}

func settingsRig(t *testing.T) *rig {
	t.Helper()
	r := newRig(t)
	for _, m := range []string{"Get", "Set", "Unset", "Approve", "Decline", "Revoke", "Restore"} {
		r.fake.answers["Settings."+m] = settingsAnswer()
	}
	r.fake.channels = []map[string]any{{"channel_id": "ch1", "name": "demo", "dir": r.dir, "kind": "project"}}
	r.fake.answers["Settings.History"] = []core.SettingsRevision{{ID: "0123456789abcdef-7", Source: "external", Added: 2, Removed: 1}}
	r.fake.answers["Settings.Revision"] = bind.SettingsRevisionText{Diff: "@@ -1 +1 @@\n-a\n+b\n"}
	r.fake.answers["Settings.Schema"] = map[string]any{"type": "object"}
	return r
}

// gave returns the arguments of the last call of a method.
func (r *rig) gave(method string) string {
	r.fake.mu.Lock()
	defer r.fake.mu.Unlock()
	var out []string
	for _, raw := range r.fake.last[method] {
		out = append(out, string(raw))
	}
	return strings.Join(out, " ")
}

func TestConfigGetAndExplain(t *testing.T) {
	r := settingsRig(t)
	for _, c := range []struct {
		args, out string
	}{
		{"config get --channel ch1", "container_memory_mb"},
		{"config get --global container_memory_mb", "4096\n"},
		{"config get --global --json font_sizes", `"font_sizes.chat": 13`},
		{"config explain --global", "container_memory_mb = 4096\n  from global, /h/config.json:2\n"},
		{"config explain --global container_memory_mb", "project line 4 says 9999  (not in force)"},
		{"config explain --global claude_model", "default null; merge: override; in a project's file: free"},
		{"config explain --global mounts", "[/a] from global, /h/config.json"},
		{"config explain --json --global", `"one_of"`},
		{"config history --global", "0123456789abcdef-7"},
		{"config history --global 0123456789abcdef-7", "-a\n+b\n"},
		{"config schema", `"type": "object"`},
		{"config trust --dir " + r.dir, "loop config trust --approve " + strings.Repeat("ab", 32) + "\n"},
		{"config trust --global --json", `"sha256"`},
		{"config", "loop config trust"},
	} {
		if code := r.run(strings.Fields(c.args)...); code != exitOK {
			t.Errorf("%s: exit %d", c.args, code)
		}
		if want := c.out; want != `"one_of"` {
			r.wantIn("out", want)
		}
		if strings.Contains(r.out.String(), "\x1b") {
			t.Errorf("%s: an escape sequence out of a file", c.args)
		}
	}
	if code := r.run("config", "get", "--global", "nonsense"); code == exitOK {
		t.Error("an unknown field")
	}
	r.run("config", "get", "--global")
	r.wantIn("err", "waits for approval")
	r.wantIn("err", "/h/config.json:9:1")
}

func TestConfigSet(t *testing.T) {
	r := settingsRig(t)
	for _, c := range []struct {
		in   string
		args []string
		gave string
	}{
		{"", []string{"--global", "container_memory_mb", "4096"}, `"global" "" "container_memory_mb" 4096`},
		{"", []string{"--project", "--channel", "ch1", "claude_model", "4"}, `"project" "ch1" "claude_model" "4"`},
		{"", []string{"--worktree", "--channel", "ch1", "claude_model", ""}, `"worktree" "ch1" "claude_model" ""`},
		{"", []string{"--global", "mounts", "a:/b"}, `"global" "" "mounts" ["a:/b"]`},
		{"", []string{"--global", "mounts", `["a:/b", "c:/d"]`}, `"global" "" "mounts" ["a:/b","c:/d"]`},
		{"", []string{"--global", "envs.EDITOR", "vi"}, `"global" "" "envs.EDITOR" "vi"`},
		{"", []string{"--global", "envs.N", "1"}, `"global" "" "envs.N" 1`},
		{"sk-x\n", []string{"--global", "anthropic_api_key", "-"}, `"global" "" "anthropic_api_key" "sk-x"`},
		{"", []string{"--global", "nonsense", "x"}, `"global" "" "nonsense" "x"`},
	} {
		r.in = c.in
		if code := r.run(append([]string{"config", "set"}, c.args...)...); code != exitOK || r.gave("Settings.Set") != c.gave {
			t.Errorf("%q: exit %d, gave %s", c.args, code, r.gave("Settings.Set"))
		}
	}
	for _, args := range [][]string{
		{"--global", "anthropic_api_key", "sk-x"}, {"--global", "container_memory_mb", "much"}, {"--global", "mounts", "[1"}, {"--global", "envs", "x"},
		{"--global", "--project", "a", "b"}, {"a"}, {"a", "b", "c"},
	} {
		if code := r.run(append([]string{"config", "set"}, args...)...); code != exitUsage {
			t.Errorf("%q: exit %d", args, code)
		}
	}
	if code := r.run("config", "unset", "--global", "theme"); code != exitOK || r.gave("Settings.Unset") != `"global" "" "theme"` {
		t.Errorf("exit %d, %s", code, r.gave("Settings.Unset"))
	}
	if code := r.run("config", "restore", "x-1"); code != exitOK || r.gave("Settings.Restore") != `"x-1"` {
		t.Errorf("exit %d", code)
	}
}

// TestApprovalNamesTheWholeText: the hashes of these two texts begin with the same
// twelve digits, and were found in two minutes. A person who saw the first text must
// not approve the second by those digits.
func TestApprovalNamesTheWholeText(t *testing.T) {
	shown := fmt.Sprintf("%x", sha256.Sum256([]byte("{\"mounts\": [\"cache:/cache\"]} // 36357574\n")))
	there := fmt.Sprintf("%x", sha256.Sum256([]byte("{\"mounts\": [\"/:/host\"]} // 14710831\n")))
	if shown[:12] != there[:12] || shown == there {
		t.Fatal(shown, there)
	}
	r := settingsRig(t)
	v := settingsAnswer()
	v.Pending[0].SHA256 = there
	r.fake.answers["Settings.Get"] = v
	for _, given := range []string{shown, shown[:12], shown[:16]} {
		if code := r.run("config", "trust", "--channel", "ch1", "--approve", given); code == exitOK || r.gave("Settings.Approve") != "" {
			t.Errorf("%s approved another text: exit %d, %s", given, code, r.gave("Settings.Approve"))
		}
	}
}

func TestConfigTrust(t *testing.T) {
	r := settingsRig(t)
	sum := strings.Repeat("ab", 32)
	if code := r.run("config", "trust", "--channel", "ch1", "--approve", strings.ToUpper(sum)); code != exitOK || r.gave("Settings.Approve") != `"ch1" "/p/.loop/config.json" "`+sum+`"` {
		t.Errorf("exit %d, %s", code, r.gave("Settings.Approve"))
	}
	if code := r.run("config", "trust", "--channel", "ch1", "--approve", strings.Repeat("cd", 32)); code != exitFailed {
		t.Errorf("another sum: exit %d", code)
	}
	for _, short := range []string{"ab", sum[:12], sum[:63], sum + "ab", strings.Repeat("z", 64)} {
		if code := r.run("config", "trust", "--channel", "ch1", "--approve", short); code != exitUsage {
			t.Errorf("%q: exit %d", short, code)
		}
	}
	if code := r.run("config", "trust", "--channel", "ch1", "--revoke", "/p"); code != exitOK || r.gave("Settings.Revoke") != `"ch1" "/p"` {
		t.Errorf("exit %d", code)
	}
	// A folder without a channel means the global settings, unless the folder was
	// named.
	other := t.TempDir()
	t.Chdir(other)
	if err := os.Mkdir(filepath.Join(other, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	if code := r.run("config", "get"); code != exitOK || r.gave("Settings.Get") != `""` {
		t.Errorf("exit %d, %s", code, r.gave("Settings.Get"))
	}
	if code := r.run("config", "get", "--dir", filepath.Join(other, "x")); code == exitOK {
		t.Error("a folder that was named has no channel")
	}
	if code := r.run("config", "set", "--project", "claude_model", "x"); code == exitOK {
		t.Error("a project that is none")
	}
	r.fake.fails["Settings.Set"] = core.Fail(core.CodeInvalid, nil, "No.", "Yes.")
	if code := r.run("config", "set", "--global", "claude_model", "x"); code != exitUsage {
		t.Errorf("exit %d", code)
	}
}

// TestConfigTrustNeedsAChannel: Loop does not know what waits in a folder without a
// channel, so it must not say that nothing does.
func TestConfigTrustNeedsAChannel(t *testing.T) {
	t.Chdir(t.TempDir())
	r := newRig(t)
	if code := r.run("config", "trust"); code != exitUsage || strings.Contains(r.out.String(), "Nothing waits") || !strings.Contains(r.err.String(), "There is no channel for") {
		t.Errorf("%d %s %s", code, r.out.String(), r.err.String())
	}
}
