package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"loop/backend/core"
)

func TestDefaults(t *testing.T) {
	c := Defaults()
	if c.ContainerMemoryMB != 2048 || c.ContainerCPUs != 2 || c.ContainerKeepAliveSec != 300 || c.ContainerNetwork != "bridge" || c.ClaudeBinPath != "claude" ||
		c.ContainerImage != "loop-agent:latest" || !c.ContainerImageAutobuild || c.ContainerTimeoutSec != 3600 || c.FontSizes.Sidebar != 12 || c.LogLevel != "info" {
		t.Errorf("defaults %+v", c)
	}
	a, b := Defaults(), Defaults()
	a.ClaudeBatchDisallowedTools[0] = "x"
	if b.ClaudeBatchDisallowedTools[0] == "x" || Defaults().ClaudeBatchDisallowedTools[0] == "x" {
		t.Error("defaults share a list")
	}
	seen := map[string]bool{}
	for _, f := range describe() {
		if f.Doc == "" || f.Name == "" || seen[f.Name] {
			t.Errorf("field %+v lacks a name or words, or is there twice", f)
		}
		if _, both := later[f.Name]; both {
			t.Errorf("%s is both known and not acted on", f.Name)
		}
		seen[f.Name] = true
	}
}

func TestParseGood(t *testing.T) {
	text := "\xef\xbb\xbf" + `// settings
{
  "anthropic_api_key": "sk-x", /* note */
  "container_memory_mb": 4096.0,
  "container_cpus": 1.5,
  "mounts": ["loop-a:/a", "~/x:~/x:ro",],
  "envs": {"A": 1000000, "B": true, "C": null, "D": [1, "x"], "E": 12345678901234567890,},
  "font_sizes": {"chat": 15},
  "terminal": {"colors": ["light.bright_white=#FFFFFF", "cursor=#00ff00"]},
  "theme": null,
  "db_path": "data/x.db",
  "browser": {"mode": "host", "host_profile": "chrome"},
} // the end`
	c, problems, err := Parse("/l/config.json", []byte(text))
	if err != nil || len(problems) != 0 {
		t.Fatal(err, problems)
	}
	if c.Browser.Mode != "host" || c.Browser.HostProfile != filepath.Join("/l", "chrome") {
		t.Errorf("%+v", c.Browser)
	}
	if c.ContainerMemoryMB != 4096 || c.ContainerCPUs != 1.5 || len(c.Mounts) != 2 || c.FontSizes.Chat != 15 || c.FontSizes.Terminal != 13 || c.Theme != "system" || len(c.Terminal.Colors) != 2 || c.Terminal.MinimumContrast != 4.5 {
		t.Errorf("%+v", c)
	}
	if fmt.Sprintf("%v %v %v %v", c.Envs["A"], c.Envs["B"], c.Envs["C"], c.Envs["E"]) != "1000000 true <nil> 12345678901234567890" {
		t.Errorf("envs %v", c.Envs)
	}
	if want := filepath.FromSlash("/l/data/x.db"); c.DBPath != want || c.LogFile != filepath.FromSlash("/l/loop.log") {
		t.Errorf("paths %q %q", c.DBPath, c.LogFile)
	}
}

