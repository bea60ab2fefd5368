//go:build linux

package initd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"loop/agentimage/guest/threads"
	"loop/backend/wire"
)

// setup is the set-up of a container: a command of the person's own, run as root before
// this process leaves uid 0.
type setup struct {
	dir   string // the command is the file wire.SetupFile in it
	home  string // made for the command, and removed after it
	etc   string // its passwd and group get the agent's entries first
	who   identity
	limit time.Duration
	out   *os.File // gets what the command says, and why it failed
}

// setupMounted reports whether the host has mounted a folder, which nobody in the container can
// write: an image, or an agent that may write the root, could put a command there otherwise.
func setupMounted(mountInfo, dir string) (is bool) {
	for line := range strings.Lines(mountInfo) {
		f := strings.Fields(line)
		if len(f) < 6 || f[4] != dir {
			continue
		}
		if !slices.Contains(strings.Split(f[5], ","), "ro") {
			return false
		}
		is = true
	}
	return is
}

// run runs the command, if there is one, and returns the exit code of the container, which
// ends with it: so nothing that the command left behind lives on as root. Without a command
// there is nothing to do, and due is false.
func (s setup) run(ctx context.Context) (code int, due bool) {
	command, err := s.command()
	if err == nil && command == "" {
		return 0, false
	}
	if err == nil {
		err = addNames(s.etc, s.who)
	}
	if err == nil {
		err = s.shell(ctx, command)
	}
	if err != nil {
		_, _ = fmt.Fprintf(s.out, "setupCommand: %v\n", err) // the end of this process says it as well
		return wire.ExitSetupFailed, true
	}
	return wire.ExitSetUp, true
}

// command is empty where nothing is to be done. A file that cannot be read is an error: the
// container would go on without its set-up.
func (s setup) command() (string, error) {
	root, err := os.OpenRoot(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer func() { _ = root.Close() }()
	f, err := root.Open(wire.SetupFile)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, wire.MaxSetupCommand+1))
	switch {
	case err != nil:
		return "", err
	case len(text) > wire.MaxSetupCommand:
		return "", fmt.Errorf("the command has more than %d bytes", wire.MaxSetupCommand)
	case strings.TrimSpace(string(text)) == "":
		return "", errors.New("the command is empty")
	}
	return string(text), nil
}

// shell runs a command. Its home is an empty folder: the agent's may hold files that an
// agent wrote, and shells and package managers read settings from there.
func (s setup) shell(ctx context.Context, command string) (err error) {
	if err := os.MkdirAll(s.home, 0o700); err != nil {
		return fmt.Errorf("make a home: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(s.home)) }()
	ctx, cancel := context.WithTimeoutCause(ctx, s.limit, fmt.Errorf("it had not ended after %s", s.limit))
	defer cancel()
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	nothing, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer func() { _ = nothing.Close() }()
	reaper := threads.NewReaper()
	reap, over := context.WithCancel(context.Background())
	reaped := make(chan struct{})
	go func() { defer close(reaped); reaper.Run(reap) }()
	defer func() { over(); <-reaped }()
	pid, ended, err := reaper.Start("setupCommand", "/bin/sh", []string{"sh", "-c", command}, &syscall.ProcAttr{
		Dir: "/", Env: setupEnv(os.Environ(), s.home), Files: []uintptr{nothing.Fd(), s.out.Fd(), s.out.Fd()},
		Sys: &syscall.SysProcAttr{Setpgid: true},
	})
	if err != nil {
		return fmt.Errorf("start /bin/sh: %w", err)
	}
	select {
	case ws := <-ended:
		switch {
		case ws.Signaled():
			return fmt.Errorf("ended by the signal %s", ws.Signal())
		case ws.ExitStatus() != 0:
			return fmt.Errorf("exit status %d", ws.ExitStatus())
		}
		return nil
	case <-ctx.Done():
		_ = syscall.Kill(-pid, syscall.SIGKILL) // what left its group ends with this process
		<-ended
		return fmt.Errorf("stopped: %w", context.Cause(ctx))
	}
}

// setupEnv is the image's environment without what is Loop's and the agent's.
func setupEnv(environ []string, home string) (out []string) {
	own := []string{"HOME=" + home, "USER=root", "LOGNAME=root", "DEBIAN_FRONTEND=noninteractive"}
	path := false
	for _, v := range environ {
		name, _, _ := strings.Cut(v, "=")
		switch {
		case strings.HasPrefix(name, "LOOP_"), name == "CLAUDE_CONFIG_DIR", name == "CHOWN_PATHS", name == "API_URL":
		case name == "HOME" || name == "USER" || name == "LOGNAME":
		default:
			path = path || name == "PATH"
			out = append(out, v)
		}
	}
	if !path {
		own = append(own, "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
	}
	return append(out, own...)
}
