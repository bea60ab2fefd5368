package browser

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"time"

	"loop/backend/core"
)

// Driver drives one Chromium. Methods may be called from any goroutine.
type Driver interface {
	// Do answers within half a minute, or within actTimeout where a person is asked about a
	// page; a failure is a sentence in the result.
	Do(ctx context.Context, a core.BrowserAction) core.BrowserResult
	Input(in core.BrowserInput) // takes no time
	// Copy brings what is marked on the active page to done, on another goroutine, after the
	// input before it; cut has the page take it out. It takes no time.
	Copy(cut bool, done func(text string, err error))
	SetView(v core.BrowserView) error
	Cast(on bool, quality int) // pictures of the active page, to Hooks.Frame
	// Still is one picture of the active page, a JPEG.
	Still(ctx context.Context, quality int) ([]byte, error)
	Done() <-chan struct{} // closed when Chromium is gone
}

// Page is what is known of the pages of one Chromium.
type Page interface {
	Tabs() []core.BrowserTab
	Downloads() []core.BrowserDownload
	Console(after int64) []core.BrowserLine
	Requests(after int64) []core.BrowserRequest
	View() core.BrowserView // of SetView, or of an agent that resized the window
}

// Prompts are what the active page shows to the person beside its picture.
type Prompts interface {
	Dialog() (core.BrowserDialog, bool)
	Chooser() (core.BrowserChooser, bool)
	Popup() (core.BrowserPopup, bool)
	Cursor() string
}

// Running is a Chromium that was started. Close ends it and everything of it.
type Running struct {
	Driver  Driver
	Page    Page
	Prompts Prompts
	Watched func(ctx context.Context, on bool) error // more processor time, or less
	Notices []string
	// PutFile makes a person's file readable by Chromium and says where it is there; nil
	// refuses. Errors are *core.Failure.
	PutFile func(ctx context.Context, name string, r io.Reader) (inside string, err error)
	Mode    string // core.BrowserInDocker or BrowserOnHost
	// Lost says what it means that Chromium has gone by itself; nil says it of one in a container.
	Lost  *core.Failure
	Close func() error
}

// Hooks are what a running Chromium calls, from goroutines of its own; all but the
// last do not block.
type Hooks struct {
	Frame   func(core.BrowserFrame)
	Changed func()
	// Opens decides about a page before it is requested, and may take its time: until
	// somebody has answered, or ctx ends. Errors are sentences for the agent.
	Opens func(ctx context.Context, op core.BrowserOpening) error
}

// Film keeps pictures of what runs do. It is called from any goroutine. goes is whether
// the frame's run is still under way.
type Film interface {
	Keep(ctx context.Context, f core.TakenFrame) (goes bool, err error)
}

// Timeline keeps notices of runs. It is called from any goroutine.
type Timeline interface {
	// AddEvents stores events and numbers them.
	AddEvents(ctx context.Context, events ...core.Event) ([]core.Event, error)
}

// Settings are those of a channel's browser.
type Settings struct {
	Enabled bool
	Mode    string        // where the next start is
	Idle    time.Duration // without an act and without a pane, after which it ends
	ByPath  bool          // an agent's screenshots come as a path alone
}

// Options of a Service; all are required.
type Options struct {
	// Launch starts a channel's browser; fresh forgets its profile. Errors are *core.Failure.
	Launch   func(ctx context.Context, ch core.ChannelID, fresh bool, h Hooks) (Running, error)
	Settings func(ctx context.Context, ch core.ChannelID) (Settings, error)
	// Save keeps a file of the channel's browser where its agent finds it, and says where.
	Save func(ctx context.Context, ch core.ChannelID, name string, data []byte) (path string, err error)
	// Ports are what the channel's agents listen on now; it takes some seconds at most.
	Ports func(ctx context.Context, ch core.ChannelID) []core.BrowserPort
	// Forget removes what is left of the browser of a channel that is gone, and its profile.
	Forget func(ctx context.Context, ch core.ChannelID) error
	// Opens decides about a page that no person opens. by is the agent that drives or drove
	// last, and tool what it does in the browser now; a page of which tool is empty opens by
	// itself. Errors are *core.Failure.
	Opens func(ctx context.Context, ch core.ChannelID, op core.BrowserOpening, by core.Caller, tool string) error
	// AgentActions are the names of what an agent may ask for; what only a pane may is in
	// none of them.
	AgentActions []string
	Film         Film
	Timeline     Timeline
	Publish      func(...core.Event)
	Now          func() time.Time
	Log          *slog.Logger
}