func TestProblems(t *testing.T) {
	for _, c := range []struct {
		text      string
		line, col int
		field     string
		part      string
		warning   bool
	}{
		{"", 1, 1, "", "empty", false},
		{"  \n", 1, 1, "", "empty", false},
		{"[]", 1, 1, "", "does not hold an object", false},
		{"{", 1, 2, "", "ends too early", false},
		{"{\n  \"theme\": \"dark\",\n  \"bro\n}\n", 3, 3, "", "not closed by a double quote", false},
		{"{\"a\\\"b\": 1, // \"\n  /* \" */ \"c\": \"x\\\"", 2, 16, "", "not closed by a double quote", false},
		{"{\n  /* x\n}", 2, 3, "", "not closed by */", false},
		{"{\n  \"a\": 1\n  \"b\": 2\n}", 3, 3, "", "Syntax error", false},
		{"{\n  \"theme\": 'dark'\n}", 2, 12, "", "Syntax error", false},
		{"{\"anthropic_api_key\": \"sk-SECRET\\q\"}", 1, 23, "", "text in double quotes", false},
		{"{\"log_level\": trueish}", 1, 15, "", "text in double quotes", false},
		{"{} {}", 1, 4, "", "Syntax error", false},
		{"{\"a\": \"\xff\"}", 1, 8, "", "UTF-8", false},
		{"{/* é\xff */}", 1, 6, "", "UTF-8", false},
		{`{"theme": "\ud800"}`, 1, 12, "", "invalid surrogate", false},
		{`{"envs": ` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + "}", 1, 10009, "", "max depth", false},
		{strings.Repeat("[", 100001), 1, 1, "", "100000 brackets", false},
		{`{"envs":` + strings.Repeat(`{"a":`, 200000), 1, 1, "", "100000 brackets", false},
		{"{\n\"theme\": \"dark\",\n \"theme\": \"light\"}", 3, 2, "theme", "twice", false},
		{`{"font_sizes": {"chat": 12, "chat": 13}}`, 1, 29, "font_sizes.chat", "twice", false},
		{`{"envs": {"A": 1, "A": 2}}`, 1, 19, "envs.A", "twice", false},
		{`{"container_memory_mb": "2048"}`, 1, 25, "container_memory_mb", "must be a whole number", false},
		{`{"container_memory_mb": 1.5}`, 1, 25, "container_memory_mb", "must be a whole number", false},
		{`{"container_memory_mb": 1e99}`, 1, 25, "container_memory_mb", "must be a whole number", false},
		{`{"container_memory_mb": 1}`, 1, 25, "container_memory_mb", "must be from 256", false},
		{`{"terminal": {"colors": ["red=#cc0000", "dark.orange=#ff8800"]}}`, 1, 41, "terminal.colors", "no colour of a terminal", false},
		{`{"terminal": {"colors": ["red=url(x)"]}}`, 1, 26, "terminal.colors", "no colour of a terminal", false},
		{`{"terminal": {"colors": ["red=#cc000"]}}`, 1, 26, "terminal.colors", "no colour of a terminal", false},
		{`{"terminal": {"minimum_contrast": 0}}`, 1, 35, "terminal.minimum_contrast", "must be from 1", false},
		{`{"container_cpus": -1}`, 1, 20, "container_cpus", "must be from 0.01", false},
		{`{"container_cpus": 1e999}`, 1, 20, "container_cpus", "must be a number", false},
		{`{"container_cpus": true}`, 1, 20, "container_cpus", "must be a number", false},
		{`{"container_image_autobuild": 1}`, 1, 31, "container_image_autobuild", "true or false", false},
		{`{"container_image": ""}`, 1, 21, "container_image", "is empty", false},
		{`{"mounts": "a:/b"}`, 1, 12, "mounts", "a list of texts", false},
		{`{"mounts": ["a:/b", 1]}`, 1, 21, "mounts", "entry 1", false},
		{`{"envs": ["A=1"]}`, 1, 10, "envs", "an object", false},
		{`{"font_sizes": 12}`, 1, 16, "font_sizes", "an object", false},
		{`{"font_sizes": {"chat": 200}}`, 1, 25, "font_sizes.chat", "must be from 8 to 40", false},
		{`{"log_level": "pink"}`, 1, 15, "log_level", "one of debug, info", false},
		{`{"theme": "` + strings.Repeat("ä", 61) + `"}`, 1, 11, "theme", "longer than 60", false},
		{`{"log_level": "loud"}`, 1, 15, "log_level", "one of debug", false},
		{`{"api_addr": ":8222"}`, 1, 14, "api_addr", "other computers", false},
		{`{"api_addr": "0.0.0.0:8222"}`, 1, 14, "api_addr", "other computers", false},
		{`{"api_addr": "8222"}`, 1, 14, "api_addr", "host:port", false},
		{`{"api_addr": "127.0.0.1:99999"}`, 1, 14, "api_addr", "host:port", false},
		{`{"anthropic_base_url": "localhost:1"}`, 1, 24, "anthropic_base_url", "http or https", false},
		{`{"anthropic_base_url": "https://u:p@h"}`, 1, 24, "anthropic_base_url", "user name or password", false},
		{`{"anthropic_api_key": " sk "}`, 1, 23, "anthropic_api_key", "spaces", false},
		{`{"claude_code_oauth_token": "sk one"}`, 1, 29, "claude_code_oauth_token", "spaces", false},
		{`{"anthropic_api_key": "a\u0000b"}`, 1, 23, "anthropic_api_key", "control character", false},
		{`{"claude_model": "--x"}`, 1, 18, "claude_model", "one word", false},
		{`{"docker_host": "/var/run/docker.sock"}`, 1, 17, "docker_host", "container engine", false},
		{"{\n\t\"é\": 1, \"contaner_memory_mb\": 1}", 2, 2, "é", "not a setting", true},
		{`{"contaner_memory_mb": 1}`, 1, 2, "contaner_memory_mb", "not a setting", true},
		{`{"agentgate": {}}`, 1, 2, "agentgate", "not acted on in this version: the gate's settings are those of gates.agentgate", true},
		{`{"gates": {"agentgate": {"file_rules": [{"paths": ["/x"]}]}}}`, 1, 41, "gates.agentgate.file_rules", "has in rule 1 no decision", false},
		{`{"gates": {"agentgate": {"file_rules": [{"path": ["/x"], "decision": "deny"}]}}}`, 1, 41, "gates.agentgate.file_rules", "does not have at “path”", false},
		{`{"gates": {"agentgate": {"path_rules": [{"pattern": "", "decision": "deny"}]}}}`, 1, 41, "gates.agentgate.path_rules", "no pattern", false},
		{`{"gates": {"agentgate": {"command_rules": [{"decision": "allow", "category": "gate"}]}}}`, 1, 44, "gates.agentgate.command_rules", "a category", false},
		{`{"workflows": []}`, 1, 2, "workflows", "not acted on", true},
		{`{"a\u001b[31m` + strings.Repeat("x", 200) + `": 1}`, 1, 2, "", `“a\x1b[31m`, true},
		{`{"container_image\u200b": "x"}`, 1, 2, "", `“container_image\u200b” is not`, true},
	} {
		_, problems, err := Parse("c.json", []byte(c.text))
		if len(problems) == 0 {
			t.Errorf("%.60q: no problem", c.text)
			continue
		}
		p := problems[0]
		if p.Line != c.line || p.Col != c.col || (c.field != "" && p.Field != c.field) || !strings.Contains(p.Message, c.part) || p.Warning != c.warning {
			t.Errorf("%.60q: %+v", c.text, p)
		}
		if p.Remedy == "" || len(p.Message) > 400 || strings.Contains(p.Message+p.Remedy, "SECRET") {
			t.Errorf("%.60q: %+v", c.text, p)
		}
		if (err == nil) != c.warning {
			t.Errorf("%.60q: error %v", c.text, err)
		}
		if err != nil && core.AsFailure(err).Code != core.CodeConfig {
			t.Errorf("%.60q: %v", c.text, err)
		}
	}
	_, problems, _ := Parse("c", []byte(`{"contaner_memory_mb": 1, "Theme": "x", "zzzzzzzz": 1}`))
	if !strings.Contains(problems[0].Remedy, "container_memory_mb") || !strings.Contains(problems[1].Remedy, "“theme”") || strings.Contains(problems[2].Remedy, "mean") {
		t.Errorf("suggestions %+v", problems)
	}
	// One wrong field leaves the others as they are.
	c, problems, err := Parse("c", []byte(`{"unknown": 1, "container_cpus": "x", "container_memory_mb": 512}`))
	if err == nil || len(problems) != 2 || c.ContainerMemoryMB != 512 || c.ContainerCPUs != 2 {
		t.Errorf("%v %v %v", c, problems, err)
	}
	if _, problems, _ := Parse("c", []byte("{"+strings.Repeat(`"x":1,`, 5000)+"}")); len(problems) > maxProblems+1 {
		t.Errorf("%d problems", len(problems))
	}
}

