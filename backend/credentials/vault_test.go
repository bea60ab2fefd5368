package credentials

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"loop/backend/core"
	"loop/backend/leaktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(leaktest.Patient(m)) }

// memory is a keyring in this process. It passes the same suite as the real ones.
type memory struct {
	mu   sync.Mutex
	m    map[string]core.Secret
	fail error
	hang chan struct{}
}

func newMemory() *memory { return &memory{m: map[string]core.Secret{}} }

func (k *memory) wait() error {
	k.mu.Lock()
	hang, fail := k.hang, k.fail
	k.mu.Unlock()
	if hang != nil {
		<-hang
	}
	return fail
}

func (k *memory) Get(kind string) (core.Secret, error) {
	if err := k.wait(); err != nil {
		return "", err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	s, ok := k.m[kind]
	if !ok {
		return "", core.ErrNotFound
	}
	return s, nil
}

func (k *memory) Set(kind string, s core.Secret) error {
	if err := k.wait(); err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.m[kind] = s
	return nil
}

func (k *memory) Delete(kind string) error {
	if err := k.wait(); err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.m, kind)
	return nil
}

// suite checks the promises of every backend.
func suite(t *testing.T, b Backend) {
	if _, err := b.Get("a"); !errors.Is(err, core.ErrNotFound) {
		t.Fatalf("empty: %v", err)
	}
	if err := b.Delete("a"); err != nil {
		t.Fatalf("delete of nothing: %v", err)
	}
	odd := core.Secret("sk-ant-" + strings.Repeat("ü\"\\'$`%s", 40))
	for kind, s := range map[string]core.Secret{"a": "first", "b": odd} {
		if err := b.Set(kind, s); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Set("a", "second"); err != nil {
		t.Fatal(err)
	}
	for kind, want := range map[string]core.Secret{"a": "second", "b": odd} {
		if got, err := b.Get(kind); err != nil || got != want {
			t.Errorf("%s: got %d bytes, %v", kind, len(got), err)
		}
	}
	if err := b.Delete("a"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Get("a"); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("after delete: %v", err)
	}
	if got, err := b.Get("b"); err != nil || got != odd {
		t.Errorf("the other one after delete: %v", err)
	}
	if err := b.Delete("b"); err != nil {
		t.Fatal(err)
	}
}

func TestBackends(t *testing.T) {
	t.Run("memory", func(t *testing.T) { suite(t, newMemory()) })
	t.Run("file with a key", func(t *testing.T) {
		suite(t, &file{path: filepath.Join(t.TempDir(), "home", FileName), keyDir: filepath.Join(t.TempDir(), "config")})
	})
	t.Run("file with a passphrase", func(t *testing.T) {
		suite(t, &file{path: filepath.Join(t.TempDir(), FileName), passphrase: "correct horse"})
	})
}

func vaultIn(t *testing.T, k Backend) (*Vault, Options) {
	t.Helper()
	o := Options{Home: t.TempDir(), KeyDir: filepath.Join(t.TempDir(), "config"), Keyring: k}
	return New(o), o
}

func TestTheFileIsPrivateAndTellsNothing(t *testing.T) {
	v, o := vaultIn(t, nil)
	where, err := v.Set(t.Context(), "anthropic_api_key", " canary-secret\n")
	if err != nil || where != InFile {
		t.Fatalf("%s, %v", where, err)
	}
	if got, err := New(o).Get(t.Context(), "anthropic_api_key"); err != nil || got != "canary-secret" {
		t.Fatalf("a second start: %v", err)
	}
	for _, p := range []string{filepath.Join(o.Home, FileName), filepath.Join(o.KeyDir, keyFileName)} {
		raw, err := os.ReadFile(p)
		if err != nil || bytes.Contains(raw, []byte("canary")) || bytes.Contains(raw, []byte("anthropic")) {
			t.Errorf("%s: %v, %q", p, err, raw)
		}
		if info, err := os.Stat(p); err == nil && runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v", p, info.Mode())
		}
	}
	if err := v.Delete(t.Context(), "anthropic_api_key"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(o.Home, FileName)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the empty file stayed: %v", err)
	}
}

