//go:build docker

package e2e

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"loop/backend/core"
	"loop/backend/sandbox"
)

// chromeUser is who Chromium is in its container.
var chromeUser = fmt.Sprintf("%d:%d", sandbox.ChromeID, sandbox.ChromeID)

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

// TestKilledChromium kills Chromium's renderers, and then Chromium under an act of the agent:
// the agent reads one sentence each time, and what it does next works.
func TestKilledChromium(t *testing.T) {
	_, s, ch, p := servedBrowser(t)
	s.site(t, ch)
	p.wait("the agent's port", func() bool { return len(p.state.Ports) == 1 })
	shell := s.termClient(t)
	shell.create(fmt.Sprintf(`"channel_id":%q,"cmd":["/bin/bash"],"cols":200,"rows":50`, ch))
	agent := func(body, want string) {
		t.Helper()
		if said := shell.browse(body); !strings.Contains(said, want) {
			t.Errorf("%s: %s", body, said)
		}
	}
	const open = `{"action":"navigate","params":{"url":"http://localhost:8080/"}}`
	const read = `{"action":"get_page_text","params":{}}`
	kill := func(which string) {
		t.Helper()
		// The container of a Chromium that has ended goes, and this with it.
		out, err := docker(t.Context(), "exec", "-u", chromeUser, chromeContainer(t, ch), "sh", "-c", `for p in /proc/[0-9]*; do
			c=$(tr '\0' ' ' < $p/cmdline 2>/dev/null); case "$c" in `+which+`) echo found; kill -9 ${p#/proc/};; esac; done`)
		if !strings.Contains(out, "found") {
			t.Fatalf("nothing was killed: %q %v", out, err)
		}
	}
	agent(open, "Inside")
	kill("/usr/lib/chromium/chromium*--type=renderer*")
	p.wait("the crash of the page", func() bool { return len(p.state.Tabs) == 1 && p.state.Tabs[0].Crashed })
	agent(read, "The page has crashed. Reload it or open another.")
	agent(open, "Inside")
	agent(read, "Inside")
	p.wait("the same Chromium", func() bool { return p.state.Phase == core.BrowserRunning })

	id := chromeContainer(t, ch)
	said := make(chan string, 1)
	other := s.termClient(t)
	other.create(fmt.Sprintf(`"channel_id":%q,"cmd":["/bin/bash"],"cols":200,"rows":50`, ch))
	go func() {
		said <- other.browse(`{"action":"evaluate","params":{"expression":"console.error('busy'); new Promise(() => {})"}}`)
	}()
	p.wait("the act to be under way", func() bool { return p.state.Errors == 1 })
	kill("*--type=*) ;; /usr/lib/chromium/chromium*") // the browser alone, and none of its own
	if s := <-said; !strings.Contains(s, `"error":"The browser has ended; the next action starts it again."`) {
		t.Errorf("under the act: %s", s)
	}
	p.wait("the crash", func() bool { return p.state.Phase == core.BrowserCrashed && p.state.Failure != nil })
	agent(open, "Inside")
	agent(read, "Inside")
	if now := chromeContainer(t, ch); now == id || strings.Contains(chromeLeft(t, ch, "{{.ID}}"), "\n") {
		t.Errorf("it goes on in %s after %s", now, id)
	}
}

// BenchmarkBrowserStartInItsContainer is what a person waits for the first picture in a pane:
// from no container to one, and from a Chromium that runs to the next with its profile.
func BenchmarkBrowserStartInItsContainer(b *testing.B) {
	h := newHome(b, "")
	s := h.serve()
	var started, again []float64
	picture := func(p *browserPane, begun time.Time) float64 {
		p.wait("the first picture", func() bool { return p.state.Phase == core.BrowserRunning && p.frames > 0 })
		return float64(time.Since(begun).Milliseconds())
	}
	for range b.N {
		ch := s.add(b.TempDir())
		begun := time.Now()
		p := s.pane(b, ch)
		started = append(started, picture(p, begun))
		begun = time.Now()
		p.say(core.BrowserCommand{Type: "restart"})
		p.wait("the end", func() bool { p.frames = 0; return p.state.Phase != core.BrowserRunning })
		again = append(again, picture(p, begun))
		s.must("Channels.Remove", nil, ch) // and what its browser has kept
	}
	slices.Sort(started)
	slices.Sort(again)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(started[len(started)/2], "ms-start-to-first-frame")
	b.ReportMetric(again[len(again)/2], "ms-restart-to-first-frame")
}
