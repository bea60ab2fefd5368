package settings

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"loop/backend/bind"
	"loop/backend/config"
	"loop/backend/core"
	"loop/backend/credentials"
)

// inConfig is the place of a key that config.json holds.
const inConfig = "config"

// kinds in the order in which a run chooses: the token wins.
var kinds = []string{config.CredentialOAuth, config.CredentialAPIKey}

// Keys joins the two places that a credential may be in. The configuration's counts
// first: somebody wrote it down for this Loop. Otherwise the vault's is used. In
// each place the token wins over the key. Methods may be called from any goroutine.
type Keys struct {
	settings *Service
	vault    *credentials.Vault
	trials   trials
}

var _ bind.CredentialService = (*Keys)(nil)

// Choose finds the credential that a run uses now. kind is empty when there is none.
// An error means that the vault could not be asked, which is not the same.
func (k *Keys) Choose(ctx context.Context, cfg config.Config) (kind string, secret core.Secret, err error) {
	if kind, secret = cfg.Credential(); kind != "" {
		return kind, secret, nil
	}
	for _, kind := range kinds {
		secret, err := k.vault.Get(ctx, kind)
		if err == nil {
			return kind, secret, nil
		}
		if !errors.Is(err, core.ErrNotFound) {
			return "", "", err
		}
	}
	return "", "", nil
}

// Add puts the vault's credential into a configuration that has none.
func (k *Keys) Add(ctx context.Context, cfg config.Config) (config.Config, error) {
	kind, secret, err := k.Choose(ctx, cfg)
	if err != nil && cfg.AnthropicBaseURL == "" {
		return cfg, err
	}
	if kind != "" {
		*keyIn(&cfg, kind) = secret
	}
	return cfg, nil
}

// keyIn is where a configuration holds a key of some kind.
func keyIn(cfg *config.Config, kind string) *core.Secret {
	if kind == config.CredentialOAuth {
		return &cfg.ClaudeCodeOAuthToken
	}
	return &cfg.AnthropicAPIKey
}

func (k *Keys) inConfig(kind string) bool {
	cfg := k.settings.Current()
	return *keyIn(&cfg, kind) != ""
}

// Set keeps a key in the vault. One of the same kind in config.json would win
// over it, so it is taken out there.
func (k *Keys) Set(ctx context.Context, kind string, secret core.Secret) error {
	if _, err := k.vault.Set(ctx, kind, secret); err != nil {
		return err
	}
	defer k.settings.changed("")
	if !k.inConfig(kind) {
		return nil
	}
	return k.settings.Unset(ctx, core.LayerGlobal, "", kind)
}

// Clear removes a key from wherever it is kept.
func (k *Keys) Clear(ctx context.Context, kind string) error {
	defer k.settings.changed("")
	if k.inConfig(kind) {
		if err := k.settings.Unset(ctx, core.LayerGlobal, "", kind); err != nil {
			return err
		}
	}
	return k.vault.Delete(ctx, kind)
}

// Adopt moves the keys of config.json into the vault; core.CodeNotFound says that it
// holds none.
func (k *Keys) Adopt(ctx context.Context) error {
	cfg := k.settings.Current()
	moved := false
	for _, kind := range kinds {
		if secret := *keyIn(&cfg, kind); secret != "" {
			if err := k.Set(ctx, kind, secret); err != nil {
				return err
			}
			moved = true
		}
	}
	if !moved {
		return core.Fail(core.CodeNotFound, nil, "config.json holds no key.", "Use “loop auth login” to give Loop one.")
	}
	return nil
}

// List says for each kind whether and where there is a key, without the key.
func (k *Keys) List(ctx context.Context) ([]bind.CredentialStatus, error) {
	used, _, err := k.Choose(ctx, k.settings.Current())
	note := ""
	if where, why := k.vault.Preferred(ctx); where == credentials.InFile && why != nil {
		note = "A new key is kept in an encrypted file: " + why.Error() + "."
	}
	var out []bind.CredentialStatus
	for _, kind := range kinds {
		st := bind.CredentialStatus{Kind: bind.CredentialKind(kind), InUse: kind == used, Note: note}
		if k.inConfig(kind) {
			st.Where = inConfig
		} else {
			var perr error
			if st.Where, perr = k.vault.Place(ctx, kind); perr != nil {
				st.Failure = core.AsFailure(perr)
			}
		}
		st.Set = st.Where != ""
		if st.Set {
			st.Trial = k.lastTrial(ctx, kind)
		}
		out = append(out, st)
	}
	if err != nil && out[0].Failure == nil {
		out[0].Failure = core.AsFailure(err)
	}
	return out, nil
}

// lastTrial is what became of the key of some kind that Loop has now.
func (k *Keys) lastTrial(ctx context.Context, kind string) *bind.KeyTrial {
	cfg := k.settings.Current()
	secret := *keyIn(&cfg, kind)
	if secret == "" {
		var err error
		if secret, err = k.vault.Get(ctx, kind); err != nil {
			return nil
		}
	}
	return k.trials.of(kind, secret)
}

// OpenVault prepares the place of keys outside the configuration. It asks no keyring
// yet. The environment variables are documented in docs/limits.md.
func OpenVault(home string) *credentials.Vault {
	dir, err := os.UserConfigDir() // without one the file needs a passphrase, and says so
	if err == nil {
		dir = filepath.Join(dir, "loop")
	}
	return credentials.New(credentials.Options{
		Home: home, Keyring: credentials.System(home, os.Getenv), KeyDir: dir, Passphrase: os.Getenv("LOOP_KEYRING_PASSPHRASE"),
	})
}
