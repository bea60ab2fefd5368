package programs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"loop/backend/core"
	"loop/backend/hostpty"
	"loop/backend/terminal"
)

// Channels are those of Loop; core.ErrNotFound says that there is none of an id.
type Channels interface {
	Channel(ctx context.Context, id core.ChannelID) (core.Channel, error)
}

// Settings are those of terminals.
type Settings interface {
	// ShellIntegration says that shells are to mark their prompts.
	ShellIntegration() bool
}

// Host starts programs of the person's own on this computer.
type Host struct {
	Home     string // Loop's folder
	Channels Channels
	Settings Settings
	Log      *slog.Logger
}

// Start starts a program, the person's shell unless s names another.
func (h Host) Start(ctx context.Context, s terminal.Start) (terminal.Program, error) {
	dir, err := h.dir(ctx, s.Spec)
	if err != nil {
		return nil, err
	}
	argv, env := s.Spec.Cmd, hostpty.Environ(os.Environ())
	if len(argv) == 0 {
		if argv = hostpty.DefaultShell(os.Getenv); h.Settings.ShellIntegration() {
			argv, env = h.marked(argv, env)
		}
	}
	pty, err := hostpty.Start(hostpty.Options{Argv: argv, Dir: dir, Env: env, Cols: s.Spec.Cols, Rows: s.Spec.Rows, ID: s.ID})
	if err != nil {
		return nil, err
	}
	return hostProgram{pty}, nil
}

// dir is the first folder that is there of these: the one asked for, the channel's, its
// parents', and the channel's own in Loop's folder. Empty is the person's home.
func (h Host) dir(ctx context.Context, spec core.TerminalSpec) (string, error) {
	tries := []string{spec.Dir}
	for next := spec.ChannelID; next != ""; {
		ch, err := h.Channels.Channel(ctx, next)
		if errors.Is(err, core.ErrNotFound) {
			break
		}
		if err != nil {
			return "", fmt.Errorf("read channel: %w", err)
		}
		tries = append(tries, ch.Dir)
		next = ch.ParentID
	}
	if spec.ChannelID != "" {
		tries = append(tries, filepath.Join(h.Home, "channels", string(spec.ChannelID), "work"))
	}
	for _, dir := range tries {
		if st, err := os.Stat(dir); filepath.IsAbs(dir) && err == nil && st.IsDir() {
			return dir, nil
		}
	}
	return "", nil
}

// hostProgram is a Program on this computer. It ends with Loop.
type hostProgram struct{ *hostpty.PTY }

var _ terminal.Inspector = hostProgram{}

// Output has one reader in a session's life, which ends when the terminal does.
func (p hostProgram) Output(_ context.Context, offset int64) (io.ReadCloser, int64, error) {
	return io.NopCloser(p.PTY), offset, nil
}

func (p hostProgram) Write(_ context.Context, b []byte) error {
	_, err := p.PTY.Write(b)
	return err
}
