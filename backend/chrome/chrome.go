package chrome

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/chromedp/cdproto/target"

	"loop/backend/backoff"
	"loop/backend/core"
)

// Times of the connection.
const (
	openTimeout = 20 * time.Second
	callTimeout = 10 * time.Second // for a page's answer to one command
	doTimeout   = 28 * time.Second // for a whole action
	changeEvery = 30 * time.Millisecond
)

// Options of a Browser. Functions may be nil where that is said; none may call back into
// the Browser's Close.
type Options struct {
	// Frame gets the pictures of a cast. It is called from one goroutine and does not block.
	Frame func(core.BrowserFrame)
	// Changed is called when tabs, the dialog, the chooser, downloads, or the counts of
	// console and network have changed. It does not block; nil for none.
	Changed func()
	// Opens is asked before a document of a tab is requested, whoever or whatever wants it
	// opened, and may take its time; ctx ends when nothing waits for it any more. The error's
	// sentence is for the agent. Frames within pages are not asked about. nil allows.
	Opens func(ctx context.Context, op core.BrowserOpening) error
	// PutFile makes a workspace file readable by Chromium and says where it is there. nil
	// refuses uploads.
	PutFile func(ctx context.Context, path string) (inside string, err error)
	// Given says whether a person has made a file readable by Chromium at this path, which
	// a pane names. nil: nobody has.
	Given func(inside string) bool
	// Downloads keeps what is downloaded; nil refuses downloads.
	Downloads Downloads
	// DevToolsPort is where a Chromium that the person started and uses listens; 0 is one that
	// was started for this Browser. With it only tabs that were opened here, and those that they
	// open, are attached; Close closes them and leaves the rest; no page of them reaches that
	// port, which knows all tabs; and downloads are the person's.
	DevToolsPort uint16
	Log          *slog.Logger // nil for none
}

// obj is the parameters of a command that are few.
type obj = map[string]any

// Browser is one Chromium. Methods may be called from any goroutine.
type Browser struct {
	o     Options
	conn  *conn
	wg    sync.WaitGroup
	acts  chan struct{} // one action at a time
	input *inputLane
	cast  *caster
	wake  chan struct{} // one token: Changed is due
	views chan struct{} // one token: view is not what tabs are shown as

	mu       sync.Mutex
	moved    chan struct{} // closed and replaced when the state of a tab changes
	tabs     []*tab        // in the order they were opened
	active   *tab
	sessions map[string]*tab // of pages and of the frames inside them
	view     core.BrowserView
	shown    core.BrowserView // what the tabs were told last
	patience time.Duration    // for a page's answer to one command; tests have less
	notes    []string         // for the next result
	files    downloadList
	seq      int64 // of console lines and requests
	actSeq   int64 // seq when the action under way began

	own      map[string]string   // tabs of a person's Chromium that are of here, with their group
	closing  bool                // tabs are closed, and none is opened
	acting   *core.BrowserAction // under way
	openings []*opening          // the newest, oldest first
	opened   int64               // counts them
	attaches int64               // counts tabs
}

// Open takes over a Chromium that was just started, or takes part in one of the person's:
// r is what it writes, w what it reads. It closes both, also where it fails. Errors are
// *core.Failure.
func Open(ctx context.Context, r io.ReadCloser, w io.WriteCloser, o Options) (*Browser, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	b := &Browser{
		o: o, acts: make(chan struct{}, 1), wake: make(chan struct{}, 1), views: make(chan struct{}, 1),
		moved: make(chan struct{}), sessions: map[string]*tab{}, own: map[string]string{}, patience: callTimeout,
		view: core.BrowserView{Width: 1280, Height: 800, Scale: 1, Zoom: 1},
	}
	b.shown = b.view
	b.conn = newConn(r, w, func(m string) (class, bool) {
		h, ok := handlers[m]
		return h.class, ok
	})
	b.input = newInputLane(b)
	b.cast = newCaster(b)
	b.wg.Go(b.dispatch)
	b.wg.Go(b.notify)
	b.wg.Go(b.showViews)
	b.wg.Go(b.input.run)
	b.wg.Go(b.cast.run)
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	if err := b.begin(ctx); err != nil {
		_ = b.Close()
		return nil, core.Fail(core.CodeInternal, err, "Chromium was started but does not answer.",
			"Try again; if it repeats, build its image anew with loop image build browser.")
	}
	return b, nil
}

