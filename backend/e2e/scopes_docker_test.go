//go:build docker

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"loop/backend/core"
)

// TestTwoChannelsInOneContainer: channels that share a container work side by side. Neither
// passes for the other, and the end of one leaves the other alone.
func TestTwoChannelsInOneContainer(t *testing.T) {
	t.Parallel()
	for _, scope := range []string{"agent", "shared"} {
		t.Run(scope, func(t *testing.T) {
			c := newCaller(t)
			h := newHome(t, fmt.Sprintf(`{"anthropic_base_url":"http://127.0.0.1:%s","anthropic_api_key":"k",
				"agents":{"defaults":{"sandbox":{"scope":%q}}}}`, c.port, scope))
			s := h.serve()
			first, second := t.TempDir(), t.TempDir()
			a := s.add(first)
			var b core.ChannelID
			if scope == "shared" {
				b = s.add(second)
			} else {
				var thread core.ChannelView
				s.must("Channels.CreateThread", &thread, core.ThreadRequest{ParentID: a, Name: "Side"})
				b, second = thread.ID, first
			}
			c.steps["wait"] = []step{bash(`cat /proc/sys/kernel/hostname > box-a; sleep 600`)}
			c.steps["work"] = []step{
				{mcp + "send_message", map[string]any{"content": "Said by the second."}},
				bash(`cat /proc/sys/kernel/hostname > box-b; echo "I am $CHANNEL_ID"; CHANNEL_ID=` + string(a) + ` LOOP_CHANNEL_ID=` + string(a) +
					` curl -s -m 25 "$API_URL/api/agents"; echo; echo begun > begun; until [ -e go ]; do sleep 0.1; done; echo over`),
			}
			waits := s.prompt(a, "Do-wait")
			awaitFile(t, filepath.Join(first, "box-a"))
			works := s.prompt(b, "Do-work")
			awaitFile(t, filepath.Join(second, "begun"))
			s.must("Runs.Cancel", nil, waits)
			s.until(a, "the end of the first", func(p timeline) bool { return outcome(p, waits).State == core.RunCancelled })
			if err := os.WriteFile(filepath.Join(second, "go"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			page := s.finished(b, works)
			if end := outcome(page, works); end.State != core.RunDone {
				t.Errorf("the second ended %+v", end)
			}
			got := results(page, works)
			if len(got) != 2 || !strings.Contains(got[1], "I am "+string(b)) || !strings.Contains(got[1], "over") {
				t.Errorf("the second's results: %q", got)
			}
			if !strings.Contains(texts(page.Events), "Said by the second.") {
				t.Error("the second's word is not in its timeline")
			}
			var other timeline
			s.must("Channels.Timeline", &other, a, 0, 100)
			if strings.Contains(texts(other.Events), "Said by the second.") {
				t.Error("the second spoke as the first")
			}
			boxA, _ := os.ReadFile(filepath.Join(first, "box-a"))
			boxB, _ := os.ReadFile(filepath.Join(second, "box-b"))
			if string(boxA) != string(boxB) || len(boxA) == 0 || len(h.containers()) != 1 {
				t.Errorf("in %q and %q; the engine has %d containers", boxA, boxB, len(h.containers()))
			}

			// The conversation of before goes on after the channel has a container of its own, and
			// again when it shares.
			for _, now := range []string{"session", scope} {
				s.must("Settings.Set", nil, "global", "", "agents.defaults.sandbox.scope", now)
				c.steps["again"] = []step{bash(`cat /proc/sys/kernel/hostname > box-c`)}
				page = s.finished(b, s.prompt(b, "Do-again"))
				if notices := strings.Join(kept(page, page.Events[len(page.Events)-1].RunID, core.EventNotice), " "); strings.Contains(notices, "no longer kept") {
					t.Errorf("with the scope %s: %s", now, notices)
				}
				if boxC, _ := os.ReadFile(filepath.Join(second, "box-c")); (string(boxC) == string(boxA)) != (now == scope) {
					t.Errorf("with the scope %s in %q", now, boxC)
				}
			}
		})
	}
}

// awaitFile waits until an agent has made a file.
func awaitFile(t *testing.T, path string) {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); ; <-tick.C {
		if _, err := os.Stat(path); err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("the agent did not make %s", filepath.Base(path))
		}
	}
}
