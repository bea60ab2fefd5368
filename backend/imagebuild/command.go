package imagebuild

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"time"
)

// Command is a host program to run.
type Command struct {
	Path string
	Args []string
	Env  []string // added to this process's environment
	Dir  string
	// Stdout, if set, gets stdout as it is; otherwise its lines go to Line.
	Stdout io.Writer
	Line   func(string) // gets lines of stderr, and of stdout
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
	cmd.Dir = c.Dir
	ownGroup(cmd)
	cmd.Cancel = func() error { return interrupt(cmd) }
	cmd.WaitDelay = interruptGrace
	r, w := io.Pipe()
	cmd.Stderr, cmd.Stdout = w, w
	if c.Stdout != nil {
		cmd.Stdout = c.Stdout
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		br := bufio.NewReaderSize(r, maxCommandLine)
		for {
			line, err := br.ReadSlice('\n')
			if len(line) > 0 && c.Line != nil {
				c.Line(string(line))
			}
			if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
				_, _ = io.Copy(io.Discard, r)
				return
			}
		}
	}()
	err := cmd.Run()
	_ = w.Close()
	<-read
	killGroup(cmd)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}
