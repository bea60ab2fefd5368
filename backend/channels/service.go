package channels

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"loop/backend/core"
)

// nameLimit bounds a channel's name as shown in a list, in runes.
const nameLimit = 80

// Store is what the service keeps its channels in. Methods may be called from
// any goroutine.
type Store interface {
	Channels(ctx context.Context) ([]core.Channel, error)
	Channel(ctx context.Context, id core.ChannelID) (core.Channel, error) // core.ErrNotFound
	AddChannel(ctx context.Context, ch core.Channel) error
	RenameChannel(ctx context.Context, id core.ChannelID, name string) error
	RemoveChannel(ctx context.Context, id core.ChannelID) error
	Activity(ctx context.Context) (map[core.ChannelID]Activity, error)
}

// Activity is how a channel's runs stand.
type Activity struct {
	Queued      int
	Active      *core.Run // starting or running
	Last        *core.Run // newest run that ended
	LastEventID int64
}

// Runs stops what a channel is doing before it is removed.
type Runs interface {
	CancelChannel(ctx context.Context, id core.ChannelID) error
}

// State is the word the sidebar shows.
type State string

const (
	StateIdle     State = "idle"
	StateQueued   State = "queued"
	StateWorking  State = "working"
	StateNeedsYou State = "needs_you"
	StateDone     State = "done"
	StateFailed   State = "failed"
)

// View is a channel and how it stands.
type View struct {
	core.Channel
	State        State         `json:"state"`
	RunningSince time.Time     `json:"running_since,omitzero"`
	Queued       int           `json:"queued"`
	LastEventID  int64         `json:"last_event_id"`
	LastError    *core.Failure `json:"last_error,omitempty"`
}

// Options assemble a Service.
type Options struct {
	Store   Store
	Runs    Runs
	Home    string // Loop's own folder; the demo's directory and channel state live in it
	Publish func(...core.Event)
	Now     func() time.Time
}

// Service is safe for use from any goroutine.
type Service struct{ opts Options }

// New makes the service; it starts nothing.
func New(opts Options) *Service { return &Service{opts: opts} }

// List returns every channel with how it stands, oldest first.
func (s *Service) List(ctx context.Context) ([]View, error) {
	list, err := s.opts.Store.Channels(ctx)
	if err != nil {
		return nil, fmt.Errorf("list channels: %w", err)
	}
	act, err := s.opts.Store.Activity(ctx)
	if err != nil {
		return nil, fmt.Errorf("read activity: %w", err)
	}
	views := make([]View, len(list))
	for i, ch := range list {
		views[i] = view(ch, act[ch.ID])
	}
	return views, nil
}

// Get returns one channel with how it stands.
func (s *Service) Get(ctx context.Context, id core.ChannelID) (View, error) {
	ch, err := s.opts.Store.Channel(ctx, id)
	if err != nil {
		return View{}, missing(err)
	}
	act, err := s.opts.Store.Activity(ctx)
	if err != nil {
		return View{}, fmt.Errorf("read activity: %w", err)
	}
	return view(ch, act[ch.ID]), nil
}

func view(ch core.Channel, a Activity) View {
	v := View{Channel: ch, State: StateIdle, Queued: a.Queued, LastEventID: a.LastEventID}
	switch {
	case a.Active != nil:
		v.State, v.RunningSince = StateWorking, a.Active.StartedAt
	case a.Queued > 0:
		v.State = StateQueued
	case a.Last != nil && a.Last.State == core.RunDone:
		v.State = StateDone
	case a.Last != nil && a.Last.State != core.RunCancelled:
		v.State, v.LastError = StateFailed, a.Last.Outcome.Failure
	}
	return v
}

// Add returns the channel of a directory, making it if there is none. The
// directory is checked as it is now; every run checks it again.
func (s *Service) Add(ctx context.Context, dir, name string) (View, error) {
	clean, err := CheckDir(dir, s.opts.Home)
	if err != nil {
		return View{}, err
	}
	list, err := s.opts.Store.Channels(ctx)
	if err != nil {
		return View{}, fmt.Errorf("list channels: %w", err)
	}
	for _, ch := range list {
		if ch.Dir == clean && ch.Kind == core.KindProject {
			return s.Get(ctx, ch.ID)
		}
	}
	if strings.TrimSpace(name) == "" {
		name = filepath.Base(clean)
	}
	name, err = checkName(name)
	if err != nil {
		return View{}, err
	}
	return s.create(ctx, core.Channel{ID: core.ChannelID(core.NewID()), Kind: core.KindProject, Name: name, Dir: clean, CreatedAt: s.opts.Now()})
}

// Demo returns the channel that needs no key: the real CLI on a scripted
// model, in a directory of Loop's own.
func (s *Service) Demo(ctx context.Context) (View, error) {
	list, err := s.opts.Store.Channels(ctx)
	if err != nil {
		return View{}, fmt.Errorf("list channels: %w", err)
	}
	for _, ch := range list {
		if ch.Kind == core.KindDemo {
			if err := os.MkdirAll(ch.Dir, 0o755); err != nil {
				return View{}, fmt.Errorf("make demo directory: %w", err)
			}
			return s.Get(ctx, ch.ID)
		}
	}
	id := core.ChannelID(core.NewID())
	dir := filepath.Join(s.opts.Home, "channels", string(id), "work")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return View{}, fmt.Errorf("make demo directory: %w", err)
	}
	return s.create(ctx, core.Channel{ID: id, Kind: core.KindDemo, Name: "Demo channel", Dir: dir, CreatedAt: s.opts.Now()})
}

