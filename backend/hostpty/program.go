package hostpty

import (
	"context"
	"os"
	"sync"
	"time"
)

// ProgramOptions say what to start without a terminal.
type ProgramOptions struct {
	Options // without Cols and Rows
	// What the program reads and writes. It gets duplicates; the caller closes these.
	Stdin, Stdout, Stderr *os.File
}

// Ref finds a program again after Loop was ended and started.
type Ref struct {
	PID      int    `json:"pid,omitempty"` // 0: only the marker is known
	Identity string `json:"identity,omitempty"`
	Marker   string `json:"marker"` // value of the variable Marker
}

// watchEvery is the pause between looks whether a program has ended.
const watchEvery = 25 * time.Millisecond

// watched is the part of a Program that waits for its end.
type watched struct {
	ending
	known bool // exit is what the system said
	quit  chan struct{}
	once  sync.Once
	work  sync.WaitGroup
}

// Exited is closed when the program itself has ended; others of its tree may run on.
func (w *watched) Exited() <-chan struct{} { return w.exited }

// Exit says how the program ended. known is false for one of an earlier launch of Loop,
// whose end no system tells to others than its parent. It is called after Exited.
func (w *watched) Exit() (how Exit, known bool) { return w.exit, w.known }

// Leave stops watching the program, which goes on.
func (w *watched) Leave() {
	w.once.Do(func() { close(w.quit) })
	w.work.Wait()
}

// Left is closed by Leave.
func (w *watched) Left() <-chan struct{} { return w.quit }

// watch calls look until it reports the end, or Leave.
func (w *watched) watch(look func() bool) {
	w.work.Go(func() {
		tick := time.NewTicker(watchEvery)
		defer tick.Stop()
		for !look() {
			select {
			case <-tick.C:
			case <-w.quit:
				return
			}
		}
		close(w.exited)
	})
}

// End ends the program with everything that came out of it, politely at first. It returns
// when nothing of it is left, with an error that says what is, or with ctx's; then the
// next call tries again.
func (p *Program) End(ctx context.Context) error {
	done := make(chan error, 1)
	p.work.Go(func() {
		p.closing.Lock()
		defer p.closing.Unlock()
		var err error
		if !p.closed {
			err = p.close()
			p.closed = err == nil
		}
		done <- err
	})
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
