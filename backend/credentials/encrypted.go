package credentials

import (
	"bytes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/crypto/argon2"
	"golang.org/x/crypto/chacha20poly1305"

	"loop/backend/atomicfile"
	"loop/backend/core"
)

// file keeps all credentials in one encrypted file, 0600, replaced as a whole.
// Its key comes from a passphrase, or is a random one in another folder: then
// the file protects copies of Loop's folder (backups, synchronised dotfiles),
// not against whoever can read both as this user.
type file struct {
	path, keyDir, passphrase string

	mu sync.Mutex
	// The key of the last salt: deriving it takes a fifth of a second, and a run
	// asks twice before it starts.
	salt, derived []byte
}

// sealed is the file's JSON. Everything but Data is authenticated with it.
type sealed struct {
	Version int    `json:"version"`
	KDF     string `json:"kdf"` // key, argon2id
	Salt    []byte `json:"salt,omitempty"`
	Nonce   []byte `json:"nonce"`
	Data    []byte `json:"data"`
}

const (
	version = 1
	kdfKey  = "key"
	kdfPass = "argon2id"

	keyFileName = "credentials.key"
	maxFile     = 64 << 10

	// RFC 9106's second recommended choice of Argon2id (64 MiB, three passes),
	// about 0.2 s; the first needs 2 GiB.
	argonTime    = 3
	argonMemory  = 64 << 10 // KiB
	argonThreads = 4
	saltSize     = 16
)

func (f *file) Get(kind string) (core.Secret, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	all, err := f.read()
	if err != nil {
		return "", err
	}
	s, ok := all[kind]
	if !ok {
		return "", core.ErrNotFound
	}
	return core.Secret(s), nil
}

func (f *file) Set(kind string, secret core.Secret) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	all, err := f.read()
	if err != nil {
		return err
	}
	all[kind] = secret.Reveal()
	return unusable(f.write(all))
}

func (f *file) Delete(kind string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	all, err := f.read()
	if _, ok := all[kind]; err != nil || !ok {
		return err
	}
	if delete(all, kind); len(all) > 0 {
		return unusable(f.write(all))
	}
	return unusable(os.Remove(f.path))
}

// read gives everything that is kept, of a file that is not there nothing.
func (f *file) read() (map[string]string, error) {
	raw, _, err := atomicfile.Read(f.path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]string{}, nil
	}
	var all map[string]string
	if err == nil {
		all, err = f.open(raw)
	}
	return all, unusable(err)
}

func (f *file) open(raw []byte) (all map[string]string, err error) {
	var s sealed
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil, err
	}
	if s.Version != version || (s.KDF != kdfKey && s.KDF != kdfPass) || len(s.Nonce) != chacha20poly1305.NonceSizeX {
		return nil, errors.New("unknown form")
	}
	aead, err := f.cipher(s, false)
	if err != nil {
		return nil, err
	}
	plain, err := aead.Open(nil, s.Nonce, s.Data, header(s))
	if err != nil {
		return nil, errors.New("the key does not fit, or the file was changed")
	}
	if json.Unmarshal(plain, &all) != nil || all == nil { // the error may repeat some of the text
		return nil, errors.New("what it holds is not readable")
	}
	return all, nil
}

func (f *file) write(all map[string]string) error {
	s := sealed{Version: version, KDF: kdfKey, Nonce: random(chacha20poly1305.NonceSizeX)}
	if f.passphrase != "" {
		s.KDF, s.Salt = kdfPass, random(saltSize)
	}
	aead, err := f.cipher(s, true)
	if err != nil {
		return err
	}
	plain, err := json.Marshal(all)
	if err != nil {
		return err
	}
	s.Data = aead.Seal(nil, s.Nonce, plain, header(s))
	raw, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return atomicfile.Keep(f.path, raw)
}

// cipher is the one of the file's key; make allows a new key file.
func (f *file) cipher(s sealed, make bool) (cipher.AEAD, error) {
	key, err := f.key(s.KDF, s.Salt, make)
	if err != nil {
		return nil, fmt.Errorf("find its key: %w", err)
	}
	return chacha20poly1305.NewX(key)
}

func header(s sealed) []byte {
	return fmt.Appendf(nil, "loop-credentials/%d/%s/%x", s.Version, s.KDF, s.Salt)
}

// key derives or reads the file's key; make allows a new key file.
func (f *file) key(kdf string, salt []byte, make bool) ([]byte, error) {
	if kdf == kdfPass {
		if f.passphrase == "" {
			return nil, errors.New("it was encrypted with a passphrase: set LOOP_KEYRING_PASSPHRASE")
		}
		if f.derived == nil || !bytes.Equal(f.salt, salt) {
			f.salt, f.derived = salt, argon2.IDKey([]byte(f.passphrase), salt, argonTime, argonMemory, argonThreads, chacha20poly1305.KeySize)
		}
		return f.derived, nil
	}
	path := filepath.Join(f.keyDir, keyFileName)
	key, _, err := atomicfile.Read(path, maxFile)
	switch {
	case err == nil && len(key) == chacha20poly1305.KeySize:
		return key, nil
	case err == nil:
		return nil, fmt.Errorf("%s does not hold a key", path)
	case !errors.Is(err, fs.ErrNotExist) || !make:
		return nil, err
	}
	if f.keyDir == "" {
		return nil, errors.New("there is no folder for its key")
	}
	if _, err := os.Lstat(f.path); err == nil {
		// A new key would make what is there unreadable for good.
		return nil, fmt.Errorf("%s is missing", path)
	}
	key = random(chacha20poly1305.KeySize)
	if err := atomicfile.Keep(path, key); err != nil {
		return nil, err
	}
	return key, nil
}

func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails on the supported systems
	return b
}

// unusable is the failure that goes with an error; nil for none.
func unusable(err error) error {
	if err == nil {
		return nil
	}
	return core.Fail(core.CodeCredentials, fmt.Errorf("%s: %w", FileName, err), "The file with Loop's keys cannot be used.",
		"Look at the details. If the keys are lost, delete "+FileName+" in Loop's folder and log in again.")
}
