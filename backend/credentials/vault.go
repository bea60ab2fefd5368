package credentials

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"loop/backend/core"
)

// Places where a credential can be.
const (
	InKeyring = "keyring"
	InFile    = "file"
)

// FileName is the encrypted file in Loop's folder.
const FileName = "credentials.enc"

// MaxSecret bounds one credential in bytes. Real ones have about a hundred; the
// Windows Credential Manager takes 2560.
const MaxSecret = 2560

const (
	// probeWait is how long a keyring may take to prove that it works. One that
	// asks the person to unlock it takes longer and is asked again later.
	probeWait = 5 * time.Second
	// callWait is for a keyring that works, with a person at its unlock dialog.
	callWait = 60 * time.Second
	// probeAgain is how long a keyring that failed is left alone.
	probeAgain = time.Minute
)

// Backend stores secrets by kind. Get answers core.ErrNotFound when there is
// none; Delete of nothing is fine. Methods may be called from any goroutine.
type Backend interface {
	Get(kind string) (core.Secret, error)
	Set(kind string, secret core.Secret) error
	Delete(kind string) error
}

// Options assemble a Vault.
type Options struct {
	Home    string  // Loop's folder
	Keyring Backend // nil: this system has none that Loop knows
	// KeyDir is the folder of the file's key when no passphrase is given: outside
	// Home, so that a copy of Home alone tells nothing.
	KeyDir     string
	Passphrase string // of the file; empty: a random key in KeyDir
}

// Vault keeps credentials. Its methods may be called from any goroutine. It
// starts a goroutine per question to the keyring, which may hang; Wait returns
// when none is left.
type Vault struct {
	keyring Backend
	file    *file
	calls   sync.WaitGroup
	probing sync.Mutex // taken before mu

	mu       sync.Mutex
	works    bool
	failed   error // why the keyring is not used
	failedAt time.Time
}

// New makes a vault; it looks at nothing yet.
func New(o Options) *Vault {
	return &Vault{keyring: o.Keyring, file: &file{path: filepath.Join(o.Home, FileName), keyDir: o.KeyDir, passphrase: o.Passphrase}}
}

// Wait returns when no question to the keyring is open, or after limit.
func (v *Vault) Wait(limit time.Duration) {
	done := make(chan struct{})
	go func() {
		v.calls.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(limit):
	}
}