func (s *Service) create(ctx context.Context, ch core.Channel) (View, error) {
	if err := s.opts.Store.AddChannel(ctx, ch); err != nil {
		return View{}, fmt.Errorf("store channel: %w", err)
	}
	s.opts.Publish(core.NewEvent(core.EventChannelCreated, ch.ID, "", s.opts.Now(), ch))
	return view(ch, Activity{}), nil
}

// Rename changes the name shown; the directory stays.
func (s *Service) Rename(ctx context.Context, id core.ChannelID, name string) error {
	name, err := checkName(name)
	if err != nil {
		return err
	}
	if err := s.opts.Store.RenameChannel(ctx, id, name); err != nil {
		return missing(err)
	}
	ch, err := s.opts.Store.Channel(ctx, id)
	if err != nil {
		return missing(err)
	}
	s.opts.Publish(core.NewEvent(core.EventChannelUpdated, id, "", s.opts.Now(), ch))
	return nil
}

// Remove stops the channel's runs, then forgets it with its timeline and the
// state Loop kept for it. The person's directory is never touched.
func (s *Service) Remove(ctx context.Context, id core.ChannelID) error {
	if _, err := s.opts.Store.Channel(ctx, id); err != nil {
		return missing(err)
	}
	if err := s.opts.Runs.CancelChannel(ctx, id); err != nil {
		return fmt.Errorf("stop the channel's runs: %w", err)
	}
	if err := s.opts.Store.RemoveChannel(ctx, id); err != nil {
		return missing(err)
	}
	s.opts.Publish(core.NewEvent(core.EventChannelDeleted, id, "", s.opts.Now(), nil))
	if err := os.RemoveAll(filepath.Join(s.opts.Home, "channels", string(id))); err != nil {
		return fmt.Errorf("remove the channel's state: %w", err)
	}
	return nil
}

func missing(err error) error {
	if errors.Is(err, core.ErrNotFound) {
		return core.Fail(core.CodeNotFound, err, "That channel does not exist any more.", "Choose another one in the sidebar.")
	}
	return err
}

func checkName(name string) (string, error) {
	name = strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(name, "\ufffd")))
	if name == "" {
		return "", core.Fail(core.CodeInvalid, nil, "A channel needs a name.", "Type at least one character.")
	}
	if r := []rune(name); len(r) > nameLimit {
		name = string(r[:nameLimit])
	}
	return name, nil
}

// CheckDir resolves what a person chose to an absolute, existing directory, or
// says what is wrong with it. Links are resolved, so that two names of one
// directory are one channel.
func CheckDir(dir, home string) (string, error) {
	fail := func(err error, cause, remedy string) (string, error) {
		return "", core.Fail(core.CodeDir, err, cause, remedy)
	}
	if strings.TrimSpace(dir) == "" {
		return fail(nil, "No directory was given.", "Choose the folder of your project.")
	}
	if strings.ContainsRune(dir, 0) {
		return fail(nil, "The path holds a NUL character.", "Choose the folder in the dialog instead of pasting it.")
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return fail(err, fmt.Sprintf("Loop could not work out the full path of %q.", dir), "Give the full path.")
	}
	real, err := filepath.EvalSymlinks(abs)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fail(err, fmt.Sprintf("%q does not exist.", abs), "Check the spelling, or create the folder first.")
	case errors.Is(err, fs.ErrPermission):
		return fail(err, fmt.Sprintf("You may not open %q.", abs), "Choose a folder that belongs to you.")
	case err != nil:
		return fail(err, fmt.Sprintf("Loop could not open %q.", abs), "Choose another folder.")
	}
	info, err := os.Stat(real)
	if err != nil {
		return fail(err, fmt.Sprintf("Loop could not open %q.", abs), "Choose another folder.")
	}
	if !info.IsDir() {
		return fail(nil, fmt.Sprintf("%q is a file.", abs), "Choose the folder it is in.")
	}
	if filepath.Dir(real) == real {
		return fail(nil, "The whole file system cannot be a project.", "Choose the folder of one project.")
	}
	if user, err := os.UserHomeDir(); err == nil {
		if h, err := filepath.EvalSymlinks(user); err == nil && h == real {
			return fail(nil, "Your home folder cannot be a project: it holds your keys and Loop's own data.", "Choose a folder inside it.")
		}
	}
	if home != "" {
		if h, err := filepath.EvalSymlinks(home); err == nil && (real == h || inside(h, real)) {
			return fail(nil, fmt.Sprintf("%q holds Loop's own data, which no agent may write.", abs), "Choose the folder of one project.")
		}
	}
	return real, nil
}

// inside reports whether child lies under parent.
func inside(child, parent string) bool {
	rel, err := filepath.Rel(parent, child)
	return err == nil && rel != "." && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