func TestLoadFiles(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, FileName)
	expect := func(part string) {
		t.Helper()
		c, problems, err := Load(path)
		if err == nil || len(problems) != 1 || !strings.Contains(problems[0].Message, part) || problems[0].Remedy == "" {
			t.Errorf("%v, %v; want %q", problems, err, part)
		}
		if c.ContainerMemoryMB != 2048 {
			t.Error("no defaults")
		}
	}
	if _, problems, err := Load(path); err != nil || len(problems) != 0 {
		t.Error("a missing file is not a problem:", err, problems)
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	expect("folder")
	os.Remove(path)
	big, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(big.Truncate(MaxSize+1), big.Close()); err != nil {
		t.Fatal(err)
	}
	expect("larger than 4 MiB")
	os.Remove(path)
	if runtime.GOOS == "windows" {
		return
	}
	if err := os.WriteFile(path, []byte(`{"anthropic_api_key": "k"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	c, problems, err := Load(path)
	if err != nil || len(problems) != 1 || !problems[0].Warning || !strings.Contains(problems[0].Message, "Other users") || c.AnthropicAPIKey != "k" {
		t.Error(problems, err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, problems, _ := Load(path); len(problems) != 0 {
		t.Error(problems)
	}
	if p := fileProblem(path, MaxSize, &os.PathError{Op: "open", Err: os.ErrPermission}); !strings.Contains(p.Message, "cannot be read by this user") {
		t.Error(p)
	}
	os.Remove(path)
	if err := os.Symlink("/dev/zero", path); err == nil {
		expect("not an ordinary file")
	}
	os.Remove(path)
	if err := os.Symlink(path+".away", path); err == nil {
		expect("leads nowhere") // and does not count as a missing file
	}
}

func TestCredential(t *testing.T) {
	c := Config{ClaudeCodeOAuthToken: "tok-SECRET", AnthropicAPIKey: "key-SECRET", Envs: map[string]any{"GH": "env-SECRET"}}
	if kind, v := c.Credential(); kind != CredentialOAuth || v.Reveal() != "tok-SECRET" {
		t.Error(kind)
	}
	c.ClaudeCodeOAuthToken = ""
	if kind, v := c.Credential(); kind != CredentialAPIKey || v.Reveal() != "key-SECRET" {
		t.Error(kind)
	}
	if kind, _ := (Config{}).Credential(); kind != "" {
		t.Error(kind)
	}
	c.ClaudeCodeOAuthToken = "tok-SECRET"
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "config", c, "key", c.AnthropicAPIKey)
	raw, err := json.Marshal(c.AnthropicAPIKey)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{c.String(), fmt.Sprint(c), fmt.Sprintf("%v %+v %#v %s", c, c, c, &c), fmt.Sprintf("%v %#v %s %q", c.AnthropicAPIKey, c.AnthropicAPIKey, c.AnthropicAPIKey, c.AnthropicAPIKey), log.String(), string(raw)} {
		if strings.Contains(s, "SECRET") {
			t.Errorf("a credential shows: %s", s)
		}
	}
	if !strings.Contains(c.String(), "envs") || !strings.Contains(c.String(), "anthropic_api_key") {
		t.Error(c.String())
	}
}

func TestHome(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // the expected paths have slashes
	}
	boom := errors.New("boom")
	cwd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		value, home string
		homeErr     error
		want        string
	}{
		{"", "/home/m", nil, "/home/m/.loop"},
		{"/x/../y/", "/home/m", nil, "/y"},
		{"rel/dir", "/home/m", nil, cwd + "/rel/dir"},
		{"./.loop-home", "/home/m", nil, cwd + "/.loop-home"},
		{"~/l", "/home/m", nil, "/home/m/l"},
		{"/abs", "", boom, "/abs"},
		{"", "", boom, ""},
		{"", "relative", nil, ""},
		{"~", "/home/m", nil, ""},
		{"~other/x", "/home/m", nil, ""},
		{"/", "/home/m", nil, ""},
		{"/home/m", "/home/m", nil, ""},
	} {
		got, err := homeFrom(c.value, c.home, c.homeErr)
		if got != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%+v: %q, %v", c, got, err)
		}
		if err != nil && core.AsFailure(err).Remedy == "" {
			t.Errorf("%+v: no remedy", c)
		}
	}
	t.Setenv("LOOP_HOME", "/tmp/loop-x")
	if got, err := Home(); err != nil || got != "/tmp/loop-x" {
		t.Error(got, err)
	}
}

func FuzzLoad(f *testing.F) {
	for _, s := range []string{
		"", "{}", "\xef\xbb\xbf{}", `{"container_memory_mb": 1, "mounts": ["a:/b"], "envs": {"A": {"b": [1,]}}, "font_sizes": {"chat": 3}} // x`,
		`{"anthropic_api_key": "sk-\u0000"}`, "{/*", `{"a":` + strings.Repeat("[", 80), "{\"theme\"\n:\r\n\"dark\",}", "{\"\u2028\": //\u2028\n1}", `{"envs": {"A": -0, "B": 1e400}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, problems, err := Parse("/l/config.json", data)
		if !utf8.ValidString(c.String()) {
			t.Error("invalid UTF-8 came through")
		}
		broken := false
		for _, p := range problems {
			broken = broken || !p.Warning
			if p.Message == "" || p.Remedy == "" || p.Line < 1 || p.Col < 1 || !utf8.ValidString(p.Message) {
				t.Errorf("problem %+v", p)
			}
		}
		if broken != (err != nil) {
			t.Errorf("error %v with %v", err, problems)
		}
		if err != nil {
			return
		}
		if c.ContainerMemoryMB < 256 || c.ContainerNetwork == "" || c.FontSizes.Chat < 8 {
			t.Errorf("a value out of range came through: %v", c)
		}
		// A text that can be read can be edited, and the edit changes nothing else.
		out, err := edit("/l/config.json", data, "container_memory_mb", 777)
		if err != nil {
			t.Fatalf("edit: %v", err)
		}
		c2, _, err := Parse("/l/config.json", out)
		if err != nil || c2.ContainerMemoryMB != 777 {
			t.Fatalf("after the edit of %q: %q: %v", data, out, err)
		}
		c2.ContainerMemoryMB = c.ContainerMemoryMB
		if !reflect.DeepEqual(c, c2) {
			t.Errorf("the edit changed more: %q became %q", data, out)
		}
	})
}

// TestTooManyProblemsAreAnError: the text after the last reported problem counts too.
// It may say “network none”.
func TestTooManyProblemsAreAnError(t *testing.T) {
	var b strings.Builder
	b.WriteString("{\n")
	for i := range 2 * maxProblems {
		fmt.Fprintf(&b, "  \"no_such_%d\": 1,\n", i)
	}
	b.WriteString("  \"container_network\": \"none\"\n}\n")
	cfg, problems, err := Parse("c", []byte(b.String()))
	if err == nil && cfg.ContainerNetwork != "none" {
		t.Errorf("%d problems, no error, and the network is %s", len(problems), cfg.ContainerNetwork)
	}
	if len(problems) > maxProblems+1 {
		t.Errorf("%d problems", len(problems))
	}
	dir := project(t, t.TempDir(), b.String())
	if e := ForDir(global(t, `{}`), new(Trust), dir, ""); e.Err == nil && e.Config.ContainerNetwork != "none" {
		t.Error("a project's network is not what its file says")
	}
}
