//go:build docker && claude

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

// TestAPromptWithAModelOfItsOwn: the model and the effort of one prompt reach the API, the
// prompt after it has the model from before, and the list of commands has what the CLI
// offered and what the project has.
func TestAPromptWithAModelOfItsOwn(t *testing.T) {
	t.Parallel()
	m := newModel(t, "127.0.0.1:0")
	h := newHome(t, fmt.Sprintf(`{"anthropic_base_url": "http://127.0.0.1:%s", "anthropic_api_key": "sk-test"}`, m.port))
	work := t.TempDir()
	if err := os.MkdirAll(filepath.Join(work, ".claude", "commands"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(work, ".claude", "commands", "ticket.md"), []byte("---\ndescription: Write a ticket\n---\nDo it."), 0o600); err != nil {
		t.Fatal(err)
	}
	last := func(args ...string) (model, effort string) {
		t.Helper()
		if r := h.runJSON(append([]string{"--dir", work}, args...)...); r.code != 0 {
			t.Fatalf("exit %d\n%s\n%s", r.code, r.err, r.out)
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		var req struct {
			Model  string `json:"model"`
			Output struct {
				Effort string `json:"effort"`
			} `json:"output_config"`
		}
		if err := json.Unmarshal([]byte(m.bodies[len(m.bodies)-1]), &req); err != nil {
			t.Fatal(err)
		}
		return req.Model, req.Output.Effort
	}
	usual, _ := last("First")
	own, effort := last("--model", "sonnet", "--effort", "low", "Second")
	if !strings.Contains(own, "sonnet") || strings.Contains(usual, "sonnet") || effort != "low" {
		t.Errorf("usual %q, own %q with effort %q", usual, own, effort)
	}
	if back, effort := last("Third"); back != usual || effort == "low" {
		t.Errorf("after it %q with effort %q, want %q", back, effort, usual)
	}
	s := h.serve()
	var ch []core.ChannelView
	s.must("Channels.List", &ch)
	var got core.SlashCommands
	s.must("Files.Commands", &got, string(ch[0].ID))
	if all := fmt.Sprint(got); !strings.Contains(all, "{ticket  Write a ticket project}") || !strings.Contains(all, "{compact [focus]") || got.Left != "" {
		t.Errorf("%s", all)
	}
}
