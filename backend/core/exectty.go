package core

import (
	"context"
	"io"
)

// ExecSpec asks an engine for a program on a terminal in a running container
// that Loop did not make. In Loop's own containers loop init starts programs.
type ExecSpec struct {
	ID         TerminalID // value of LOOP_TERMINAL, by which the program's tree is found; empty makes one
	Argv       []string   // empty is /bin/sh
	User       string     // name or uid:gid; empty is the container's own
	Env        []EnvVar
	Dir        string // empty is the container's own
	Cols, Rows uint16 // 0: 80 by 24
}

// TTY is a program that an ExecSpec asked for. Reads come from one goroutine and writes from one; the
// other methods from any. Whoever asked for it calls Close.
type TTY interface {
	// Read returns what the program prints; io.EOF behind the last byte.
	io.Reader
	io.Writer
	Resize(ctx context.Context, cols, rows uint16) error
	// Wait returns when the program has ended, and says how.
	Wait(ctx context.Context) (TerminalExit, error)
	// End ends the program with every process that came out of it. It returns once
	// none of them is left, or with a Failure that names those which are.
	End(ctx context.Context) error
	// Close lets go of the terminal; it ends the program first if nobody did, in
	// a bounded time. Read returns io.EOF from then on.
	Close() error
}
