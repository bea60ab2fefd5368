package engine

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"loop/backend/backoff"
	"loop/backend/core"
)

// sweep finds the processes of a terminal and signals them.
//
//go:embed sweep.sh
var sweep string

const (
	// softGrace is the time a program has to end by itself, as on the host;
	// hardGrace is the kernel's after SIGKILL. hardLooks is the least number of looks
	// after that: on a busy engine one look alone takes seconds.
	softGrace = 3 * time.Second
	hardGrace = 5 * time.Second
	hardLooks = 5
	// maxSwept bounds what is read of a sweep's answer: 256 KiB are some ten
	// thousand processes.
	maxSwept = 256 << 10
	// sweepPause is between two looks.
	sweepPause = 100 * time.Millisecond
	// startTries is how often a sweep is begun anew when the container has no process
	// left for it: there is one again as soon as something ends. A program that forks
	// without end let one of about twenty through.
	startTries = 60
	// emptyLooks is how often a container is looked at before “nothing is left” is
	// believed while processes come and go in it.
	emptyLooks = 8
	endStep    = "end the terminal's programs"
)

// endTree ends everything in the container that carries the terminal's mark or
// belongs to a session that such a process is in. The engine can neither end an
// exec nor say what came out of it, so a shell in the container does: as the
// program's own user, who alone may look into its environment, and for what is
// left as root.
func (d *Docker) endTree(ctx context.Context, box core.ContainerID, user string, id core.TerminalID) error {
	s := sweeper{d: d, box: box, user: user, id: id}
	left, err := s.sweep(ctx, "HUP TERM CONT")
	for limit := time.Now().Add(softGrace); err == nil && len(left) > 0 && time.Now().Before(limit); {
		left, err = s.after(ctx, "")
	}
	limit := time.Now().Add(hardGrace)
	for look := 0; err == nil && len(left) > 0 && (look < hardLooks || time.Now().Before(limit)); look++ {
		left, err = s.after(ctx, "KILL")
		if err == nil && len(left) > 0 && s.user != "0:0" {
			// Root as well; sessions are known to it by number.
			s.user = "0:0"
			left, err = s.after(ctx, "KILL")
			s.user = user
		}
	}
	switch {
	case errors.Is(err, core.ErrNotRunning), errors.Is(err, core.ErrNotFound):
		return nil // a container that ended took everything along
	case err != nil:
		return err
	case len(left) > 0:
		names := strings.Join(left, ", ")
		return core.Fail(core.CodeConflict, fmt.Errorf("%s: left are %s", endStep, names),
			"Some programs of the terminal could not be ended: "+names+".", "End them in the container, or stop the container.")
	}
	return nil
}

type sweeper struct {
	d    *Docker
	box  core.ContainerID
	user string
	id   core.TerminalID
	sids []string
}

// after waits a moment before it sweeps again.
func (s *sweeper) after(ctx context.Context, signals string) ([]string, error) {
	backoff.Sleep(ctx, sweepPause)
	return s.sweep(ctx, signals) // which says it where ctx is over
}

// sweep sends signals to what is there and returns it as “name (pid)”.
func (s *sweeper) sweep(ctx context.Context, signals string) ([]string, error) {
	how := "quick"
	for try := 1; ; try++ {
		out, err := s.exec(ctx, signals, how)
		if err == nil && strings.HasSuffix(out, "swept\n") {
			left := s.parse(out)
			if len(left) > 0 || try >= emptyLooks || !strings.HasSuffix(out, "unsure\nswept\n") {
				return left, nil
			}
			continue
		}
		facts, ferr := s.d.Inspect(ctx, s.box)
		switch {
		case ctx.Err() != nil:
			return nil, fmt.Errorf("%s: %w", endStep, ctx.Err())
		case errors.Is(ferr, core.ErrNotFound) || ferr == nil && !facts.Running:
			return nil, core.ErrNotRunning
		case err != nil && !errors.Is(err, errExecStart):
			return nil, err // the engine's own
		case try == startTries || err != nil && noShell(err.Error()):
			return nil, core.Fail(core.CodeConflict, fmt.Errorf("%s: after %.200q: %w", endStep, out, cmp.Or(err, io.ErrUnexpectedEOF)),
				"Loop cannot end what the terminal started: the container has no /bin/sh that works, or no process left for one.",
				"End the programs in the container, or stop the container.")
		}
		if err == nil {
			how = "alone" // a shell ends when it gets no process for grep
		}
		backoff.Sleep(ctx, sweepPause)
	}
}

// noShell says that an exec fails for a reason that stays.
func noShell(words string) bool {
	return slices.ContainsFunc(
		[]string{"no such file or directory", "executable file not found", "permission denied", "exec format error"},
		func(w string) bool { return strings.Contains(words, w) })
}

// exec runs the script once.
func (s *sweeper) exec(ctx context.Context, signals, how string) (string, error) {
	argv := append([]string{"/bin/sh", "-c", sweep, "loop-sweep", string(s.id), signals, how}, s.sids...)
	conn, err := s.d.DialExec(ctx, s.box, s.user, argv)
	if err != nil {
		return "", refused(core.ExecSpec{User: s.user}, err)
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	out, err := io.ReadAll(io.LimitReader(conn, maxSwept))
	stop()
	_ = conn.Close()
	return string(out), err
}

// parse reads lines of “pid session name”. They come from a container: a number
// is digits, and the name is shown as text that can be printed.
func (s *sweeper) parse(out string) []string {
	var left []string
	for line := range strings.Lines(out) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 3)
		if len(f) < 3 || !number(f[0]) || !number(f[1]) {
			continue
		}
		left = append(left, fmt.Sprintf("%s (%s)", core.CleanTitle(f[2]), f[0]))
		// Session 0 is everybody's whose leader is outside of the container, 1 that of its first process.
		if f[1] != "0" && f[1] != "1" && !slices.Contains(s.sids, f[1]) && len(s.sids) < 64 {
			s.sids = append(s.sids, f[1])
		}
	}
	return left
}

func number(s string) bool {
	return s != "" && len(s) <= 10 && strings.Trim(s, "0123456789") == ""
}
