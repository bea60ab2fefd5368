//go:build docker

package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"loop/backend/core"
)

// heard is a Messages API that keeps what it was sent.
type heard struct {
	*caller
	mu   sync.Mutex
	said []string
}

func (h *heard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	h.mu.Lock()
	h.said = append(h.said, string(body))
	h.mu.Unlock()
	r.Body = io.NopCloser(bytes.NewReader(body))
	h.caller.ServeHTTP(w, r)
}

// take is everything that was sent since the last time.
func (h *heard) take() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := strings.Join(h.said, "\n")
	h.said = nil
	return all
}

// TestClaudeSetup: what the person granted of their own set-up is used by the CLI in the
// container; without the grant nothing of it is there.
func TestClaudeSetup(t *testing.T) {
	t.Parallel()
	mine := t.TempDir()
	for name, text := range map[string]string{
		"CLAUDE.md":                      "Canary-memory: always greet with a bow.",
		"skills/canary-skill/SKILL.md":   "---\nname: canary-skill\ndescription: Canary-skill-description\n---\nCanary-skill-body",
		"agents/canary-agent.md":         "---\nname: canary-agent\ndescription: Canary-agent-description\n---\nCanary-agent-prompt",
		"commands/canary-command.md":     "---\ndescription: Canary-command-description\n---\nCanary-command-body",
		"settings.json":                  `{"env": {"ANTHROPIC_BASE_URL": "http://127.0.0.1:1", "CANARY_VARIABLE": "canary-value"}, "language": "klingon"}`,
		".credentials.json":              `{"token": "canary-credential"}`,
		"projects/-x/conversation.jsonl": "canary-conversation",
	} {
		at := filepath.Join(mine, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	c := &heard{caller: newCaller(t)}
	api := httptest.NewServer(c)
	t.Cleanup(api.Close)
	h := newHome(t, fmt.Sprintf(`{"anthropic_base_url":%q,"anthropic_api_key":"k"}`, api.URL))
	h.env = append(h.env, "CLAUDE_CONFIG_DIR="+mine)
	s := h.serve()
	ch := s.add(t.TempDir())
	c.steps["use"] = []step{
		{"Skill", map[string]any{"skill": "canary-skill"}},
		{"Task", map[string]any{"subagent_type": "canary-agent", "description": "look", "prompt": "Look around"}},
		bash(`echo "variable=$CANARY_VARIABLE"; grep -rl "canary-[cv]" "$CLAUDE_CONFIG_DIR" 2>/dev/null | grep -v projects; echo end`),
	}
	use := func() (said string, got []string) {
		t.Helper()
		c.take()
		var run core.Run
		s.must("Runs.Prompt", &run, map[string]any{ // in a conversation that remembers nothing
			"client_id": core.NewID(), "channel_id": ch, "prompt": "Do-use", "session": core.SessionStart{Mode: core.SessionFresh},
		})
		page := s.finished(ch, run.ID)
		return c.take(), results(page, run.ID)
	}

	// Nobody was asked yet.
	said, _ := use()
	if strings.Contains(said, "anary-memory") || strings.Contains(said, "Canary-skill-description") || strings.Contains(said, "Canary-agent-description") {
		t.Error("the set-up is there without a grant")
	}

	s.must("Settings.Set", nil, "global", "", "claude_setup", "read")
	said, got := use()
	for _, want := range []string{"Canary-memory", "Canary-skill-description", "Canary-agent-description", "Canary-skill-body", "Canary-agent-prompt"} {
		if !strings.Contains(said, want) {
			t.Errorf("the CLI did not use %s", want)
		}
	}
	all := strings.Join(got, "\n")
	if !strings.Contains(all, `variable=\nend`) {
		t.Errorf("results: %s", all)
	}
	var why core.Explanation
	s.must("System.Explain", &why, ch, false)
	for _, want := range []string{"claude_setup[CLAUDE.md]", "claude_setup[skills/canary-skill/SKILL.md]", "env:CANARY_VARIABLE", "ANTHROPIC_BASE_URL"} {
		if !strings.Contains(fmt.Sprintf("%+v", why), want) {
			t.Errorf("the explanation does not name %s", want)
		}
	}

	// A yes of its own, and a change of mine, count at the next run.
	s.must("Settings.Set", nil, "global", "", "claude_setup_allow", []string{"env:CANARY_VARIABLE", "env:ANTHROPIC_BASE_URL"})
	if err := os.WriteFile(filepath.Join(mine, "CLAUDE.md"), []byte("Canary-second-memory"), 0o600); err != nil {
		t.Fatal(err)
	}
	said, got = use()
	if !strings.Contains(said, "Canary-second-memory") || !strings.Contains(strings.Join(got, "\n"), "variable=canary-value") {
		t.Errorf("results: %s", strings.Join(got, "\n"))
	}

	// For one channel not, and then for none.
	s.must("Channels.Choose", nil, ch, core.ChannelChoices{ClaudeSetup: "none"})
	said, _ = use()
	if strings.Contains(said, "anary-second-memory") || strings.Contains(said, "Canary-skill-description") {
		t.Error("the set-up is there after it was taken back")
	}
}
