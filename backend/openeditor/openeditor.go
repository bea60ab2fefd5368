package openeditor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"loop/backend/core"
	"loop/backend/hostpty"
)

// settle is how long a program is watched: one that cannot open a file mostly says so at once.
const settle = 1500 * time.Millisecond

const maxSaid = 2000 // bytes of what a program said

// Files finds files of this computer.
type Files interface {
	// HostFile is where an ordinary file of a channel is on this computer.
	HostFile(ctx context.Context, ch core.ChannelID, path string) (string, error)
}

// Opener opens files. Methods may be called from any goroutine.
type Opener struct {
	files    Files
	settings func() []string // the words of the setting

	computer Computer

	mu      sync.Mutex
	started []*os.Process
}

// New makes an Opener for the computer that Loop runs on.
func New(files Files, settings func() []string) *Opener {
	return &Opener{files: files, settings: settings, computer: Computer{runtime.GOOS, exec.LookPath, os.Getenv}}
}

// Open opens a file of a channel in the person's editor. An editor that wants a terminal is not
// started: its words are returned, for a terminal of this computer.
func (o *Opener) Open(ctx context.Context, ch core.ChannelID, path string, line, column int) (core.EditorOpened, error) {
	file, err := o.files.HostFile(ctx, ch, path)
	if err != nil {
		return core.EditorOpened{}, err
	}
	c, err := o.computer.Choose(o.settings(), Place{file, line, column})
	if err != nil {
		return core.EditorOpened{}, err
	}
	out := core.EditorOpened{Name: filepath.Base(c.Argv[0]), Cmd: []string{}}
	// Not the file's folder, where an agent could leave what the program loads.
	home, err := os.UserHomeDir()
	if err != nil {
		return core.EditorOpened{}, core.Fail(core.CodeDir, err, "Your home folder is not known.", "Set $HOME, and start Loop again.")
	}
	if c.Terminal {
		out.Cmd, out.Dir = c.Argv, home
		return out, nil
	}
	return out, o.start(ctx, c.Argv, home)
}

// start starts a program that outlives Loop, and watches for a moment how it fares.
func (o *Opener) start(ctx context.Context, argv []string, dir string) error {
	said, err := os.CreateTemp("", "loop-editor-*")
	if err != nil {
		return fmt.Errorf("make a file for what the editor says: %w", err)
	}
	defer func() { _ = errors.Join(said.Close(), os.Remove(said.Name())) }() // it is read by then
	//nolint:gosec,noctx // the person's own editor, which outlives the call
	cmd := exec.Command(argv[0], argv[1:]...)

	cmd.Dir, cmd.Env, cmd.SysProcAttr = dir, hostpty.Environ(os.Environ()), apart()
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Start(); err != nil {
		return core.Fail(core.CodeNotFound, err, fmt.Sprintf("%s could not be started.", filepath.Base(argv[0])),
			"Look at the detail, and at the setting “editor”.")
	}
	code, ended := o.watch(ctx, cmd.Process)
	if !ended || code == 0 {
		return nil
	}
	if _, err := said.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("read what the editor said: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(said, maxSaid))
	if err != nil {
		return fmt.Errorf("read what the editor said: %w", err)
	}
	return core.Fail(core.CodeConflict, errors.New(strings.ToValidUTF8(string(text), "\ufffd")),
		fmt.Sprintf("%s ended with code %d.", filepath.Base(argv[0]), code), "Look at the detail, and at the setting “editor”.")
}

// watch waits a moment for a program's end. One that goes on is kept, so that its end is noticed.
func (o *Opener) watch(ctx context.Context, p *os.Process) (code int, ended bool) {
	until := time.NewTimer(settle)
	defer until.Stop()
	often := time.NewTicker(20 * time.Millisecond)
	defer often.Stop()
	for {
		if code, ended = exited(p); ended {
			_ = p.Release() // it has ended
			return code, true
		}
		select {
		case <-often.C:
			continue
		case <-until.C:
		case <-ctx.Done():
		}
		o.keep(p)
		return 0, false
	}
}

// keep keeps a program that goes on, and lets go of those that have ended.
func (o *Opener) keep(p *os.Process) {
	o.mu.Lock()
	defer o.mu.Unlock()
	left := []*os.Process{p}
	for _, q := range o.started {
		if _, ended := exited(q); !ended {
			left = append(left, q)
			continue
		}
		_ = q.Release() // it has ended
	}
	o.started = left
}