func TestAFileThatCannotBeReadIsNotTakenForEmpty(t *testing.T) {
	whole, o := vaultIn(t, nil)
	if _, err := whole.Set(t.Context(), "a", "canary-secret"); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(o.Home, FileName)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var s sealed
	if err := json.Unmarshal(good, &s); err != nil {
		t.Fatal(err)
	}
	flip := func(change func(*sealed)) []byte {
		c := s
		c.Data, c.Nonce = bytes.Clone(s.Data), bytes.Clone(s.Nonce)
		change(&c)
		raw, _ := json.Marshal(c)
		return raw
	}
	for name, raw := range map[string][]byte{
		"empty": {}, "not JSON": []byte("x"), "too large": bytes.Repeat([]byte(" "), maxFile+1),
		"another version": flip(func(s *sealed) { s.Version = 2 }), "another way": flip(func(s *sealed) { s.KDF = "none" }),
		"passphrase asked for": flip(func(s *sealed) { s.KDF = kdfPass }), "short nonce": flip(func(s *sealed) { s.Nonce = s.Nonce[:3] }),
		"one bit of data": flip(func(s *sealed) { s.Data[0] ^= 1 }), "one bit of nonce": flip(func(s *sealed) { s.Nonce[0] ^= 1 }),
		"salt added": flip(func(s *sealed) { s.Salt = []byte("x") }), "no data": flip(func(s *sealed) { s.Data = nil }),
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(path, raw, 0o600); err != nil {
				t.Fatal(err)
			}
			for what, err := range map[string]error{
				"get": second(New(o).Get(t.Context(), "a")), "set": second(New(o).Set(t.Context(), "b", "new")), "delete": New(o).Delete(t.Context(), "a"),
			} {
				if f, ok := errors.AsType[*core.Failure](err); !ok || f.Code != core.CodeCredentials || f.Remedy == "" || strings.Contains(fmt.Sprint(f, f.Detail), "canary") {
					t.Errorf("%s: %v", what, err)
				}
			}
			if now, _ := os.ReadFile(path); !bytes.Equal(now, raw) {
				t.Error("the file was changed")
			}
		})
	}
	t.Run("its key is gone", func(t *testing.T) {
		if err := os.WriteFile(path, good, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(filepath.Join(o.KeyDir, keyFileName)); err != nil {
			t.Fatal(err)
		}
		if _, err := New(o).Set(t.Context(), "b", "new"); err == nil {
			t.Error("a new key was made beside a file that the old one encrypted")
		}
	})
}

func second[T any](_ T, err error) error { return err }

func TestTheRightPassphraseOnly(t *testing.T) {
	_, o := vaultIn(t, nil)
	o.Passphrase = "right"
	if _, err := New(o).Set(t.Context(), "a", "secret"); err != nil {
		t.Fatal(err)
	}
	for _, pass := range []string{"", "wrong"} {
		o.Passphrase = pass
		if _, err := New(o).Get(t.Context(), "a"); err == nil {
			t.Errorf("%q opened it", pass)
		}
	}
	if _, err := os.Stat(o.KeyDir); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a key was written although there is a passphrase")
	}
}

func TestAWorkingKeyringIsPreferred(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newMemory()
		v, o := vaultIn(t, k)
		o.Keyring = nil
		if _, err := New(o).Set(t.Context(), "a", "old, in the file"); err == nil {
			t.Fatal("white space inside a key was taken")
		}
		if _, err := New(o).Set(t.Context(), "a", "old-in-the-file"); err != nil {
			t.Fatal(err)
		}
		if got, err := v.Get(t.Context(), "a"); err != nil || got != "old-in-the-file" {
			t.Fatalf("what an earlier start kept: %v", err)
		}
		if where, err := v.Set(t.Context(), "a", "new"); err != nil || where != InKeyring {
			t.Fatalf("%s, %v", where, err)
		}
		if _, err := os.Stat(filepath.Join(o.Home, FileName)); !errors.Is(err, fs.ErrNotExist) {
			t.Error("the old one is still in the file")
		}
		if where, err := v.Place(t.Context(), "a"); err != nil || where != InKeyring {
			t.Errorf("%s, %v", where, err)
		}
		if _, ok := k.m[probeKind]; ok {
			t.Error("the probe stayed in the keyring")
		}
		// A keyring that worked and refuses now is an error, never “no key”.
		k.fail = errors.New("locked")
		if _, err := v.Get(t.Context(), "a"); err == nil || errors.Is(err, core.ErrNotFound) {
			t.Errorf("locked: %v", err)
		}
	})
}

func TestAKeyringThatDoesNotWorkIsPassedOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newMemory()
		k.hang = make(chan struct{})
		v, _ := vaultIn(t, k)
		began := time.Now()
		if where, err := v.Set(t.Context(), "a", "secret"); err != nil || where != InFile {
			t.Fatalf("%s, %v", where, err)
		}
		if took := time.Since(began); took != probeWait {
			t.Errorf("waited %v", took)
		}
		if got, err := v.Get(t.Context(), "a"); err != nil || got != "secret" || time.Since(began) != probeWait {
			t.Errorf("asked it again at once: %v after %v", err, time.Since(began))
		}
		if where, why := v.Preferred(t.Context()); where != InFile || why == nil {
			t.Errorf("%s, %v", where, why)
		}
		k.mu.Lock()
		close(k.hang)
		k.hang = nil
		k.mu.Unlock()
		v.Wait(time.Second)
		<-time.After(probeAgain)
		if where, err := v.Set(t.Context(), "a", "secret"); err != nil || where != InKeyring {
			t.Errorf("once it works again: %s, %v", where, err)
		}
	})
}

