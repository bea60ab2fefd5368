package terminal

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"

	"loop/backend/core"
	"loop/backend/terminal/vt"
)

// keptLines is how much of a shell of this computer comes back, above a fresh one.
const keptLines = 2000

// Sequences around what an earlier launch left: it is grey, and what begins below says so.
const (
	beforeGrey = "\x1b[0;90m"
	afterGrey  = "\x1b[0m\r\n"
	freshShell = "\x1b[0m\x1b[7m Loop was started again. What stands above is from before; this is a fresh shell. \x1b[0m\r\n"
)

// laterShell is a shell of this computer that begins once somebody looks: with Loop the one
// before it ended.
type laterShell struct {
	start func(ctx context.Context, cols, rows uint16) (Program, error)
	begun func() // before its first output

	once sync.Once
	look chan struct{} // closed once somebody looks, or it is not to begin at all

	mu         sync.Mutex
	over       bool
	cols, rows uint16
	p          Program
}

var _ Inspector = (*laterShell)(nil)

func (l *laterShell) wake() { l.once.Do(func() { close(l.look) }) }

// program is the shell, nil before it has begun.
func (l *laterShell) program() Program {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.p
}

// Output implements Program. It begins the shell.
func (l *laterShell) Output(ctx context.Context, offset int64) (io.ReadCloser, int64, error) {
	select {
	case <-l.look:
	case <-ctx.Done():
		return nil, 0, ctx.Err()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return io.NopCloser(strings.NewReader("")), offset, nil
	}
	if l.p == nil {
		p, err := l.start(ctx, l.cols, l.rows)
		if err != nil {
			return nil, 0, fmt.Errorf("%w: begin a shell again: %w", core.ErrNotFound, err)
		}
		l.p = p
		l.begun()
	}
	return l.p.Output(ctx, offset)
}

// Write implements Program.
func (l *laterShell) Write(ctx context.Context, b []byte) error {
	if p := l.program(); p != nil {
		return p.Write(ctx, b)
	}
	return nil // an answer to a query of before
}

// Resize implements Program.
func (l *laterShell) Resize(ctx context.Context, cols, rows uint16) error {
	l.mu.Lock()
	l.cols, l.rows = cols, rows
	p := l.p
	l.mu.Unlock()
	if p != nil {
		return p.Resize(ctx, cols, rows)
	}
	return nil
}

// End implements Program.
func (l *laterShell) End(ctx context.Context) error {
	l.mu.Lock()
	l.over = true
	p := l.p
	l.mu.Unlock()
	l.wake()
	if p != nil {
		return p.End(ctx)
	}
	return nil
}

// Wait implements Program.
func (l *laterShell) Wait(ctx context.Context) (core.TerminalExit, error) {
	if p := l.program(); p != nil {
		return p.Wait(ctx)
	}
	return core.TerminalExit{Code: -1}, nil
}

// Close implements Program.
func (l *laterShell) Close() error {
	if p := l.program(); p != nil {
		return p.Close()
	}
	return nil
}

// Others implements Inspector.
func (l *laterShell) Others() []string {
	if i, ok := l.program().(Inspector); ok {
		return i.Others()
	}
	return nil
}

// comesBack says that a session's shell is begun again by the next launch. A program that the
// person named is not: nobody knows what a second run of it would do.
func comesBack(i core.TerminalInfo) bool { return i.Target == core.TargetHost && len(i.Cmd) == 0 }

// restoreShell shows what a shell of this computer left, grey, above one that begins when
// somebody looks. It reports whether the app goes on.
func (s *Service) restoreShell(row Saved) bool {
	info := row.Info
	info.State, info.Viewers, info.Recording, info.RecordingProblem, info.Exit = core.TerminalRunning, 0, "", "", nil
	info.Shell, info.Command = "", ""
	later := &laterShell{look: make(chan struct{}), cols: info.Cols, rows: info.Rows}
	t := s.newSession(info, later, false)
	t.saved = Saved{OpenMode: row.OpenMode}
	later.start = func(ctx context.Context, cols, rows uint16) (Program, error) {
		return s.o.Programs.Start(ctx, Start{ID: info.ID, Spec: core.TerminalSpec{
			ChannelID: info.ChannelID, Target: core.TargetHost, Dir: info.Dir, Cols: cols, Rows: rows,
		}})
	}
	later.begun = func() { t.append([]byte(freshShell)) }
	was := vt.New(int(info.Cols), int(info.Rows), vt.Options{}) // nothing of before is told or answered
	_, _ = was.Write(row.Screen)                                // never fails
	if lines := was.Text(keptLines); len(lines) > 0 {
		_, _ = t.screen.Write([]byte(beforeGrey + strings.Join(lines, "\r\n") + afterGrey))
	}
	return s.add(t)
}

// lookAt begins what waits for somebody to look.
func (t *session) lookAt() {
	if l, ok := t.program.(*laterShell); ok {
		l.wake()
	}
}
