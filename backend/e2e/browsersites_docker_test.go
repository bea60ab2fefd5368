//go:build docker

package e2e

import (
	"strings"
	"testing"

	"loop/backend/core"
)

// TestNewSitesAreAskedAbout has the real CLI open a site that nobody has decided about. The
// question comes before anything is resolved or sent, so that no network is needed.
func TestNewSitesAreAskedAbout(t *testing.T) {
	h, ch, p := browserRig(t)
	s := p.s
	run := func(more ...string) <-chan result {
		ran := make(chan result, 1)
		go func() {
			ran <- h.runJSON(append([]string{"--demo", "--script", "site", "--channel", string(ch)}, append(more, "Look it up.")...)...)
		}()
		return ran
	}

	ran := run()
	a := s.held(ch, "")
	if a.Kind != core.ApprovalNavigate || a.Target != "https://www.example.com/guide?topic=gates" || a.Site != "example.com" || a.RunID == "" ||
		a.ToolUseID == "" || a.Rule != "site.new" {
		t.Errorf("%+v", a)
	}
	p.wait("the old page", func() bool { return len(p.state.Tabs) == 1 && p.state.Tabs[0].URL == "about:blank" })
	s.answers(a, false)
	if r := <-ran; r.code != 0 || !strings.Contains(r.out, "The person denied opening https://www.example.com/guide?topic=gates.") ||
		!strings.Contains(texts(r.events), "I go on without it") {
		t.Errorf("exit %d:\n%s\n%s", r.code, r.out, r.err)
	}

	// Allowed, it is opened: here nothing answers to the name, and the tool says that.
	ran = run()
	s.answers(s.held(ch, a.ID), true)
	if r := <-ran; r.code != 0 || strings.Contains(r.out, "denied opening") || !strings.Contains(texts(r.events), "You let the browser go there") {
		t.Errorf("exit %d:\n%s\n%s", r.code, r.out, r.err)
	}

	// Nobody is there to ask.
	if r := <-run("--unattended"); r.code != 0 || !strings.Contains(r.out, "works unattended, so nobody can allow it") {
		t.Errorf("exit %d:\n%s\n%s", r.code, r.out, r.err)
	}
	var list []core.Approval
	if s.must("Gate.Pending", &list); len(list) > 0 {
		t.Errorf("%+v", list)
	}

	// A rule of the person decides without a question.
	h.ok("gate", "rules", "add", `{"sites":["example.com","*.example.com"],"decision":"deny","message":"Not there."}`)
	if r := <-run(); r.code != 0 || !strings.Contains(r.out, "A rule of the gate denies opening") || !strings.Contains(r.out, "Not there.") {
		t.Errorf("exit %d:\n%s\n%s", r.code, r.out, r.err)
	}
	if out := h.ok("gate", "log", "--channel", string(ch)); !strings.Contains(out.out, "https://www.example.com/guide") {
		t.Errorf("the record:\n%s", out.out)
	}
	// What a person opens needs nobody's word, whatever the rules say.
	if res := p.act("navigate", map[string]any{"url": "https://www.example.com/"}); strings.Contains(res.Error, "gate") {
		t.Errorf("%+v", res)
	}
}
