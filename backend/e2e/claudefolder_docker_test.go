//go:build docker

package e2e

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"loop/backend/core"
	"loop/backend/sandbox"
)

// allowed lets a run do what it asks for, and returns the files in order.
func (s *server) allowed(ch core.ChannelID, run core.RunID) (targets []string) {
	s.h.t.Helper()
	var last string
	s.until(ch, "the end of the run", func(p timeline) bool {
		var list []core.Approval
		s.must("Gate.Pending", &list)
		if len(list) > 0 && list[0].ID != last {
			last = list[0].ID
			targets = append(targets, list[0].Target)
			s.answers(list[0], true)
		}
		return ended(p, run)
	})
	return targets
}

// TestClaudeFolder proves with the real CLI what CLAUDE_CONFIG_DIR moves. The files
// that Loop and a person rely on lie in the channel's folder beside the home. Older
// files are carried over from the home. They stay there even when the agent makes
// ~/.claude lead elsewhere.
func TestClaudeFolder(t *testing.T) {
	t.Parallel()
	c := newCaller(t)
	h := newHome(t, fmt.Sprintf(`{"anthropic_base_url":"http://127.0.0.1:%s","anthropic_api_key":"k"}`, c.port))
	s := h.serve()
	work := repository(t)
	ch := s.add(work)
	at := func(parts ...string) string {
		return filepath.Join(append([]string{h.dir, "channels", string(ch)}, parts...)...)
	}
	for name, text := range map[string]string{
		at("claude", "settings.json"): `{"env":{"FROM_SETTINGS":"yes"}}`,
		at("claude", ".credentials.json"): `{"claudeAiOauth":{"accessToken":"sk-ant-oat01-x","refreshToken":"sk-ant-ort01-x","expiresAt":4102444800000,` +
			`"scopes":["user:inference"],"subscriptionType":"pro"}}`,
		at("home", ".claude.json"):                                     `{"mcpServers":{"earlier":{"type":"stdio","command":"true","args":[],"env":{}}}}`,
		filepath.Join(work, "market/.claude-plugin/marketplace.json"):  `{"name":"market","owner":{"name":"x"},"plugins":[{"name":"hello","source":"./hello"}]}`,
		filepath.Join(work, "market/hello/.claude-plugin/plugin.json"): `{"name":"hello","version":"1.0.0"}`,
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(at("home", ".claude"), 0o700); err != nil {
		t.Fatal(err)
	}
	away := filepath.Join(work, "away")
	facts := bash(`echo "settings $FROM_SETTINGS, folder $CLAUDE_CONFIG_DIR, link $(readlink ~/.claude)"; ` +
		`env -u ANTHROPIC_API_KEY -u ANTHROPIC_AUTH_TOKEN claude auth status | tr -d '\n'; claude mcp get earlier`)
	c.steps["first"] = []step{facts, bash("claude mcp add --scope user probe -- true && claude plugin marketplace add ./market && claude plugin install hello@market")}
	c.steps["second"] = []step{facts, bash("rm ~/.claude && mkdir " + away + " && ln -s " + away + " ~/.claude")}
	c.steps["third"] = []step{facts, bash("claude mcp get probe && claude plugin list")}

	// An installed plugin runs programs in every later session, so the gate asks for it, but
	// not for what is written aside.
	needless := func(target string) bool {
		return !strings.HasPrefix(target, sandbox.ClaudeDir+"/") || strings.HasSuffix(target, ".lock") || strings.Contains(target, ".json.tmp.")
	}
	for i, word := range []string{"first", "second", "third"} {
		run := s.prompt(ch, "Do-"+word)
		asked := s.allowed(ch, run)
		if i == 1 && len(asked) == 2 && asked[0] == asked[1] && filepath.Base(asked[0]) == ".claude" {
			asked = nil // the link is removed and made anew, with the names of all that it leads to
		}
		if (len(asked) > 0) != (i == 0) || slices.ContainsFunc(asked, needless) {
			t.Errorf("%s asks for %q", word, asked)
		}
		got := strings.Join(results(s.finished(ch, run), run), "\n")
		link := sandbox.ClaudeDir
		if word == "third" {
			link = away
		}
		for _, want := range []string{
			"settings yes, folder " + sandbox.ClaudeDir + ", link " + link,
			`\"storedClaudeAiLogin\": true`, `\"configDirectory\": \"` + sandbox.ClaudeDir + `\"`, "earlier:",
			[]string{"Successfully installed plugin: hello@market", "", "probe:"}[i], []string{"", "", "hello@market"}[i],
		} {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in %s", word, want, got)
			}
		}
		// The CLI's folder has all of these files, and the home has none.
		for _, name := range []string{".claude.json", ".credentials.json", "settings.json", "plugins/installed_plugins.json"} {
			if info, err := os.Lstat(at("claude", name)); err != nil || !info.Mode().IsRegular() {
				t.Errorf("%s: %v", word, err)
			}
		}
		if _, err := os.Lstat(at("home", ".claude.json")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: the home has a .claude.json: %v", word, err)
		}
		if left, err := os.ReadDir(away); len(left) > 0 || i > 0 && err != nil {
			t.Errorf("%s: written by way of the link: %v %v", word, left, err)
		}
		// There is one conversation, and each run continues it.
		list := answers[[]core.SessionInfo](h, "sessions", "--dir", work, "--json")
		files, _ := filepath.Glob(at("claude", "projects", "*", "*.jsonl"))
		if len(list) != 1 || !list[0].Current || len(files) != 1 {
			t.Fatalf("%s: %+v in %v", word, list, files)
		}
		if text, err := os.ReadFile(files[0]); err != nil || strings.Count(string(text), `"content":"Do-`) < i+1 {
			t.Errorf("%s: %v in %s", word, err, text)
		}
	}
}
