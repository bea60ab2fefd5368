package bind

import (
	"context"

	"loop/backend/core"
)

// CredentialKind is one of the keys that a model takes, by its name in config.json.
type CredentialKind string

const (
	CredentialAPIKey CredentialKind = "anthropic_api_key"
	CredentialToken  CredentialKind = "claude_code_oauth_token"
)

// CredentialService keeps keys of models. It never gives one back.
type CredentialService interface {
	Set(ctx context.Context, kind string, secret core.Secret) error
	Clear(ctx context.Context, kind string) error
	// Adopt moves what config.json holds into the vault.
	Adopt(ctx context.Context) error
	List(ctx context.Context) ([]CredentialStatus, error)
}

// CredentialStatus says where one kind of key is, and never contains the key.
type CredentialStatus struct {
	Kind  CredentialKind `json:"kind"`
	Set   bool           `json:"set"`
	Where string         `json:"where,omitempty"` // config, keyring, file
	// InUse says that a run would use this one now.
	InUse bool `json:"in_use"`
	// Failure says why it could not be looked for.
	Failure *core.Failure `json:"failure,omitempty"`
	// Note says why a new key would be kept in a file rather than the keyring.
	Note string `json:"note,omitempty"`
}

// SetCredential keeps a key of a model in the system's keyring, or in an
// encrypted file where there is none. The answer never holds it.
func (s *System) SetCredential(kind CredentialKind, value string) (ConfigStatus, error) {
	err := knownCredential(kind)
	if err == nil {
		err = s.Keys.Set(s.Ctx, string(kind), core.Secret(value))
	}
	return s.status(err)
}

// ClearCredential removes a key from wherever Loop keeps it; one in config.json
// is removed there.
func (s *System) ClearCredential(kind CredentialKind) (ConfigStatus, error) {
	err := knownCredential(kind)
	if err == nil {
		err = s.Keys.Clear(s.Ctx, string(kind))
	}
	return s.status(err)
}

// AdoptCredentials moves keys out of config.json into the keyring or the file.
func (s *System) AdoptCredentials() (ConfigStatus, error) {
	return s.status(s.Keys.Adopt(s.Ctx))
}

// Credentials says which keys there are and where.
func (s *System) Credentials() ([]CredentialStatus, error) {
	return listed(s.Keys.List(s.Ctx))
}

// status is the configuration after a change of its keys.
func (s *System) status(err error) (ConfigStatus, error) {
	if err != nil {
		return ConfigStatus{}, err
	}
	return s.Config.Status(), nil
}

func knownCredential(kind CredentialKind) error {
	if kind == CredentialAPIKey || kind == CredentialToken {
		return nil
	}
	return core.Fail(core.CodeInvalid, nil, "That is not a kind of credential Loop knows.",
		"Use anthropic_api_key or claude_code_oauth_token.")
}
