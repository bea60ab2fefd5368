package settings

import (
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loop/backend/bind"
	"loop/backend/config"
	"loop/backend/core"
	"loop/backend/credentials"
)

// failing is a keyring that worked once and now refuses.
type failing struct{ err error }

func (f *failing) Get(string) (core.Secret, error) { return "", f.err }
func (f *failing) Set(string, core.Secret) error   { return f.err }
func (f *failing) Delete(string) error             { return f.err }

func testKeys(t *testing.T, text string) (*Keys, string) {
	t.Helper()
	home := t.TempDir()
	path := filepath.Join(home, config.FileName)
	if text != "" {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return newKeys(home, credentials.New(credentials.Options{Home: home, KeyDir: filepath.Join(t.TempDir(), "key")})), path
}

func newKeys(home string, vault *credentials.Vault) *Keys {
	return New(Options{
		Home: home, Source: config.NewSource(filepath.Join(home, config.FileName)), Vault: vault,
		Publish: func(...core.Event) {}, Log: slog.New(slog.DiscardHandler),
	}).Keys
}

func TestWhichKeyARunUses(t *testing.T) {
	for _, tc := range []struct {
		name, config string
		vault        map[string]core.Secret
		kind, secret string
	}{
		{"none", ``, nil, "", ""},
		{"key in the vault", ``, map[string]core.Secret{"anthropic_api_key": "v-key"}, "anthropic_api_key", "v-key"},
		{"token wins in the vault", ``, map[string]core.Secret{"anthropic_api_key": "v-key", "claude_code_oauth_token": "v-tok"}, "claude_code_oauth_token", "v-tok"},
		{"the configuration counts first", `{"anthropic_api_key": "c-key"}`, map[string]core.Secret{"claude_code_oauth_token": "v-tok"}, "anthropic_api_key", "c-key"},
		{"token wins in the configuration", `{"anthropic_api_key": "c-key", "claude_code_oauth_token": "c-tok"}`, nil, "claude_code_oauth_token", "c-tok"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			k, _ := testKeys(t, tc.config)
			for kind, s := range tc.vault {
				if _, err := k.vault.Set(t.Context(), kind, s); err != nil {
					t.Fatal(err)
				}
			}
			kind, secret, err := k.Choose(t.Context(), k.settings.Current())
			if err != nil || kind != tc.kind || secret.Reveal() != tc.secret {
				t.Errorf("%s, %v", kind, err)
			}
			cfg, err := k.Add(t.Context(), k.settings.Current())
			if err != nil {
				t.Fatal(err)
			}
			if kind, secret := cfg.Credential(); kind != tc.kind || secret.Reveal() != tc.secret {
				t.Errorf("a run gets %s", kind)
			}
			st := k.settings.Status()
			if st.CredentialKind != tc.kind || st.HasCredentials != (tc.kind != "") {
				t.Errorf("the page is told %+v", st)
			}
			list, err := k.List(t.Context())
			if err != nil || len(list) != 2 {
				t.Fatalf("%+v, %v", list, err)
			}
			for _, s := range list {
				if s.InUse != (string(s.Kind) == tc.kind) {
					t.Errorf("%+v", s)
				}
			}
			told, _ := json.Marshal(map[string]any{"list": list, "status": st})
			if strings.Contains(string(told), "-key\"") || strings.Contains(string(told), "-tok") {
				t.Errorf("a key is told: %s", told)
			}
		})
	}
}

func TestLoginTakesTheKeyOutOfTheConfiguration(t *testing.T) {
	k, path := testKeys(t, "{\n  // mine\n  \"anthropic_api_key\": \"old\",\n  \"theme\": \"dark\"\n}\n")
	if err := k.Set(t.Context(), "anthropic_api_key", "new"); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil || strings.Contains(string(raw), "old") || !strings.Contains(string(raw), "// mine") || !strings.Contains(string(raw), "dark") {
		t.Fatalf("%s, %v", raw, err)
	}
	if _, secret, err := k.Choose(t.Context(), k.settings.Current()); err != nil || secret != "new" {
		t.Fatal(err)
	}
	if err := k.Clear(t.Context(), "anthropic_api_key"); err != nil {
		t.Fatal(err)
	}
	if kind, _, err := k.Choose(t.Context(), k.settings.Current()); err != nil || kind != "" {
		t.Fatalf("%s, %v", kind, err)
	}
}

func TestAdoptMovesBoth(t *testing.T) {
	k, path := testKeys(t, `{"anthropic_api_key": "one", "claude_code_oauth_token": "two"}`)
	if err := k.Adopt(t.Context()); err != nil {
		t.Fatal(err)
	}
	if raw, err := os.ReadFile(path); err != nil || strings.Contains(string(raw), "one") || strings.Contains(string(raw), "two") {
		t.Fatalf("%s, %v", raw, err)
	}
	list, err := k.List(t.Context())
	if err != nil || list[0].Where != credentials.InFile || list[1].Where != credentials.InFile {
		t.Fatalf("%+v, %v", list, err)
	}
	if err := k.Adopt(t.Context()); core.AsFailure(err).Code != core.CodeNotFound {
		t.Errorf("nothing to adopt: %v", err)
	}
}

// TestALockedKeyringIsNotNoKey: when the keyring does not answer, a run must neither
// start without its key nor use another one.
func TestALockedKeyringIsNotNoKey(t *testing.T) {
	ring := &failing{}
	works := &switching{now: memoryRing{}}
	k := newKeys(t.TempDir(), credentials.New(credentials.Options{Home: t.TempDir(), Keyring: works}))
	if _, err := k.vault.Set(t.Context(), "anthropic_api_key", "kept"); err != nil {
		t.Fatal(err)
	}
	ring.err = errors.New("locked")
	works.now = ring
	cfg := k.settings.Current()
	if _, err := k.Add(t.Context(), cfg); core.AsFailure(err).Code != core.CodeCredentials {
		t.Errorf("%v", err)
	}
	list, err := k.List(t.Context())
	if err != nil || list[0].Failure == nil || list[0].InUse {
		t.Errorf("%+v, %v", list, err)
	}
	cfg.AnthropicBaseURL = "http://127.0.0.1:1" // a model that needs no key
	if _, err := k.Add(t.Context(), cfg); err != nil {
		t.Errorf("a model without a key: %v", err)
	}
}

type memoryRing map[string]core.Secret

func (m memoryRing) Get(kind string) (core.Secret, error) {
	if s, ok := m[kind]; ok {
		return s, nil
	}
	return "", core.ErrNotFound
}
func (m memoryRing) Set(kind string, s core.Secret) error { m[kind] = s; return nil }
func (m memoryRing) Delete(kind string) error             { delete(m, kind); return nil }

type switching struct{ now credentials.Backend }

func (s *switching) Get(kind string) (core.Secret, error)      { return s.now.Get(kind) }
func (s *switching) Set(kind string, secret core.Secret) error { return s.now.Set(kind, secret) }
func (s *switching) Delete(kind string) error                  { return s.now.Delete(kind) }

func TestThePageHasTheSizesOfText(t *testing.T) {
	k, _ := testKeys(t, `{"font_sizes": {"chat": 18, "terminal": 15}}`)
	st := k.settings.Status()
	if st.Text != (bind.TextSizes{Sidebar: 12, Chat: 18, Editor: 13, Panels: 12}) || st.Terminal.FontSize != 15 {
		t.Errorf("%+v, terminal %d", st.Text, st.Terminal.FontSize)
	}
}
