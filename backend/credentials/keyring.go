package credentials

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/zalando/go-keyring"

	"loop/backend/core"
)

// System is the system's own keyring for one Loop folder, nil where there is
// none. getenv looks up the environment: on Linux a keyring is only asked where
// a session bus runs, because the client would otherwise start one and leave it.
// LOOP_KEYRING=file says that none is wanted.
func System(home string, getenv func(string) string) Backend {
	if getenv("LOOP_KEYRING") == InFile {
		return nil
	}
	switch runtime.GOOS {
	case "darwin", "windows":
	default:
		if getenv("DBUS_SESSION_BUS_ADDRESS") == "" {
			dir := getenv("XDG_RUNTIME_DIR")
			if dir == "" {
				return nil
			}
			if _, err := os.Stat(filepath.Join(dir, "bus")); err != nil {
				return nil
			}
		}
	}
	return systemKeyring{service: "loop " + home}
}

// systemKeyring names its items by the Loop folder, so that two folders do not
// share keys.
type systemKeyring struct{ service string }

func (k systemKeyring) Get(kind string) (core.Secret, error) {
	s, err := keyring.Get(k.service, kind)
	return core.Secret(s), absent(err)
}

func (k systemKeyring) Set(kind string, secret core.Secret) error {
	return keyring.Set(k.service, kind, secret.Reveal())
}

func (k systemKeyring) Delete(kind string) error {
	if err := absent(keyring.Delete(k.service, kind)); !errors.Is(err, core.ErrNotFound) {
		return err
	}
	return nil
}

func absent(err error) error {
	if errors.Is(err, keyring.ErrNotFound) {
		return core.ErrNotFound
	}
	if err != nil && strings.Contains(err.Error(), "no such secret") {
		return core.ErrNotFound
	}
	return err
}