// TestAKeyringThatComesBack: what was cleared or replaced while it was locked does not
// come back with it.
func TestAKeyringThatComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newMemory()
		k.m["gone"], k.m["kept"] = "old-one", "old-two"
		k.hang = make(chan struct{})
		v, _ := vaultIn(t, k)
		if err := v.Delete(t.Context(), "gone"); err != nil {
			t.Fatal(err)
		}
		if where, err := v.Set(t.Context(), "kept", "new-two"); err != nil || where != InFile {
			t.Fatalf("%s, %v", where, err)
		}
		k.mu.Lock()
		close(k.hang)
		k.hang = nil
		k.mu.Unlock()
		v.Wait(time.Second)
		<-time.After(probeAgain)
		if where, err := v.Preferred(t.Context()); err != nil || where != InKeyring {
			t.Fatalf("%s, %v", where, err)
		}
		if s, err := v.Get(t.Context(), "gone"); !errors.Is(err, core.ErrNotFound) {
			t.Errorf("a cleared key came back: %q, %v", s, err)
		}
		if s, err := v.Get(t.Context(), "kept"); err != nil || s != "new-two" {
			t.Errorf("%q, %v", s, err)
		}
		if where, err := v.Set(t.Context(), "gone", "again"); err != nil || where != InKeyring {
			t.Errorf("%s, %v", where, err)
		}
		if s, err := v.Get(t.Context(), "gone"); err != nil || s != "again" {
			t.Errorf("%q, %v", s, err)
		}
	})
}

// TestFirstQuestionsAtOnce: several callers find out together whether the keyring works.
func TestFirstQuestionsAtOnce(t *testing.T) {
	for range 50 {
		synctest.Test(t, func(t *testing.T) {
			v, _ := vaultIn(t, newMemory())
			var all sync.WaitGroup
			for range 8 {
				all.Go(func() {
					if where, err := v.Preferred(t.Context()); err != nil || where != InKeyring {
						t.Errorf("%s, %v", where, err)
					}
				})
			}
			all.Wait()
		})
	}
}

func TestACancelledQuestionProvesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newMemory()
		k.hang = make(chan struct{})
		v, _ := vaultIn(t, k)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, _ = v.Get(ctx, "a")
		k.mu.Lock()
		close(k.hang)
		k.hang = nil
		k.mu.Unlock()
		v.Wait(time.Second)
		if where, _ := v.Preferred(t.Context()); where != InKeyring {
			t.Errorf("a caller that left made the keyring look broken: %s", where)
		}
	})
}

func TestWhatIsNoKeyIsRefused(t *testing.T) {
	v, o := vaultIn(t, nil)
	for name, s := range map[string]core.Secret{"empty": " \n", "two lines": "a\nb", "NUL": "a\x00b", "not text": "a\xffb", "too long": core.Secret(strings.Repeat("x", MaxSecret+1))} {
		if _, err := v.Set(t.Context(), "a", s); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
	if _, err := os.Stat(filepath.Join(o.Home, FileName)); !errors.Is(err, fs.ErrNotExist) {
		t.Error("something was written")
	}
}

func TestSystemAsksNoBusThatIsNotThere(t *testing.T) {
	if runtime.GOOS != "linux" {
		return // elsewhere the keyring is part of the system
	}
	env := map[string]string{}
	get := func(n string) string { return env[n] }
	if System("/home", get) != nil {
		t.Error("no session bus, and yet a keyring")
	}
	env["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=/run/bus"
	if System("/home", get) == nil {
		t.Error("a session bus, and no keyring")
	}
	env["LOOP_KEYRING"] = "file"
	if System("/home", get) != nil {
		t.Error("a file was asked for")
	}
}

func FuzzFile(f *testing.F) {
	f.Add([]byte(`{"version":1,"kdf":"key","nonce":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA","data":""}`))
	f.Add([]byte(`{"version":1,"kdf":"argon2id","salt":"AA==","nonce":"","data":null}`))
	dir := f.TempDir()
	if err := os.WriteFile(filepath.Join(dir, keyFileName), make([]byte, 32), 0o600); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		path := filepath.Join(t.TempDir(), FileName)
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		if s, err := (&file{path: path, keyDir: dir}).Get("a"); err == nil {
			t.Fatalf("%q came out of nothing", s.Reveal())
		}
	})
}

// BenchmarkGet times a read, for which a run waits. The first read derives the key.
func BenchmarkGet(b *testing.B) {
	for _, pass := range []string{"", "correct horse"} {
		b.Run(fmt.Sprintf("passphrase=%v", pass != ""), func(b *testing.B) {
			v := New(Options{Home: b.TempDir(), KeyDir: b.TempDir(), Passphrase: pass})
			if _, err := v.Set(b.Context(), "a", "secret"); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := v.Get(b.Context(), "a"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
