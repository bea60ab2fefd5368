package daemon

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"loop/backend/bind"
	"loop/backend/config"
	"loop/backend/core"
	"loop/backend/credentials"
)

// InConfig is the place of a key that config.json holds.
const inConfig = "config"

// kinds in the order in which a run chooses: the token wins.
var kinds = []string{config.CredentialOAuth, config.CredentialAPIKey}

// keys joins the two places a credential may be in. What the configuration says
// counts first: somebody wrote it down for this Loop. Otherwise the vault's is
// used; in each place the token wins over the key.
type keys struct {
	vault   *credentials.Vault
	source  *config.Source
	changed func() // tells the pages that the state of the keys is another
}

// choose finds what a run uses now. kind is empty when there is none; an error
// says that the vault could not be asked, which is not the same.
func (k keys) choose(ctx context.Context, cfg config.Config) (kind string, secret core.Secret, err error) {
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

// add puts the vault's credential into a configuration that has none.
func (k keys) add(ctx context.Context, cfg config.Config) (config.Config, error) {
	switch kind, secret, err := k.choose(ctx, cfg); {
	case err != nil && cfg.AnthropicBaseURL == "":
		return cfg, err
	case kind == config.CredentialOAuth:
		cfg.ClaudeCodeOAuthToken = secret
	case kind == config.CredentialAPIKey:
		cfg.AnthropicAPIKey = secret
	}
	return cfg, nil
}

// statusWait bounds how long the page's status waits for a keyring.
const statusWait = 2 * time.Second

// status is configStatus with what the vault has.
func (k keys) status(snap config.Snapshot) bind.ConfigStatus {
	st := configStatus(snap)
	ctx, cancel := context.WithTimeout(context.Background(), statusWait)
	defer cancel()
	if kind, _, err := k.choose(ctx, snap.Config); err == nil && kind != "" {
		st.HasCredentials, st.CredentialKind = true, kind
	}
	return st
}

func (k keys) inConfig(kind string) bool {
	cfg := k.source.Current().Config
	if kind == config.CredentialOAuth {
		return cfg.ClaudeCodeOAuthToken != ""
	}
	return cfg.AnthropicAPIKey != ""
}

// Set keeps a key in the vault. One of the same kind in config.json would win
// over it, so it is taken out there.
func (k keys) Set(ctx context.Context, kind string, secret core.Secret) error {
	if _, err := k.vault.Set(ctx, kind, secret); err != nil {
		return err
	}
	defer k.changed()
	if !k.inConfig(kind) {
		return nil
	}
	_, err := k.source.Set(kind, nil)
	return err
}

func (k keys) Clear(ctx context.Context, kind string) error {
	defer k.changed()
	if k.inConfig(kind) {
		if _, err := k.source.Set(kind, nil); err != nil {
			return err
		}
	}
	return k.vault.Delete(ctx, kind)
}

func (k keys) Adopt(ctx context.Context) error {
	cfg := k.source.Current().Config
	moved := false
	for kind, secret := range map[string]core.Secret{config.CredentialOAuth: cfg.ClaudeCodeOAuthToken, config.CredentialAPIKey: cfg.AnthropicAPIKey} {
		if secret == "" {
			continue
		}
		if err := k.Set(ctx, kind, secret); err != nil {
			return err
		}
		moved = true
	}
	if !moved {
		return core.Fail(core.CodeNotFound, nil, "config.json holds no key.", "Use “loop auth login” to give Loop one.")
	}
	return nil
}

func (k keys) List(ctx context.Context) ([]bind.CredentialStatus, error) {
	used, _, err := k.choose(ctx, k.source.Current().Config)
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
		out = append(out, st)
	}
	if err != nil && out[0].Failure == nil {
		out[0].Failure = core.AsFailure(err)
	}
	return out, nil
}

// keyringWait is how long the end of the app waits for a keyring that does not
// answer; what is left then dies with the process.
const keyringWait = time.Second

// openKeys prepares the vault; nothing is looked at yet. The environment
// variables are documented in docs/limits.md.
func (d *Daemon) openKeys() keys {
	dir, err := os.UserConfigDir()
	if err != nil {
		dir = "" // then the file needs a passphrase, and says so
	} else {
		dir = filepath.Join(dir, "loop")
	}
	k := keys{source: d.config, vault: credentials.New(credentials.Options{
		Home: d.home, Keyring: credentials.System(d.home, os.Getenv), KeyDir: dir, Passphrase: os.Getenv("LOOP_KEYRING_PASSPHRASE"),
	})}
	k.changed = func() {
		d.bus.Publish(core.NewEvent(core.EventConfigChanged, "", "", time.Now(), k.status(d.config.Current())))
	}
	return k
}