func (b *Browser) begin(ctx context.Context) error {
	if b.shared() {
		return b.beginShared(ctx)
	}
	downloads := obj{"behavior": "deny", "eventsEnabled": true}
	if b.o.Downloads != nil { // by their ids: a name that a page chooses is no name of a file
		downloads = obj{"behavior": "allowAndName", "downloadPath": b.o.Downloads.Dir(), "eventsEnabled": true}
	}
	pages := []target.FilterEntry{{Type: "page"}}
	for _, c := range []struct {
		method string
		params any
	}{
		{target.CommandSetDiscoverTargets, obj{"discover": true, "filter": pages}},
		// A popup waits, or its first page would be requested before it can be held.
		{target.CommandSetAutoAttach, obj{
			"autoAttach": true, "waitForDebuggerOnStart": b.o.Opens != nil, "flatten": true, "filter": pages,
		}},
		{"Browser.setDownloadBehavior", downloads},
	} {
		if err := b.conn.call(ctx, nil, "", c.method, c.params, nil); err != nil {
			return err
		}
	}
	short, cancel := context.WithTimeout(ctx, 2*time.Second)
	err := b.until(short, func() bool { return len(b.tabs) > 0 })
	cancel()
	if err != nil {
		_, err = b.openTab(ctx)
		return err
	}
	t, err := b.current()
	if err != nil {
		return err
	}
	return t.ready(ctx)
}

// Done is closed when the connection has ended, by Close or because Chromium has.
func (b *Browser) Done() <-chan struct{} { return b.conn.ended }

// Close ends the connection and waits for everything that it started. It does not end
// Chromium, which ends by itself when its pipe is closed; in one of the person's it closes
// the tabs that are of here, which takes a moment.
func (b *Browser) Close() error {
	if b.shared() {
		b.closeOwn()
	}
	b.conn.close()
	b.wg.Wait()
	return nil
}

// dispatch handles the events, in order. No handler waits for Chromium.
func (b *Browser) dispatch() {
	for {
		e, ok := b.conn.events.pop()
		if !ok {
			return
		}
		handlers[e.method].run(b, e)
	}
}

// notify calls Changed, seldom enough for a flood to cost little.
func (b *Browser) notify() {
	ctx, cancel := b.context(context.Background())
	defer cancel()
	for {
		select {
		case <-b.wake:
			if b.o.Changed != nil {
				b.o.Changed()
			}
		case <-ctx.Done():
			return
		}
		if !backoff.Sleep(ctx, changeEvery) {
			return
		}
	}
}

// changed says that what a pane shows is different now. The caller may hold mu.
func (b *Browser) changed() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// advance wakes whoever waits for the state of a tab. The caller holds mu.
func (b *Browser) advance() {
	close(b.moved)
	b.moved = make(chan struct{})
	b.changed()
}

// until waits for ok, which is called with mu held, after each change of a tab's state.
func (b *Browser) until(ctx context.Context, ok func() bool) error {
	for {
		b.mu.Lock()
		done, moved := ok(), b.moved
		b.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-b.conn.ended:
			return errEnded
		}
	}
}

// context ends when the connection does.
func (b *Browser) context(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(&endedContext{ctx, b.conn.ended}, func() { cancel(errEnded) })
	return ctx, func() { stop(); cancel(context.Canceled) }
}

// endedContext is a context whose Done is another channel.
type endedContext struct {
	context.Context
	done <-chan struct{}
}

func (c *endedContext) Done() <-chan struct{} { return c.done }

func (c *endedContext) Err() error {
	select {
	case <-c.done:
		return errEnded
	default:
		return nil
	}
}

const maxNote = 500 // bytes

// note keeps a sentence for the next result. The caller holds mu.
func (b *Browser) note(format string, args ...any) {
	s := clip(fmt.Sprintf(format, args...), maxNote)
	if len(b.notes) > 0 && b.notes[len(b.notes)-1] == s {
		return
	}
	if len(b.notes) == 8 {
		b.notes = b.notes[1:]
	}
	b.notes = append(b.notes, s)
}

// sentence says what a failure means to whoever asked.
func sentence(err error) string {
	if f, ok := errors.AsType[*core.Failure](err); ok {
		if f.Remedy == "" {
			return f.Cause
		}
		return f.Cause + " " + f.Remedy
	}
	if p, ok := errors.AsType[*protocolError](err); ok {
		return "Chromium refused that: " + clip(p.Message, 300) + "."
	}
	switch {
	case errors.Is(err, errEnded):
		return "The browser has ended; the next action starts it again."
	case errors.Is(err, errTooLarge):
		return "The answer is larger than 64 MiB; ask for less."
	case errors.Is(err, context.DeadlineExceeded):
		return "The page does not answer in time; a script of it may run without end. Try again, reload it, or close the tab."
	case errors.Is(err, context.Canceled):
		return "The action was cancelled."
	}
	return clip(err.Error(), 400)
}
