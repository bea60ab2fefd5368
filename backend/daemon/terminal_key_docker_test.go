//go:build docker

package daemon

import (
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"loop/backend/config"
	"loop/backend/core"
	"loop/backend/demo"
)

// TestClaudeTypedByHand: in a plain shell the real CLI works with every kind of
// credential, and the key is nowhere in the container.
func TestClaudeTypedByHand(t *testing.T) {
	var mu sync.Mutex
	var said []string
	scripted := demo.New(demo.Options{Pace: demo.Instant}) // the CLI draws as long as it waits
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/v1/messages") {
			mu.Lock()
			said = append(said, r.Header.Get("Authorization")+" "+r.Header.Get("X-Api-Key")+" "+r.Header.Get("Anthropic-Beta"))
			mu.Unlock()
		}
		scripted.ServeHTTP(w, r)
	}))
	defer model.Close()
	d, ch := started(t)
	demoChannel, err := d.bound.channels.Demo()
	if err != nil {
		t.Fatal(err)
	}
	const secret = "sk-very-secret"
	for _, k := range []struct {
		name, kind string
		ch         core.ChannelID
		base       string
		want, beta string
	}{
		{"api key", config.CredentialAPIKey, ch.ID, model.URL, " " + secret + " ", ""},
		{"token", config.CredentialOAuth, ch.ID, model.URL, "Bearer " + secret + "  ", "oauth-"},
		{"model on this host", "", ch.ID, model.URL, "Bearer loop-no-key  ", ""},
		{"demo", "", demoChannel.ID, "", "", ""},
	} {
		t.Run(k.name, func(t *testing.T) {
			kept := t.TempDir()
			editor := config.Editor{History: config.OpenHistory(kept), Trust: config.OpenTrust(filepath.Join(kept, config.TrustFileName))}
			set := func(name string, value any) {
				t.Helper()
				if err := editor.Set(config.GlobalFile(d.config.Path()), name, value); err != nil {
					t.Fatal(err)
				}
				d.config.Reload()
			}
			set("anthropic_base_url", k.base)
			set(config.CredentialAPIKey, nil)
			set(config.CredentialOAuth, nil)
			if k.kind != "" {
				set(k.kind, secret)
			}
			mu.Lock()
			said = nil
			mu.Unlock()
			i, err := d.terminals.Create(t.Context(), core.TerminalSpec{ChannelID: k.ch, Plain: true, Cols: 160, Rows: 40})
			if err != nil {
				t.Fatal(err)
			}
			v, err := d.terminals.Attach(t.Context(), i.ID, core.TerminalAttach{})
			if err != nil {
				t.Fatal(err)
			}
			defer v.Close()
			s := &screenText{v: v}
			typed := func(line, want string) {
				t.Helper()
				if err := d.terminals.Input(t.Context(), i.ID, []byte(line)); err != nil {
					t.Fatal(err)
				}
				s.past(t, want)
			}
			typed("claude --print 'hello there' && echo by''-hand\r", "by-hand")
			typed("claude\r", "for agents")
			typed("hello there\r", "real") // the scripted model's answer
			if out, err := exec.Command("docker", "exec", "-u", "0", string(i.ContainerID), "sh", "-c",
				"cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null; cat /run/loop/runs/*/* $HOME/.claude/*.json $HOME/.claude.json 2>/dev/null; true").Output(); err != nil || strings.Contains(string(out), secret) {
				t.Errorf("the key is in the container (%v)", err)
			}
			if err := d.terminals.CloseSession(t.Context(), i.ID); err != nil {
				t.Fatal(err)
			}
			mu.Lock()
			defer mu.Unlock()
			if k.base != "" && len(said) < 2 {
				t.Errorf("the model was asked %d times", len(said))
			}
			for _, was := range said {
				if !strings.HasPrefix(was, k.want) || !strings.Contains(was, k.beta) {
					t.Errorf("asked with %q", was)
				}
			}
		})
	}
}
