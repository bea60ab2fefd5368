package hostpty

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"loop/backend/core"
)

var _ core.TTY = (*PTY)(nil)

// Exit is the end of a program: its code, signal or the reason for neither.
type Exit = core.TerminalExit

// ending is how the program of a PTY ended, once it has.
type ending struct {
	exited chan struct{} // the program ended, exit is set
	exit   Exit

	closing sync.Mutex // guards closed
	closed  bool       // nothing is left
}

// Wait returns once the program ended and says how, or with ctx's error. What the
// program printed may not have been read yet.
func (e *ending) Wait(ctx context.Context) (Exit, error) {
	select {
	case <-e.exited:
		return e.exit, nil
	case <-ctx.Done():
		return Exit{}, ctx.Err()
	}
}

// Close ends the program with everything that came out of it. It returns when nothing
// of it is left, or with an error that says what is; the next call tries again then.
// Read and Write end.
func (p *PTY) Close() (err error) {
	p.closing.Lock()
	defer p.closing.Unlock()
	if !p.closed {
		err = p.close()
		p.closed = err == nil
	}
	return err
}

// End is Close, which takes as long as it takes.
func (p *PTY) End(context.Context) error { return p.Close() }

// Options say what to start.
type Options struct {
	Argv       []string        // at least one; Argv[0] is looked for in Loop's PATH, or from Dir if it is a path
	Dir        string          // absolute; empty is the person's home
	Env        []string        // "NAME=value"; nil is Environ(os.Environ())
	Cols, Rows uint16          // 0: 80 by 24
	ID         core.TerminalID // value of Marker; empty makes one
}

// Marker is the variable that every process of a session inherits.
const Marker = "LOOP_TERMINAL"

const (
	// hangupGrace is the seed's: how long a program has to end after SIGHUP.
	hangupGrace = 3 * time.Second
	// killGrace bounds the wait for what SIGKILL was sent to. The kernel ends a
	// process in milliseconds unless it sits in a system call of a dead disk, or
	// the computer is so busy that its turn to end does not come.
	killGrace = 5 * time.Second
	// killLooks is how often such processes are looked for at least. On a busy
	// computer a look takes a second, and a process that starts the next one and ends
	// is not met in each look.
	killLooks = 50
	// emptyLooks is how often the table is looked at before “nothing is left” is
	// believed while processes come and go: one may start the next and end between
	// being listed and being looked at.
	emptyLooks = 12
	// unsurePause lets others run between two looks that are not believed: on a busy
	// computer a process stands where it cannot be seen until its turn comes.
	unsurePause = 2 * time.Millisecond
	// hopLooks is how often that is done again once programs are killed. With one, two of
	// four that hopped on a busy machine were left in one run of some twenty.
	hopLooks = 4
	// lookEvery is the pause between looks at the process table (a look at 300
	// processes takes 3 ms).
	lookEvery = 20 * time.Millisecond
)

// fromOutside are variables that say which terminal Loop itself was started in;
// a shell that believed them would talk to the wrong one.
var fromOutside = []string{
	"TERM", "COLORTERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "TERM_SESSION_ID", "TERMINFO",
	"TMUX", "TMUX_PANE", "STY", "WINDOW", "WINDOWID",
	"VTE_VERSION", "KONSOLE_VERSION", "KITTY_WINDOW_ID", "KITTY_PID", "WEZTERM_PANE", "ALACRITTY_WINDOW_ID", "ITERM_SESSION_ID",
	"WT_SESSION", "VSCODE_INJECTION", "LINES", "COLUMNS",
}

// ours are variables of Loop that its user sets for shells too. Every other LOOP_
// variable is for Loop alone, and some are secrets.
var ours = []string{"LOOP_HOME", "LOOP_SHELL_INTEGRATION"}

// Environ is the environment of a host shell made of the person's own: it says
// which terminal this is and holds no secret of Loop's. Names are compared as
// they are; on Windows, where case does not count, ours are in capitals there.
func Environ(own []string) []string {
	out := slices.DeleteFunc(slices.Clone(own), func(kv string) bool {
		name, _, ok := strings.Cut(kv, "=")
		if ok && name == "" {
			return false // Windows keeps the directory of each drive in variables called “=C:”
		}
		private := strings.HasPrefix(strings.ToUpper(name), "LOOP_") && !slices.Contains(ours, name)
		return !ok || private || slices.Contains(fromOutside, name)
	})
	return append(out, "TERM=xterm-256color", "COLORTERM=truecolor", "TERM_PROGRAM=Loop")
}

// helpers are the beginnings of names of processes that shells and tools start
// beside themselves: nobody misses one, and it is started again when it is needed.
var helpers = []string{"gitstatusd", "ssh-agent", "gpg-agent", "keyboxd", "dirmngr", "scdaemon", "git-credential-"}

func helper(name string) bool {
	return slices.ContainsFunc(helpers, func(h string) bool { return strings.HasPrefix(name, h) })
}

// prepare checks o, fills in what is empty, and makes the session's marker.
func prepare(o Options) (Options, string, error) {
	if o.Cols == 0 || o.Rows == 0 {
		o.Cols, o.Rows = 80, 24
	}
	if o.Env == nil {
		o.Env = Environ(os.Environ())
	}
	if o.Dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return o, "", dirFailure("your home directory", err)
		}
		o.Dir = home
	}
	switch info, err := os.Stat(o.Dir); {
	case err != nil:
		return o, "", dirFailure(o.Dir, err)
	case !info.IsDir():
		return o, "", core.Fail(core.CodeDir, nil, o.Dir+" is not a directory.", "Choose a directory for the terminal.")
	}
	marker := cmp.Or(string(o.ID), core.NewID())
	o.Env = slices.Concat(o.Env, []string{Marker + "=" + marker})
	return o, marker, nil
}

func dirFailure(dir string, err error) error {
	err = fmt.Errorf("look at the directory: %w", err)
	if errors.Is(err, fs.ErrNotExist) {
		return core.Fail(core.CodeDir, err, "The directory "+dir+" is not there.", "Make it again, or choose another directory for the terminal.")
	}
	return core.Fail(core.CodeDir, err, "The directory "+dir+" cannot be opened.",
		"Check its permissions, or choose another directory for the terminal.")
}

func noProgram(name string, err error) error {
	err = fmt.Errorf("find the program: %w", err)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EISDIR) {
		return core.Fail(core.CodeInvalid, err, name+" may not be executed.", "Check its permissions, or name another program.")
	}
	return core.Fail(core.CodeNotFound, err, "There is no program called "+name+" on this computer.",
		"Install it, or name another program; the default shell is used when none is named.")
}
