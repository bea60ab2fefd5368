package rulebook

import (
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"loop/backend/core"
	"loop/backend/gate"
)

func TestPagesThatNobodyIsAskedAbout(t *testing.T) {
	r := newBookRig(t)
	var asked []gate.Navigation
	p := Pages{
		Policies: r.Policies, Channels: r.Answers.Channels, Log: slog.New(slog.DiscardHandler),
		Inside: func(host string) bool { return host == "localhost" },
		Ask:    func(_ context.Context, n gate.Navigation) error { asked = append(asked, n); return nil },
	}
	by := core.Caller{ChannelID: "app", RunID: "run"}
	opens := func(url string, within bool) (n int, err error) {
		t.Helper()
		asked = nil
		err = p.Opens(t.Context(), "app", core.BrowserOpening{URL: url, Within: within}, by, "navigate")
		return len(asked), err
	}
	if n, err := opens("http://localhost:8080/", false); n != 0 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if n, err := opens("https://a.com/x", false); n != 1 || err != nil || asked[0].URL != "https://a.com/x" || asked[0].By != by ||
		asked[0].Tool != "navigate" || asked[0].Says.Rule != "site.new" {
		t.Errorf("%+v, %v", asked, err)
	}
	if n, err := opens("https://a.com/x", true); n != 0 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	r.write(filepath.Join(r.dir, ".loop", "config.json"), `{"gates":{"agentgate":{"site_rules":[{"sites":["a.com"],"decision":"deny"}]}}}`)
	if n, err := opens("https://a.com/x", true); n != 1 || err != nil || asked[0].Says.Decision != "deny" {
		t.Errorf("%+v, %v", asked, err)
	}
	if n, err := opens("https://%zz/", false); n != 0 || err == nil {
		t.Errorf("%d, %v", n, err)
	}
	if err := p.Opens(t.Context(), "nobody", core.BrowserOpening{URL: "https://a.com/"}, by, ""); err == nil ||
		!strings.Contains(err.Error(), "cannot tell whether") {
		t.Errorf("%v", err)
	}
	r.write(filepath.Join(filepath.Dir(r.dir), "config.json"), `{"gates":{"agentgate":{"enabled":false}}}`)
	if n, err := opens("https://a.com/", false); n != 0 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}
