package settings

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"loop/backend/config"
	"loop/backend/core"
	"loop/backend/credentials"
	"loop/backend/redact"
)

// TestSecrets are the keys and the secret variables of the run's channel. Where they cannot
// be read, there are none that one could rely on.
func TestSecrets(t *testing.T) {
	r := newSettingsRig(t)
	if _, err := r.Keys.vault.Set(t.Context(), config.CredentialAPIKey, "sk-CANARY-key"); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(r.o.Home, config.FileName)
	if err := os.WriteFile(path, []byte(`{"envs": {"MY_TOKEN": "CANARY of the environment", "PLAIN": "a long plain value"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	r.o.Source.Reload()
	s, err := r.Secrets(t.Context(), core.Run{ChannelID: "p"})
	if got := s.Text("sk-CANARY-key, CANARY of the environment, a long plain value"); err != nil || got != redact.Mark+", "+redact.Mark+", a long plain value" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := r.Secrets(t.Context(), core.Run{ChannelID: "gone"}); err == nil {
		t.Error("secrets of a channel that is gone")
	}
	ring := &switching{now: memoryRing{}}
	locked := newKeys(t.TempDir(), credentials.New(credentials.Options{Home: t.TempDir(), Keyring: ring})).settings
	locked.o.Channels = r
	if _, err := locked.Keys.vault.Set(t.Context(), config.CredentialAPIKey, "sk-CANARY-key"); err != nil {
		t.Fatal(err)
	}
	ring.now = &failing{err: errors.New("locked")}
	if _, err := locked.Secrets(t.Context(), core.Run{ChannelID: "p"}); err == nil {
		t.Error("without the key")
	}
	if _, err := locked.Secrets(t.Context(), core.Run{ChannelID: "d", Demo: true}); err != nil {
		t.Error(err)
	}
	r.write(t, r.project, "not JSON")
	if _, err := r.Secrets(t.Context(), core.Run{ChannelID: "p"}); err == nil {
		t.Error("without the settings")
	}
}
