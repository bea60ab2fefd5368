// Package credentialstest starts a Secret Service for one test: a message bus that
// starts no services by itself, and gnome-keyring with an open keyring in a temporary
// folder. Only tests may import it.
package credentialstest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/zalando/go-keyring"
)

const bus = `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
  "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:path=%s</listen>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
`

// patience bounds the start of each program. Both take well below a second on an idle
// machine.
const patience = 2 * time.Minute

// Start returns the address for DBUS_SESSION_BUS_ADDRESS and sets that variable for
// this process. Both programs and their folder are gone when the test ends.
func Start(t testing.TB) (address string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "loop-bus") // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket := filepath.Join(dir, "bus")
	if err := os.WriteFile(filepath.Join(dir, "bus.conf"), fmt.Appendf(nil, bus, socket), 0o600); err != nil {
		t.Fatal(err)
	}
	address = "unix:path=" + socket
	setenv(t, "DBUS_SESSION_BUS_ADDRESS", address)
	env := append(os.Environ(), "HOME="+dir, "XDG_RUNTIME_DIR="+dir, "XDG_DATA_HOME="+dir, "DISPLAY=")
	launch(t, env, "", "dbus-daemon", "--nofork", "--nopidfile", "--config-file="+filepath.Join(dir, "bus.conf"))
	await(t, "the message bus", func() error { // the socket exists before the bus listens
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "unix", socket)
		if err != nil {
			return err
		}
		return conn.Close()
	})
	launch(t, env, "open", "gnome-keyring-daemon", "--foreground", "--unlock", "--components=secrets")
	await(t, "the Secret Service", func() error {
		if _, err := keyring.Get("loop", "nothing"); !errors.Is(err, keyring.ErrNotFound) {
			return fmt.Errorf("look for nothing: %w", err)
		}
		return nil
	})
	return address
}

func setenv(t testing.TB, name, value string) {
	t.Helper()
	old, had := os.LookupEnv(name)
	if err := os.Setenv(name, value); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if had {
			_ = os.Setenv(name, old)
		} else {
			_ = os.Unsetenv(name)
		}
	})
}

func launch(t testing.TB, env []string, stdin, name string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(context.Background(), name, args...)
	cmd.Env, cmd.Stdin = env, strings.NewReader(stdin)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v (make setup installs it)", err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("%s: %s", name, out.String())
		}
	})
}

func await(t testing.TB, what string, ok func() error) {
	t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		err := ok()
		if err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Fatalf("%s does not answer: %v", what, err)
		}
	}
}
