package daemon

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"loop/backend/config"
	"loop/backend/core"
)

// Names in the Loop folder.
const (
	instanceFile = "instance.json"
	instanceLock = "instance.lock"
)

// Instance is how the CLI and a second start find a running Loop. The file is
// 0600: the token in it opens everything.
type Instance struct {
	PID       int       `json:"pid"`
	URL       string    `json:"url"`
	Token     string    `json:"token"`
	Version   string    `json:"version"`
	StartedAt time.Time `json:"started_at"`
	// Command says that this is the Loop of one command, which ends with it.
	Command bool `json:"command,omitempty"`
}

// newToken makes the per-launch token: 256 random bits in hex.
func newToken() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails on supported systems
	return hex.EncodeToString(b[:])
}

// lockHome makes this process the one that works on the Loop folder. The lock
// is the kernel's, so it cannot be left behind by a crash.
func lockHome(home string) (*flock.Flock, error) {
	l := flock.New(filepath.Join(home, instanceLock), flock.SetPermissions(0o600))
	ok, err := l.TryLock()
	if err != nil {
		return nil, core.Fail(core.CodeConfig, err, fmt.Sprintf("Loop could not lock its folder %s.", home), "Check that you may write there and that the disk is not full, or set LOOP_HOME to another folder.")
	}
	if !ok {
		cause := "Another Loop already works on this folder."
		if i, err := ReadInstance(home); err == nil {
			cause = fmt.Sprintf("Another Loop (process %d) already works on this folder.", i.PID)
		}
		return nil, core.Fail(core.CodeConflict, ErrRunning, cause, "Use that one, close it, or set LOOP_HOME to another folder.")
	}
	return l, nil
}

// ErrRunning says that another process holds the Loop folder.
var ErrRunning = errors.New("another instance is running")

// ReadInstance reads what the running instance wrote; fs.ErrNotExist when none
// did. That it is alive still has to be asked of it.
func ReadInstance(home string) (Instance, error) {
	var i Instance
	b, err := os.ReadFile(filepath.Join(home, instanceFile))
	if err != nil {
		return i, fmt.Errorf("read instance file: %w", err)
	}
	if err := json.Unmarshal(b, &i); err != nil {
		return i, fmt.Errorf("read instance file: %w", err)
	}
	return i, nil
}

// writeInstance replaces the file in one step, so that a reader sees the old
// one or the new one.
func writeInstance(home string, i Instance) error {
	b, err := json.Marshal(i)
	if err != nil {
		return fmt.Errorf("encode instance file: %w", err)
	}
	if err := replaceFile(filepath.Join(home, instanceFile), b); err != nil {
		return fmt.Errorf("write instance file: %w", err)
	}
	return nil
}

// removeInstance is called only by the process that holds the lock.
func removeInstance(home string) error {
	if err := os.Remove(filepath.Join(home, instanceFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove instance file: %w", err)
	}
	return nil
}

// showTimeout bounds the request to the running instance.
const showTimeout = 5 * time.Second

// ShowRunning asks the instance that works on the Loop folder to bring its
// window to the front.
func ShowRunning(ctx context.Context) error {
	home, err := config.Home()
	if err != nil {
		return err
	}
	i, err := ReadInstance(home)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, showTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, i.URL+"api/call/System.Show", strings.NewReader("[]"))
	if err != nil {
		return fmt.Errorf("ask the running instance: %w", err)
	}
	req.Header.Set("Authorization", "Bearer "+i.Token)
	req.Header.Set("Content-Type", "application/json")
	// Straight to this machine: a proxy has no business with the token.
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("ask the running instance: %w", err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return core.Fail(core.CodeConflict, ErrRunning, fmt.Sprintf("Another Loop (process %d) works on this folder without a window.", i.PID),
			"Open its page in a browser (it printed the address when it started), or close it and start this one again.")
	}
	return nil
}
