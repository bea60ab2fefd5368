package core

import (
	"log/slog"
	"regexp"
)

// Secret is a credential. Printing, logging or encoding one shows only
// whether it is set; Reveal gives the text.
type Secret string

func (s Secret) Reveal() string { return string(s) }

func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return "(set)"
}

func (s Secret) GoString() string             { return s.String() }
func (s Secret) LogValue() slog.Value         { return slog.StringValue(s.String()) }
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// SecretNameEndings are the ends of names that hold a credential, as alternatives of
// a regular expression that knows no case. It is the one list: what it names is hidden
// where settings are shown, and goes to a process that is started, never into a
// container's own environment, which “docker inspect” shows.
const SecretNameEndings = `key|token|password|passwd|passphrase|secret|credentials?|auth`

var (
	secretName = regexp.MustCompile(`(?i)(?:` + SecretNameEndings + `)$`)
	login      = regexp.MustCompile(`://[^/@\s]+@`)
)

// NamesSecret reports that an environment variable holds a credential by its name.
func NamesSecret(name string) bool { return secretName.MatchString(name) }

// HoldsLogin reports that a value has an address with a user or password in it.
func HoldsLogin(value string) bool { return login.MatchString(value) }
