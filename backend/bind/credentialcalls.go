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
	// Save tries a key and stores it, unless the model refuses it; anyway stores it untried.
	Save(ctx context.Context, kind string, secret core.Secret, anyway bool) (SavedCredential, error)
	Try(ctx context.Context, kind string) (KeyTrial, error)
	StopTrial()
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
	// Trial is what became of it when it was tried; null when it was not, since Loop started.
	Trial *KeyTrial `json:"trial,omitempty"`
	// Failure says why it could not be looked for.
	Failure *core.Failure `json:"failure,omitempty"`
	// Note says why a new key would be kept in a file rather than the keyring.
	Note string `json:"note,omitempty"`
}

// KeyState is what a trial says of a key.
type KeyState string

const (
	KeyAccepted  KeyState = "accepted"
	KeyRefused   KeyState = "refused"
	KeyUnsure    KeyState = "unsure"    // the model answered, and its answer says nothing of the key
	KeyUnreached KeyState = "unreached" // nothing answered
	KeyStopped   KeyState = "stopped"   // by the person
)

// KeyTrial is one request to the model with a key, in words. It never contains the key.
type KeyTrial struct {
	State  KeyState `json:"state"`
	Host   string   `json:"host"`
	Cause  string   `json:"cause"`
	Remedy string   `json:"remedy,omitempty"`
	Detail string   `json:"detail,omitempty"`
	At     int64    `json:"at"` // ms since the epoch
	TookMS int64    `json:"took_ms"`
}

// SavedCredential is what became of a key that was to be kept.
type SavedCredential struct {
	Stored bool         `json:"stored"`
	Trial  KeyTrial     `json:"trial"`
	Config ConfigStatus `json:"config"`
}

// SaveCredential tries a key of a model with one request to it, and keeps the key in the
// system's keyring, or in an encrypted file where there is none. One that the model refuses
// is not kept, unless anyway says so. The answer never holds it.
func (s *System) SaveCredential(kind CredentialKind, value string, anyway bool) (SavedCredential, error) {
	err := knownCredential(kind)
	if err != nil {
		return SavedCredential{}, err
	}
	out, err := s.Keys.Save(s.Ctx, string(kind), core.Secret(value), anyway)
	if err != nil {
		return SavedCredential{}, err
	}
	out.Config = s.Config.Status()
	return out, nil
}

// TryCredential tries a key that Loop has.
func (s *System) TryCredential(kind CredentialKind) (KeyTrial, error) {
	if err := knownCredential(kind); err != nil {
		return KeyTrial{}, err
	}
	return s.Keys.Try(s.Ctx, string(kind))
}

// StopCredentialTrial ends the trial that goes on. A key that waited for it is not kept.
func (s *System) StopCredentialTrial() { s.Keys.StopTrial() }

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