// ask runs one call of the keyring within a time; the call itself cannot be
// cancelled and is left behind when it takes longer.
func (v *Vault) ask(ctx context.Context, limit time.Duration, f func() error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errSilent)
	defer cancel()
	answer := make(chan error, 1)
	v.calls.Go(func() { answer <- f() })
	select {
	case err := <-answer:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

const probeKind = "probe"

// errSilent is of a keyring that may be locked: nobody knows what it holds.
var errSilent = errors.New("no answer in time")

// keyringWorks performs a whole round in the keyring, once while it works. Callers take
// turns, because the rounds of two would meet.
func (v *Vault) keyringWorks(ctx context.Context) bool {
	if v.keyring == nil {
		return false
	}
	v.probing.Lock()
	defer v.probing.Unlock()
	v.mu.Lock()
	works, again := v.works, v.failed == nil || time.Since(v.failedAt) >= probeAgain
	v.mu.Unlock()
	if works || !again {
		return works
	}
	err := v.ask(ctx, probeWait, func() error {
		value := core.Secret(core.NewID())
		if err := v.keyring.Set(probeKind, value); err != nil {
			return fmt.Errorf("store: %w", err)
		}
		got, err := v.keyring.Get(probeKind)
		if err == nil && got != value {
			err = errors.New("it gave back another value")
		}
		if err != nil {
			return fmt.Errorf("read: %w", err)
		}
		if err := v.keyring.Delete(probeKind); err != nil {
			return fmt.Errorf("delete: %w", err)
		}
		return nil
	})
	if ctx.Err() != nil {
		return false
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.works, v.failed, v.failedAt = err == nil, err, time.Now()
	return v.works
}

// Get reads one credential; core.ErrNotFound when it is nowhere. A file that is
// there and cannot be read is a Failure, so that nothing is taken for missing.
func (v *Vault) Get(ctx context.Context, kind string) (core.Secret, error) {
	s, _, err := v.find(ctx, kind)
	return s, err
}

// find asks the file first: it has only what was put there, or taken away (see Delete),
// after the keyring had worked last.
func (v *Vault) find(ctx context.Context, kind string) (s core.Secret, where string, err error) {
	if s, err = v.file.Get(kind); err == nil && s == "" {
		return "", "", core.ErrNotFound
	}
	if err != nil && v.keyringWorks(ctx) {
		var kept core.Secret
		failed := v.ask(ctx, callWait, func() (err error) {
			kept, err = v.keyring.Get(kind)
			return err
		})
		if failed == nil && kept != "" {
			return kept, InKeyring, nil
		}
		if failed != nil && !errors.Is(failed, core.ErrNotFound) {
			return "", "", keyringFailure("read", failed)
		}
	}
	return s, InFile, err
}

// Set stores one credential and says where.
func (v *Vault) Set(ctx context.Context, kind string, secret core.Secret) (where string, err error) {
	if secret, err = Clean(secret); err != nil {
		return "", err
	}
	if v.keyringWorks(ctx) {
		if err := v.ask(ctx, callWait, func() error { return v.keyring.Set(kind, secret) }); err != nil {
			return "", keyringFailure("store", err)
		}
		// One that an earlier, keyring-less start put into the file must not
		// come back when the keyring is away.
		return InKeyring, v.file.Delete(kind)
	}
	return InFile, v.file.Set(kind, secret)
}

// Delete removes a credential from everywhere it may be.
func (v *Vault) Delete(ctx context.Context, kind string) error {
	var err error
	if v.keyringWorks(ctx) {
		if err = v.ask(ctx, callWait, func() error { return v.keyring.Delete(kind) }); err != nil {
			err = keyringFailure("delete", err)
		}
	} else if _, why := v.Preferred(ctx); errors.Is(why, errSilent) {
		return v.file.Set(kind, "") // what the keyring may hold does not count any more
	}
	return errors.Join(err, v.file.Delete(kind))
}

// Place says where a credential is; empty when it is nowhere.
func (v *Vault) Place(ctx context.Context, kind string) (where string, err error) {
	_, where, err = v.find(ctx, kind)
	switch {
	case errors.Is(err, core.ErrNotFound):
		return "", nil
	case err != nil:
		return "", err
	}
	return where, nil
}

// Preferred says where a new credential would be kept, and why not in the
// keyring when it is the file.
func (v *Vault) Preferred(ctx context.Context) (where string, why error) {
	if v.keyringWorks(ctx) {
		return InKeyring, nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.failed == nil {
		return InFile, errors.New("this session has no keyring")
	}
	return InFile, v.failed
}

// Clean takes what was pasted: white space around it is never part of a key.
func Clean(s core.Secret) (core.Secret, error) {
	t := strings.TrimSpace(s.Reveal())
	switch {
	case t == "":
		return "", core.Fail(core.CodeInvalid, nil, "The key is empty.", "Paste the whole key.")
	case len(t) > MaxSecret:
		return "", core.Fail(core.CodeInvalid, nil, fmt.Sprintf("The key is longer than %d characters.", MaxSecret), "Paste the key alone.")
	case !utf8.ValidString(t) || strings.ContainsFunc(t, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return "", core.Fail(core.CodeInvalid, nil, "The key has white space or control characters in it.", "Paste the key alone, in one line.")
	}
	return core.Secret(t), nil
}

func keyringFailure(step string, err error) error {
	return core.Fail(core.CodeCredentials, fmt.Errorf("%s in keyring: %w", step, err), "The system's keyring did not answer.",
		"Unlock it and try again. LOOP_KEYRING=file makes Loop keep keys in an encrypted file instead.")
}
