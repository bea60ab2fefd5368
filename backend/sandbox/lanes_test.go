package sandbox

import (
	"slices"
	"strings"
	"testing"

	"loop/backend/core"
)

// TestInheritedLane: the container inherits the variables that the settings name,
// except those with a bad name or value.
func TestInheritedLane(t *testing.T) {
	h := linuxHost()
	h.Env = map[string]string{
		"GOPROXY": "https://goproxy.test", "NPM_CONFIG_REGISTRY": "https://npm.test", "NPM_CONFIG_SCOPE": "@x", "NPM_CONFIG_AUTHTOKEN": "S3cret", "npm_config_x": "no",
		"OPENAI_API_KEY": "S3cret", "SLACK_BOT_TOKEN": "S3cret", "My_Password": "S3cret", "AWS_ACCESS_KEY_ID": "S3cret", "ANTHROPIC_BASE_URL": "S3cret",
		"PATH": "/host", "LD_PRELOAD": "/x.so", "NODE_OPTIONS": "--require x", "LOOP_HOME": "/x", "HOME": "/x", "HTTPS_PROXY": "http://x", "DOCKER_HOST": "unix:///x",
		"INDEX": "https://u:S3cret@index.test", "NUL": "a\x00b", "ESC": "\x1b[31m", "BAD": "\xff", "LINES": "a\n\tb", "LONG": strings.Repeat("x y", 40000), "HUGE": strings.Repeat("x", maxEnvValue+1),
		"BLOB": strings.Repeat("aB3/", 30), "1X": "x", "UNASKED": "x",
	}
	layers := []Layer{{Name: core.LayerGlobal, Inherit: []string{"GOPROXY", "NPM_CONFIG_*"}}, {Name: core.LayerProject, Inherit: []string{
		"OPENAI_API_KEY", "SLACK_BOT_TOKEN", "My_Password", "AWS_ACCESS_KEY_ID", "ANTHROPIC_BASE_URL", "PATH", "LD_*", "NODE_OPTIONS", "LOOP_*", "HOME", "HTTPS_PROXY", "DOCKER_HOST",
		"INDEX", "NUL", "ESC", "BAD", "LINES", "LONG", "HUGE", "BLOB", "1X", "GONE",
	}}}
	spec, ex := mustResolve(t, projectTree(), layers, subject("/home/mira/code/my-proj"), h)
	got := map[string]core.EnvVar{}
	all, secret := programEnv(t, spec, layers, h)
	for _, v := range all {
		forwarded := slices.Contains(proxyNames, v.Name) || slices.Contains(noProxyNames, v.Name) // inherited without being named
		if v.Lane == LaneInherited && v.Name != "TZ" && !forwarded {
			got[v.Name] = v
		}
	}
	for _, name := range []string{"GOPROXY", "NPM_CONFIG_REGISTRY", "NPM_CONFIG_SCOPE", "LINES", "LONG", "BLOB"} {
		if got[name].Value != h.Env[name] {
			t.Errorf("%s is %q", name, got[name].Value)
		}
		delete(got, name)
	}
	for name := range got {
		t.Errorf("%s was inherited", name)
	}
	notices := strings.Join(ex.Notices, "\n")
	if strings.Contains(notices, "S3cret") {
		t.Errorf("a credential is in a notice: %s", notices)
	}
	for _, part := range []string{"OPENAI_API_KEY was left out: its name is a credential's", "LD_PRELOAD was left out", "INDEX was left out: its value holds a login", "HTTPS_PROXY was left out: proxies", "NUL was left out", "ESC was left out", "HUGE was left out", "LONG goes into containers, though", "BLOB goes into containers, though its value looks like a key"} {
		if !strings.Contains(notices, part) {
			t.Errorf("no notice says that %s", part)
		}
	}
	if len(secret) != 0 {
		t.Errorf("%v", secret)
	}
}

