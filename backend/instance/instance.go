// Package instance makes one process the one that works on a Loop folder, and
// lets the command line and a second start find it. daemon and tests may import it.
package instance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"loop/backend/atomicfile"
	"loop/backend/backoff"
	"loop/backend/core"
)

// Names in the Loop folder.
const (
	fileName = "instance.json"
	lockName = "instance.lock"
)

// Info is how the CLI and a second start find a running Loop. The file is
// 0600: the token in it opens everything.
type Info struct {
	PID       int       `json:"pid"`
	URL       string    `json:"url"`
	Token     string    `json:"token"`
	Version   string    `json:"version"`
	StartedAt time.Time `json:"started_at"`
	// Command says that this is the Loop of one command, which ends with it.
	Command bool `json:"command,omitempty"`
}

// NewToken makes the per-launch token: 256 random bits in hex.
func NewToken() string { return core.NewID() + core.NewID() }

// Lock makes this process the one that works on the Loop folder. The lock
// is the kernel's, so it cannot be left behind by a crash.
func Lock(home string) (*flock.Flock, error) {
	l := flock.New(filepath.Join(home, lockName), flock.SetPermissions(0o600))
	ok, err := l.TryLock()
	if err != nil {
		return nil, core.Fail(core.CodeConfig, err, fmt.Sprintf("Loop could not lock its folder %s.", home),
			"Check that you may write there and that the disk is not full, or set LOOP_HOME to another folder.")
	}
	if !ok {
		cause := "Another Loop already works on this folder."
		if i, err := Read(home); err == nil {
			cause = fmt.Sprintf("Another Loop (process %d) already works on this folder.", i.PID)
		}
		return nil, core.Fail(core.CodeConflict, ErrRunning, cause, "Use that one, close it, or set LOOP_HOME to another folder.")
	}
	return l, nil
}

// ErrRunning says that another process holds the Loop folder.
var ErrRunning = errors.New("another instance is running")

// Read reads what the running instance wrote, and is fs.ErrNotExist when none did.
// Whether that instance is alive, only a call tells.
func Read(home string) (i Info, err error) {
	b, _, err := atomicfile.Read(filepath.Join(home, fileName), maxFile)
	if err == nil {
		err = json.Unmarshal(b, &i)
	}
	if err != nil {
		return Info{}, fmt.Errorf("read instance file: %w", err)
	}
	return i, nil
}

// Write replaces the file in one step, so that a reader sees the old
// one or the new one.
func Write(home string, i Info) error {
	b, err := json.Marshal(i)
	if err != nil {
		return fmt.Errorf("encode instance file: %w", err)
	}
	if err := atomicfile.Replace(filepath.Join(home, fileName), b); err != nil {
		return fmt.Errorf("write instance file: %w", err)
	}
	return nil
}

// Remove is called only by the process that holds the lock.
func Remove(home string) error {
	if err := os.Remove(filepath.Join(home, fileName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove instance file: %w", err)
	}
	return nil
}

const (
	// showTimeout bounds the request to the running instance.
	showTimeout = 5 * time.Second
	// handoverTime is how long a start waits for a Loop that is just ending, which
	// has programs to hang up, or just beginning.
	handoverTime  = 30 * time.Second
	handoverPause = 100 * time.Millisecond
)

// OpenOrShow opens a Loop, or has the instance that works on the folder bring its
// window to the front; then the result is T's zero value and no error. home names
// the folder. Both are tried until one is done: an instance may end, or have said
// where it is, in any moment.
func OpenOrShow[T any](ctx context.Context, home func() (string, error), open func() (T, error)) (T, error) {
	return openOrShow(ctx, open, func() (bool, error) {
		dir, err := home()
		if err != nil {
			return false, err
		}
		return show(ctx, dir)
	})
}

func openOrShow[T any](ctx context.Context, open func() (T, error), show func() (again bool, err error)) (T, error) {
	var none T
	for begun := time.Now(); ; {
		d, err := open()
		if !errors.Is(err, ErrRunning) {
			return d, err
		}
		again, unseen := show()
		if !again {
			return none, unseen
		}
		if time.Since(begun) > handoverTime {
			return none, err
		}
		if !backoff.Sleep(ctx, handoverPause) {
			return none, ctx.Err()
		}
	}
}

// show asks the instance that works on the Loop folder to bring its window to the
// front. again says that it does not answer, or is about to end.
func show(ctx context.Context, home string) (again bool, err error) {
	i, err := Read(home)
	if err != nil {
		return true, err
	}
	c, err := NewClient(i)
	if err != nil {
		return false, err
	}
	defer c.HTTP.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(ctx, showTimeout)
	defer cancel()
	if _, err = c.Call(ctx, "System.Show"); err == nil {
		return false, nil
	}
	f, ok := errors.AsType[*core.Failure](err)
	if !ok || f.Code == CodeLost || f.Code == core.CodeCancelled { // not ok: it did not answer in time
		return true, err
	}
	return false, core.Fail(core.CodeConflict, ErrRunning,
		fmt.Sprintf("Another Loop (process %d) works on this folder without a window.", i.PID),
		"Open its page in a browser (it printed the address when it started), or close it and start this one again.")
}
