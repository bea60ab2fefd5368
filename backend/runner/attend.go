package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"loop/backend/backoff"
	"loop/backend/core"
)

// ending is what is known of how the CLI ended.
type ending struct {
	exit       *core.ExitStatus
	gone       bool                 // the container does not run any more
	facts      *core.ContainerFacts // of the container that is gone, if it still exists
	engineLost bool
	noLink     error // why Loop gave the container up: it could not link to it
	stderr     string
	early      bool // the container was dead when Loop started
}

// Waits that are details of the ladder below, not options.
const (
	killWait   = 20 * time.Second // for loop init to end a process tree
	drainWait  = 10 * time.Second // for the rest of the output after that
	guardEvery = 5 * time.Second  // between looks at whether output is held up
	linkTries  = 4                // links without a hello before the container is given up,
	linkGrace  = 30 * time.Second // but not sooner: an exec that is refused at once costs no time
	stderrKeep = 2000             // bytes of stderr kept for diagnosis, as of stdout
	heldLook   = time.Second      // between looks at a run that is at its limit and held
	stuckReads = 8                // reads in a row that break without a byte,
	stuckFor   = 15 * time.Second // each within this: a silent tool may outlive many links
)

// attend follows a running CLI to its end, and the tries after it to theirs.
func (w *work) attend(ctx context.Context) {
	for {
		e, err := w.watch(ctx)
		if err != nil { // only Loop closing
			w.closeLink()
			return
		}
		if !w.follows(ctx, e) {
			return
		}
	}
}

// arm begins the time limit, by this process's clock: Options.Now only dates what is
// shown. The limit of a run taken over counts only when it is known, since the default
// could be long over.
func (w *work) arm() {
	if w.limit != nil || w.overdue == nil || !w.launched {
		return
	}
	most := w.timeout()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.limit = time.AfterFunc(most-w.ran(), func() {
		if left := most - w.ran(); w.ending.Err() == nil && (left > 0 || w.held()) { // it was held meanwhile
			w.mu.Lock()
			defer w.mu.Unlock()
			w.limit.Reset(max(left, heldLook))
			return
		}
		w.cancel(core.Fail(core.CodeTimeout, nil, fmt.Sprintf("The run took longer than %s and was stopped.", most.Round(time.Second)),
			"Raise container_timeout_sec in the settings, or split the work into smaller prompts."))
	})
	context.AfterFunc(w.ending, func() { w.limit.Stop() })
}

// follows ends the run, or reports that another try of it is under way.
func (w *work) follows(ctx context.Context, e ending) bool {
	next, again := w.nextTry(e)
	if !again {
		w.conclude(ctx, e)
		return false
	}
	return w.tryAgain(ctx, next)
}

// watch reads the present try to its end, through as many links as that takes.
func (w *work) watch(ctx context.Context) (ending, error) {
	overdue := make(chan struct{}, 1)
	w.overdue = overdue
	w.arm()
	guarded, unguard := context.WithCancel(ctx)
	var guard sync.WaitGroup
	guard.Go(func() { w.guard(guarded, overdue) })
	defer func() {
		unguard()
		guard.Wait()
		w.calm()
		w.overdue = nil
	}()
	for stuck := 0; ; {
		before, began := w.readOff, time.Now()
		st, err := w.readToExit(ctx)
		if err == nil {
			if !w.dying.Load() {
				w.lookForDetached(ctx, true)
			}
			return ending{exit: &st, stderr: w.stderr(ctx)}, nil
		}
		if ctx.Err() != nil {
			return ending{}, errQuit
		}
		if errors.Is(err, errLostRun) {
			return ending{}, nil // conclude makes sure that nothing is left
		}
		w.log.Warn("output stream broke", "offset", w.readOff, "error", err)
		if stuck++; w.readOff > before || time.Since(began) > stuckFor {
			stuck = 0
		}
		var dead *ending
		if stuck < stuckReads {
			dead, err = w.reconnect(ctx)
		} else {
			w.log.Error("output cannot be read, stopping the container", "error", err)
			dead, err = w.giveUp(ctx, err)
		}
		if err != nil {
			return ending{}, err
		}
		if dead != nil {
			return w.salvage(ctx, *dead)
		}
	}
}

// readToExit reads all output from w.readOff and then how the CLI ended.
func (w *work) readToExit(ctx context.Context) (core.ExitStatus, error) {
	l := w.currentLink()
	if l == nil {
		return core.ExitStatus{}, core.ErrLinkDown
	}
	reading, interrupt := context.WithCancel(ctx)
	defer interrupt()
	rc, err := l.Read(reading, w.run.SpawnID, "out", w.readOff)
	if err != nil {
		return core.ExitStatus{}, fmt.Errorf("read output: %w", err)
	}
	if err := w.follow(ctx, rc, interrupt); err != nil {
		return core.ExitStatus{}, fmt.Errorf("read output: %w", err)
	}
	st, err := l.Wait(ctx, w.run.SpawnID)
	if err != nil {
		return core.ExitStatus{}, fmt.Errorf("wait for agent: %w", err)
	}
	return st, nil
}

