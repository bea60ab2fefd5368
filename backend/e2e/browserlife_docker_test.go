//go:build docker

package e2e

import (
	"context"
	"os"
	"strings"
	"testing"

	"loop/backend/core"
)

// chromeLeft is every container of the channel's browser, running or not.
func chromeLeft(t testing.TB, ch core.ChannelID, format string) string {
	t.Helper()
	out, err := docker(context.Background(), "ps", "-a", "--no-trunc", "--format", format, "--filter", "name=loop-chrome-"+string(ch))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(out)
}

// TestBrowserOfALoopThatWasKilled: Loop is killed while a browser is open. What it left goes
// with the next start, and ends by itself where there is none; the channel's browser opens
// again with its profile.
func TestBrowserOfALoopThatWasKilled(t *testing.T) {
	t.Parallel() // mostly waits
	h := newHome(t, "")
	scratch := t.TempDir()
	h.env = append(h.env, "TMPDIR="+scratch)
	s, ch, p := h.browser()
	t.Cleanup(func() {
		if ids := strings.Fields(chromeLeft(t, ch, "{{.ID}}")); t.Failed() && len(ids) > 0 { // the volume could not go
			if out, err := docker(context.Background(), append([]string{"rm", "-f"}, ids...)...); err != nil {
				t.Logf("%v %s", err, out)
			}
		}
	})
	s.site(t, ch)
	p.wait("the agent's port", func() bool { return len(p.state.Ports) == 1 })
	eval := func(script, want string) {
		t.Helper()
		if res := p.act("navigate", map[string]any{"url": "http://localhost:8080/"}); res.Error != "" {
			t.Fatal(res.Error)
		}
		if res := p.act("evaluate", map[string]any{"expression": script}); !strings.Contains(res.Result, want) {
			t.Fatalf("%s: %+v", script, res)
		}
	}
	again := func() {
		t.Helper()
		s = h.serve()
		p = s.pane(t, ch)
		p.wait("Chromium", func() bool { return p.state.Phase == core.BrowserRunning })
		p.wait("the agent's port", func() bool { return len(p.state.Ports) == 1 })
	}
	eval(`localStorage.kept = "of the first"; localStorage.kept`, "of the first")

	// Its container runs on for a while, and ends.
	id := chromeContainer(t, ch)
	s.kill()
	if now := chromeLeft(t, ch, "{{.ID}} {{.State}}"); !strings.HasPrefix(now, id) || !strings.HasSuffix(now, " running") {
		t.Errorf("right after the end of Loop: %s of %s", now, id)
	}
	poll(t, "the container to end", func() bool { return strings.HasSuffix(chromeLeft(t, ch, "{{.State}}"), "exited") })
	if out, err := docker(t.Context(), "inspect", "-f", "{{.State.ExitCode}} {{.State.OOMKilled}}", id); err != nil || strings.TrimSpace(out) != "0 false" {
		t.Errorf("it ended with %s %v", out, err)
	}
	again()
	eval("localStorage.kept", "of the first")
	if now := chromeContainer(t, ch); strings.HasPrefix(now, id) || strings.Contains(chromeLeft(t, ch, "{{.ID}}"), "\n") {
		t.Errorf("it goes on in %s, and there is\n%s", now, chromeLeft(t, ch, "{{.ID}} {{.State}}"))
	}

	// A Loop that starts at once removes what still runs, before anybody asks for a browser.
	id = chromeContainer(t, ch)
	s.kill()
	s = h.serve()
	poll(t, "the container to go", func() bool { return chromeLeft(t, ch, "{{.ID}}") == "" })
	s.kill()
	again()
	eval("localStorage.kept", "of the first")
	if now := chromeContainer(t, ch); strings.HasPrefix(now, id) {
		t.Errorf("it goes on in %s", now)
	}
	volumes, err := docker(t.Context(), "volume", "ls", "-q", "--filter", "name=loop-chrome-profile-"+string(ch))
	if n := len(strings.Fields(volumes)); err != nil || n != 1 {
		t.Errorf("%d profiles: %v", n, err)
	}

	// Nothing is left behind by any of the four.
	s.stop()
	if left := chromeLeft(t, ch, "{{.ID}} {{.State}}"); left != "" {
		t.Errorf("left: %s", left)
	}
	left, err := os.ReadDir(scratch)
	if err != nil || len(left) > 0 {
		t.Errorf("left in the folder for temporary files: %v %v", left, err)
	}
}
