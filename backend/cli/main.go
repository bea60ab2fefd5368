package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"loop/backend/core"
)

// Exit codes.
const (
	exitOK        = 0
	exitFailed    = 1
	exitUsage     = 2
	exitCancelled = 130 // 128 + SIGINT, as shells say it
)

// Stdio is where the process reads and writes. Files that are terminals are
// recognised by their descriptor.
type Stdio struct {
	In       io.Reader
	Out, Err io.Writer
}

// Deps are what main hands in; the command line assembles nothing itself.
type Deps struct {
	Version string
	// Home is the Loop folder, where instance.json of a running instance is.
	Home string
	// Open starts Loop in this process, without a listener or a window. The
	// caller closes it. A Failure with core.CodeConflict says that another
	// process holds the folder.
	Open func(ctx context.Context) (Core, error)
	// OpenIdle is Open for a Loop that works no queue.
	OpenIdle func(ctx context.Context) (Core, error)
	// Serve runs Loop with its listener until ctx ends, and closes it. An empty
	// addr leaves the choice to the configuration. ready is called once, when
	// the listener is bound.
	Serve func(ctx context.Context, addr string, ready func(url, token string)) error
	// Window opens the window and blocks until Loop has ended; nil in the plain
	// binary.
	Window func(ctx context.Context) error
	// Env looks up an environment variable; nil is os.LookupEnv.
	Env func(name string) (string, bool)
}

// app is one invocation.
type app struct {
	deps       Deps
	in         io.Reader
	out, err   *printer
	interrupts <-chan os.Signal
	// restoreInterrupt gives Ctrl-C back to the system: the next one ends the process.
	restoreInterrupt func()
	times            times
	// screen is the terminal this runs in; a Failure when it is none.
	screen func() (screen, error)
	// editor lets the person change a file and returns when that is done; nil when
	// nobody sits at a terminal.
	editor func(ctx context.Context, file string) error
	now    func() time.Time
}

// times are waits that tests shorten.
type times struct {
	startup  time.Duration // for an instance that holds the folder to answer
	probe    time.Duration // one request to see whether an instance is alive
	first    time.Duration // until the timeline is asked because no event came
	quiet    time.Duration // the same, later in a run
	reattach time.Duration // between tries to follow events again
	stopping time.Duration // for a run to end after SIGTERM
	log      time.Duration // between looks at a log that is followed
}

func init() {
	cobra.MousetrapHelpText = "" // the desktop binary is started from Explorer
}

// Main runs one command line and returns the exit code. args is without the
// program's name. ctx ending (SIGTERM) stops what runs; Ctrl-C is handled here.
// It returns when everything it started has ended.
func Main(ctx context.Context, args []string, stdio Stdio, deps Deps) int {
	if deps.Env == nil {
		deps.Env = os.LookupEnv
	}
	a := &app{deps: deps, in: stdio.In, now: time.Now, times: times{startup: 15 * time.Second, probe: 3 * time.Second,
		first: 2 * time.Second, quiet: 15 * time.Second, reattach: 500 * time.Millisecond, stopping: 10 * time.Second, log: time.Second}}
	a.screen = func() (screen, error) { return openScreen(stdio.In, stdio.Out) }
	if isTerminal(stdio.In) && isTerminal(stdio.Out) {
		a.editor = func(ctx context.Context, file string) error { return editFile(ctx, stdio, deps.Env, file) }
	}
	a.out = newPrinter(stdio.Out, deps.Env)
	a.err = newPrinter(stdio.Err, deps.Env)
	sameTerminal(a.out, a.err)
	if len(args) == 0 && deps.Window != nil {
		// Nothing comes before the window: Wails also runs main to generate bindings.
		return a.exit(deps.Window(ctx))
	}
	// Nobody reads standard output any more: without this the system would end the
	// process in the middle of a run, and the agent would go on unseen.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	c := make(chan os.Signal, 2)
	signal.Notify(c, os.Interrupt)
	defer signal.Stop(c)
	a.interrupts, a.restoreInterrupt = c, func() { signal.Stop(c) }
	return a.main(ctx, args)
}

func (a *app) main(ctx context.Context, args []string) int {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	a.out.w = &outlet{w: a.out.w, closed: cancel}
	root := a.root()
	root.SetArgs(append([]string{}, args...)) // nil would make cobra read os.Args
	return a.exit(root.ExecuteContext(ctx))
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "loop",
		Short: "Loop runs Claude Code agents in containers and shows what they do",
		Example: `  loop run --demo "Show me around"   a whole run without a key
  loop doctor                        what is missing on this machine
  loop serve                         the window's page in a browser`,
		Args:              noSuchCommand,
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
	}
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.AddCommand(a.runCommand(), a.queueCommand(), a.answerCommand(), a.serveCommand(), a.doctorCommand(), a.supportCommand(),
		a.imageCommand(),
		a.channelsCommand(), a.terminalCommand(), a.threadCommand(), a.worktreeCommand(), a.sessionsCommand(), a.psCommand(),
		a.agentsCommand(), a.authCommand(), a.setupCommand(), a.explainCommand(), a.recreateCommand(), a.stopCommand(),
		a.workspaceCommand(), a.filesCommand(), a.inspectCommand(), a.logsCommand(), a.removeCommand(), a.pruneCommand(),
		a.configCommand(), a.gateCommand(), a.versionCommand(), a.demoModelCommand())
	root.InitDefaultHelpCmd()
	if help, _, err := root.Find([]string{"help"}); err == nil {
		help.Run, help.RunE = nil, showHelp
	}
	return root
}

// showHelp takes “help” of a command that does not exist for a mistake: cobra's own
// prints the list of commands and ends well.
func showHelp(cmd *cobra.Command, args []string) error {
	about, rest, err := cmd.Root().Find(args)
	if err != nil || len(rest) > 0 {
		return usagef("there is no command %q", strings.Join(args, " "))
	}
	about.InitDefaultHelpFlag()
	return about.Help()
}

// exitError ends with a code and prints nothing: the command said it already.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// exit prints what a person should know of err and returns the code.
func (a *app) exit(err error) int {
	if err == nil {
		return exitOK
	}
	if code, ok := errors.AsType[exitError](err); ok {
		return int(code)
	}
	if u, ok := errors.AsType[usageError](asMistake(err)); ok {
		a.err.line("loop: %s", u.Error())
		a.err.line("Run “loop help” to see the commands, or “loop run --help” for one of them.")
		return exitUsage
	}
	f, _ := errors.AsType[*core.Failure](err)
	if f == nil && errors.Is(err, context.Canceled) {
		a.err.line("Stopped.")
		return exitCancelled
	}
	if f == nil {
		f = core.AsFailure(err)
	}
	a.err.failure(f)
	return codeOf(f)
}

// codeOf is the exit code of a failure that came before a run started.
func codeOf(f *core.Failure) int {
	switch f.Code {
	case core.CodeInvalid, core.CodeDir, core.CodeNotFound:
		return exitUsage
	case core.CodeCancelled:
		return exitCancelled
	}
	return exitFailed
}