// modelHint is what the CLI prints of a model name it does not know. A script's
// name is never one it knows, and that is no reason for anything.
const modelHint = "[claude-code:unrecognized_model]"

// stderr fetches the end of the CLI's stderr, for diagnosis.
func (w *work) stderr(ctx context.Context) string {
	l := w.currentLink()
	if r := w.parser.Result; l == nil || r != nil && !r.Failed() {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	sp, err := w.spawned(ctx)
	if err != nil || sp == nil {
		return ""
	}
	rc, err := l.Read(ctx, sp.ID, "err", max(0, sp.ErrEnd-stderrKeep))
	if err != nil {
		return ""
	}
	defer rc.Close()
	b, _ := io.ReadAll(io.LimitReader(rc, stderrKeep)) // what came before an error is still of use
	var said strings.Builder
	for line := range strings.Lines(string(b)) {
		if !w.run.Demo && !w.launch.Upstream.Demo || !strings.Contains(line, modelHint) {
			said.WriteString(line)
		}
	}
	return w.hidden.Load().Text(said.String())
}

// guard carries out the end that was asked for, and watches whether output is held up.
func (w *work) guard(ctx context.Context, overdue <-chan struct{}) {
	tick := time.Tick(guardEvery)
	var since time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.ending.Done():
			if w.cause() != nil {
				w.kill(ctx)
			}
			return
		case <-overdue:
			w.kill(ctx)
			return
		case <-tick:
			since = w.checkPaused(ctx, since)
		}
	}
}

// checkPaused ends the run when its output cannot be kept any more. since is when
// the disk was first seen full.
func (w *work) checkPaused(ctx context.Context, since time.Time) time.Time {
	ctx, cancel := context.WithTimeout(ctx, guardEvery)
	defer cancel()
	sp, err := w.spawned(ctx)
	switch {
	case err != nil:
		return since
	case sp == nil || sp.Paused == "":
		return time.Time{}
	case sp.Paused == "spool full":
		w.cancel(core.Fail(core.CodeSpoolFull, nil, "The agent printed more than Loop keeps of one run, and was stopped.",
			"Ask for less output at once; everything up to here is in the timeline."))
	case since.IsZero():
		w.s.p.Publish(w.notice("warning", "The agent waits: the disk that keeps its output is full. Free some space to let it go on."))
		return time.Now()
	case time.Since(since) >= w.s.o.PausedGrace:
		w.cancel(diskFull())
	}
	return since
}

// kill is the ladder: the process tree through the link, then the container.
// It ends when the reader has seen the end (ctx is done) or the container is
// stopped, which the reader then finds.
func (w *work) kill(ctx context.Context) {
	// A program that is held takes no signal but the last.
	w.s.p.Gate.Stop(w.run.ID, "The run is being stopped")
	w.lookForDetached(ctx, false)
	w.dying.Store(true)
	pause := backoff.Backoff{First: 250 * time.Millisecond, Most: 5 * time.Second}
	for ctx.Err() == nil {
		if l := w.currentLink(); l != nil {
			kctx, cancel := context.WithTimeout(ctx, killWait)
			err := l.Kill(kctx, w.run.SpawnID)
			cancel()
			if err != nil {
				w.log.Warn("end process tree", "error", err)
			} else if !backoff.Sleep(ctx, drainWait) {
				return
			}
		}
		if ctx.Err() != nil {
			return
		}
		err := w.s.p.Containers.End(ctx, w.container.ID, w.holder())
		if err == nil || errors.Is(err, core.ErrNotFound) || errors.Is(err, core.ErrConflict) {
			w.closeLink() // so that the reader looks
		}
		if err == nil || errors.Is(err, core.ErrNotFound) {
			return
		}
		w.log.Warn("stop container", "error", err)
		pause.Wait(ctx)
	}
}

// over gives the CLI time to exit when nothing more is to come of it, and takes
// that back when something comes all the same.
func (w *work) over(is bool) {
	if !is {
		w.calm()
		return
	}
	if overdue := w.overdue; overdue != nil && w.grace == nil {
		w.grace = time.AfterFunc(w.s.o.ResultGrace, func() {
			select {
			case overdue <- struct{}{}:
			default: // it is being ended already
			}
		})
	}
}

// calm ends the wait that over began.
func (w *work) calm() {
	if w.grace != nil {
		w.grace.Stop()
		w.grace = nil
	}
}
