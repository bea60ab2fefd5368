//go:build docker

package credentials

import (
	"errors"
	"os"
	"testing"

	"loop/backend/core"
	"loop/backend/credentials/credentialstest"
)

// TestTheRealSecretService runs the suite of all backends on gnome-keyring.
func TestTheRealSecretService(t *testing.T) {
	k := systemKeyring{service: "loop " + t.TempDir()}
	credentialstest.Start(t)
	t.Setenv("LOOP_KEYRING", "")
	suite(t, k)
	home := t.TempDir()
	v := New(Options{Home: home, Keyring: System(home, os.Getenv)})
	if where, err := v.Set(t.Context(), "anthropic_api_key", "canary-secret"); err != nil || where != InKeyring {
		t.Fatalf("%s, %v", where, err)
	}
	// Another Loop folder shares the keyring, but not the key.
	other := t.TempDir()
	if _, err := New(Options{Home: other, Keyring: System(other, os.Getenv)}).Get(t.Context(), "anthropic_api_key"); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("another folder: %v", err)
	}
	if got, err := New(Options{Home: home, Keyring: System(home, os.Getenv)}).Get(t.Context(), "anthropic_api_key"); err != nil || got != "canary-secret" {
		t.Errorf("a second start: %v", err)
	}
	if left, err := os.ReadDir(home); err != nil || len(left) > 0 {
		t.Errorf("files beside the keyring: %v %v", left, err)
	}
	if err := v.Delete(t.Context(), "anthropic_api_key"); err != nil {
		t.Fatal(err)
	}
	if where, err := v.Place(t.Context(), "anthropic_api_key"); err != nil || where != "" {
		t.Errorf("after delete: %s, %v", where, err)
	}
}
