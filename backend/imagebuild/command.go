package imagebuild

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"time"
)

// Command is a host program to run.
type Command struct {
	Path  string
	Args  []string
	Env   []string // added to this process's environment
	Stdin io.Reader
	// Stdout, if set, gets stdout as it is; otherwise its lines go to Line.
	Stdout io.Writer
	Line   func(string) // gets lines of stderr, and of stdout; nil drops them
}

// CommandFunc runs a command to its end. Ending ctx interrupts it, and kills it
// when it does not heed that.
type CommandFunc func(ctx context.Context, c Command) error

const (
	// interruptGrace is what a command gets to clean up after an interrupt.
	interruptGrace = 3 * time.Second
	// maxCommandLine bounds a line of output; longer ones come in pieces.
	maxCommandLine = 64 << 10
)

func runCommand(ctx context.Context, c Command) error {
	cmd := exec.CommandContext(ctx, c.Path, c.Args...)
	cmd.Env = append(os.Environ(), c.Env...)
	cmd.Stdin = c.Stdin
	ownGroup(cmd)
	cmd.Cancel = func() error { return interrupt(cmd) }
	cmd.WaitDelay = interruptGrace
	out := &lineWriter{line: c.Line}
	cmd.Stderr, cmd.Stdout = out, out // one writer, and so one goroutine for both
	if c.Stdout != nil {
		cmd.Stdout = c.Stdout
	}
	err := cmd.Run()
	killGroup(cmd)
	out.hand(len(out.rest))
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// lineWriter hands on what is written to it line by line.
type lineWriter struct {
	line func(string)
	rest []byte
}

func (w *lineWriter) Write(p []byte) (int, error) {
	w.rest = append(w.rest, p...)
	for {
		n := bytes.IndexByte(w.rest, '\n') + 1
		if n == 0 || n > maxCommandLine {
			n = maxCommandLine
		}
		if n > len(w.rest) {
			return len(p), nil
		}
		w.hand(n)
	}
}

func (w *lineWriter) hand(n int) {
	if n > 0 && w.line != nil {
		w.line(string(w.rest[:n]))
	}
	w.rest = w.rest[n:]
}