const (
	// actTimeout bounds one act, whoever has gone meanwhile. A person may be asked about a
	// page in it, for 100 seconds.
	actTimeout = 150 * time.Second
	// handTimeout is how long an act of the agent waits for the person to give back.
	handTimeout = 100 * time.Second
	// sweepEvery is the pace at which unused browsers are looked for.
	sweepEvery = 15 * time.Second
	// portsEvery is the pace at which the ports of agents are looked at while a pane shows
	// them: a look costs a millisecond or two.
	portsEvery = 3 * time.Second
)

// Service has the browsers of all channels. Methods may be called from any goroutine.
type Service struct {
	o    Options
	ctx  context.Context // ends with Close
	stop context.CancelFunc
	work sync.WaitGroup

	mu       sync.Mutex
	sessions map[core.ChannelID]*session
}

// New returns a Service without browsers.
func New(o Options) *Service {
	s := &Service{o: o, sessions: map[core.ChannelID]*session{}}
	s.ctx, s.stop = context.WithCancel(context.Background())
	return s
}

// Run ends browsers that nobody uses, until ctx ends; it returns nil then.
func (s *Service) Run(ctx context.Context) error {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			for _, c := range s.all() {
				c.endUnused(ctx)
			}
		}
	}
}

// Close ends every browser and waits.
func (s *Service) Close() error {
	s.stop()
	var errs []error
	for _, c := range s.all() {
		errs = append(errs, c.shut(core.BrowserIdle, nil))
	}
	s.work.Wait()
	return errors.Join(errs...)
}

// Forget ends the browser of a channel that was removed, and has its profile removed. What
// cannot be removed now, the next start of Loop removes.
func (s *Service) Forget(ctx context.Context, ch core.ChannelID) {
	s.mu.Lock()
	c := s.sessions[ch]
	delete(s.sessions, ch)
	s.mu.Unlock()
	if c != nil {
		c.leave()
	}
	if err := s.o.Forget(ctx, ch); err != nil {
		s.o.Log.Warn("remove the profile of a removed channel's browser", "channel", string(ch), "err", err)
	}
}

// Held says whether the person drives a channel's browser while an agent waits for it.
func (s *Service) Held(ch core.ChannelID) bool {
	s.mu.Lock()
	c := s.sessions[ch]
	s.mu.Unlock()
	return c != nil && c.held()
}

func (s *Service) all() (out []*session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.sessions {
		out = append(out, c)
	}
	return out
}

func (s *Service) session(ch core.ChannelID) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.sessions[ch]
	if c == nil {
		c = newSession(s, ch)
		s.sessions[ch] = c
		s.work.Go(c.tell)
		s.work.Go(c.film.run)
	}
	return c
}

// Building has panes whose browser starts show how its image is built.
func (s *Service) Building(st core.ImageStatus) {
	if st.State != core.ImageBuilding {
		return
	}
	for _, c := range s.all() {
		c.step(st.Step)
	}
}

var errOff = core.Fail(core.CodeOff, nil, "The browser is switched off for this channel.",
	"Set browser_enabled to true in the settings.")

// Agent does what an agent's tool asks for in the browser of its own channel. The error says that there is no browser for
// it at all; what went wrong in it is a sentence in the result.
func (s *Service) Agent(ctx context.Context, from core.Caller, a core.BrowserAction) (core.BrowserResult, error) {
	set, err := s.o.Settings(ctx, from.ChannelID)
	if err != nil {
		return core.BrowserResult{}, err
	}
	if !set.Enabled {
		return core.BrowserResult{}, errOff
	}
	if !slices.Contains(s.o.AgentActions, a.Action) {
		why := fmt.Sprintf("There is no browser action %q. The tools of loop-browser are what there is.", cut(a.Action, 60))
		return core.BrowserResult{Error: why}, nil
	}
	a.Caller = from
	return s.pictured(ctx, from.ChannelID, set.ByPath, s.session(from.ChannelID).agent(ctx, from.RunID, a)), nil
}

// cut shortens what is quoted.
func cut(text string, runes int) string {
	r := []rune(text)
	if len(r) <= runes {
		return text
	}
	return string(r[:runes]) + "…"
}