// TestOperatorLane: the settings may set any variable but Loop's own. An odd-looking
// value gets a notice.
func TestOperatorLane(t *testing.T) {
	h := linuxHost()
	h.Env = map[string]string{"A": "host"}
	layers := []Layer{{Name: core.LayerGlobal, Inherit: []string{"A"}, Envs: map[string]any{
		"A": "mine", "NODE_OPTIONS": "--x", "TZ": "Asia/Tokyo", "BLOB": strings.Repeat("aB3/", 30), "LONG": strings.Repeat("x ", 20000), "BLOB_TOKEN": strings.Repeat("aB3/", 30), "LOOP_X": "x", "CHOWN_PATHS": "/etc",
	}}}
	spec, ex := mustResolve(t, projectTree(), layers, subject("/home/mira/code/my-proj"), h)
	env, _ := programEnv(t, spec, layers, h)
	if env["A"].Value != "mine" || env["NODE_OPTIONS"].Value != "--x" || env["TZ"].Value != "Asia/Tokyo" || env["TZ"].Lane != LaneOperator || env["CHOWN_PATHS"].Lane != LaneApp || env["LOOP_X"].Name != "" || env["BLOB_TOKEN"].Name != "" || env["BLOB"].Name == "" {
		t.Errorf("%+v", env)
	}
	notices := strings.Join(ex.Notices, "\n")
	for _, part := range []string{`envs["BLOB"] (global) goes to the agent's programs`, `envs["LONG"] (global) goes to`, `envs["BLOB_TOKEN"] is handed to the agent's process alone`, `envs["LOOP_X"] (global) was left out`, `envs["CHOWN_PATHS"] (global) was left out`, `envs["TZ"] (global) replaces`} {
		if !strings.Contains(notices, part) {
			t.Errorf("no notice says %q in\n%s", part, notices)
		}
	}
}

func TestInheritedPatterns(t *testing.T) {
	for pattern, names := range map[string][2]string{"A": {"A", "AB"}, "A*": {"AB", "B"}, "*": {"X", "\x00none"}} {
		if !inherits(pattern, names[0]) || pattern != "*" && inherits(pattern, names[1]) {
			t.Errorf("%s takes %q", pattern, names)
		}
	}
}

// TestCopiesRefused: a copy was fit when it was checked and now leads elsewhere, or a
// caller other than Resolve names it. Both are refused.
func TestCopiesRefused(t *testing.T) {
	fs := projectTree()
	fs["/home/mira/.npmrc"], fs["/home/mira/to-loop"], fs["/home/mira/sock"] = "file", "-> /home/mira/.loop/config.json", "socket"
	fs["/home/mira/shared/.x"], fs["/home/mira/.x"] = "file", "-> /home/mira/shared/.x"
	layers := []Layer{{Name: core.LayerGlobal, Mounts: []string{"~/shared:/shared"}, CopyFiles: []string{"~/to-loop", "~/sock", "~/.x", "~root/.x", "~/a\x00", "~/.claude.json"}}}
	sub := subject("/home/mira/code/my-proj")
	spec, ex := mustResolve(t, fs, layers, sub, linuxHost())
	if len(spec.Copies) != 0 || len(ex.Skipped) != 6 {
		t.Errorf("%+v %+v", spec.Copies, ex.Skipped)
	}
	for i, part := range []string{"Loop's own folder", "ordinary file", "agents write", "another user", "NUL", "of its own"} {
		if !strings.Contains(ex.Skipped[i].Reason, part) {
			t.Errorf("%+v, want %q", ex.Skipped[i], part)
		}
	}
	h := fs.fill(layers, sub, linuxHost())
	for _, f := range []core.FileCopy{
		{Source: "/home/mira/.npmrc", Target: "/etc/x"}, {Source: "/home/mira/.npmrc", Target: "/home/mira"}, {Source: "/home/mira/.npmrc", Target: "/home/mira/../x"},
		{Source: "/home/mira/.npmrc", Target: "/home/mira/code/my-proj/x"}, {Source: "/home/mira/.npmrc", Target: ClaudeDir}, {Source: "/home/mira/.npmrc", Target: "/home/mira/code"},
		{Source: "/home/mira/.npmrc", Target: ClaudeDir + "/projects/x"}, {Source: "/home/mira/.npmrc", Target: "/home/mira/.claude/x"}, {Source: "/home/mira/.npmrc", Target: GuestSpoolDir + "/x"}, {Source: "/home/mira/.loop/config.json", Target: "/home/mira/x"}, {Source: "x", Target: "/home/mira/x"}, {Source: "/proc/1/environ", Target: "/home/mira/x"},
	} {
		bad := spec
		bad.Copies = []core.FileCopy{f}
		wantFailure(t, Validate(bad, h), core.CodeInvalid, "safety rule")
	}
	good := spec
	good.Copies = []core.FileCopy{{Source: "/home/mira/.npmrc", Target: "/home/mira/.npmrc"}}
	if err := Validate(good, h); err != nil {
		t.Error(err)
	}
	for _, v := range []core.EnvVar{{Name: "ZZZ", Value: "http://u:p@h", Lane: LaneOperator}, {Name: "ZZZ_TOKEN", Value: "x", Lane: LaneInherited}, {Name: "ZSHELL", Lane: "x"}} {
		bad := spec
		bad.Env = append(append([]core.EnvVar{}, spec.Env...), v)
		wantFailure(t, Validate(bad, h), core.CodeInvalid, "safety rule")
	}
}
