package channels

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
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
	SetChannelNext(ctx context.Context, id core.ChannelID, demo bool, next core.SessionStart, by core.RunID) error
	Activity(ctx context.Context) (map[core.ChannelID]core.ChannelActivity, error)
}

// Runs are those of channels.
type Runs interface {
	// CancelChannel stops what a channel is doing before it is removed.
	CancelChannel(ctx context.Context, id core.ChannelID) error
	// Undecided says whether one waits for the person's word on the image that its project brings.
	Undecided(id core.ChannelID) bool
}

// Browsers are those of channels.
type Browsers interface {
	// Forget ends the browser of a channel that was removed, and removes its profile.
	Forget(ctx context.Context, id core.ChannelID)
	// Held says whether the person drives it while an agent waits.
	Held(id core.ChannelID) bool
}

// Sessions reads the transcripts in a channel's state.
type Sessions interface {
	List(ctx context.Context, ch core.Channel) ([]core.SessionInfo, error)
	Messages(ctx context.Context, ch core.Channel, session core.SessionID) ([]core.SessionMessage, error) // core.ErrNotFound
	// Copy puts a session where the agent finds it under another directory and
	// in another channel's state. Directories are the host's.
	Copy(ctx context.Context, from, to core.Channel, fromDir, toDir string, session core.SessionID) error // core.ErrNotFound
}

// Worktrees makes git worktrees. Git runs in a container: in a directory that
// an agent can write it would run the agent's code on the host.
type Worktrees interface {
	// Branches are those of main's repository, and what is not committed in dir, a path below
	// main.Dir with slashes, or a dot.
	Branches(ctx context.Context, main core.Channel, dir string) (core.BranchList, error)
	// Create makes dir, a path below main.Dir with slashes, for branch. An absent
	// branch is made from base (empty: what main has checked out). One that is
	// there already for the branch is kept; then made is false.
	Create(ctx context.Context, main core.Channel, dir, branch, base string) (made bool, err error)
	// Remove takes worktrees away. Without force, one with changes that are not
	// committed is core.ErrConflict, and all of them stay. One that is gone already
	// is no error.
	Remove(ctx context.Context, main core.Channel, dirs []string, force bool) error
}

// Agents are those of the settings.
type Agents interface {
	Agents() []core.AgentChoice
}

// Options assemble a Service.
type Options struct {
	Store     Store
	Titles    Titles
	Runs      Runs
	Sessions  Sessions
	Worktrees Worktrees
	Browsers  Browsers
	Agents    Agents
	// Choose stores what was chosen for a channel, the agent for its threads as well.
	Choose func(ctx context.Context, id core.ChannelID, chosen core.ChannelChoices) error
	// Fit refuses a folder that no run could be given, before it has a channel.
	Fit func(ctx context.Context, dir string) error
	// OnHost says whether runs of a channel work on this computer itself; nil: none does.
	OnHost  func(ch core.Channel) bool
	Home    string // Loop's own folder; the demo's directory and channel state live in it
	Publish func(...core.Event)
	Now     func() time.Time
}

// Service is safe for use from any goroutine.
type Service struct {
	opts Options
	// tree guards going and making, and is held while a child is stored: none may
	// come to a parent that is being removed. It is not held while runs end or git
	// works.
	tree   sync.Mutex
	going  map[core.ChannelID]bool
	adding sync.Mutex      // held from looking for a folder's channel to making it: there is one
	making map[string]bool // folders of worktrees
}

// New makes the service; it starts nothing.
func New(opts Options) *Service {
	return &Service{opts: opts, going: map[core.ChannelID]bool{}, making: map[string]bool{}}
}

// List returns every channel with how it stands, oldest first.
func (s *Service) List(ctx context.Context) ([]core.ChannelView, error) {
	list, err := s.opts.Store.Channels(ctx)
	if err != nil {
		return nil, fmt.Errorf("list channels: %w", err)
	}
	act, err := s.opts.Store.Activity(ctx)
	if err != nil {
		return nil, fmt.Errorf("read activity: %w", err)
	}
	views := make([]core.ChannelView, len(list))
	for i, ch := range list {
		views[i] = s.view(ch, act[ch.ID])
	}
	return views, nil
}

// Get returns one channel with how it stands.
func (s *Service) Get(ctx context.Context, id core.ChannelID) (core.ChannelView, error) {
	ch, err := s.opts.Store.Channel(ctx, id)
	if err != nil {
		return core.ChannelView{}, missing(err)
	}
	act, err := s.opts.Store.Activity(ctx)
	if err != nil {
		return core.ChannelView{}, fmt.Errorf("read activity: %w", err)
	}
	return s.view(ch, act[ch.ID]), nil
}

func (s *Service) view(ch core.Channel, a core.ChannelActivity) core.ChannelView {
	a.Undecided = s.opts.Runs.Undecided(ch.ID)
	v := ch.View(a)
	v.BrowserHeld = s.opts.Browsers.Held(ch.ID)
	v.OnHost = s.opts.OnHost != nil && s.opts.OnHost(ch)
	return v
}

// Add returns the channel of a directory, making it if there is none. The
// directory is checked as it is now; every run checks it again.
func (s *Service) Add(ctx context.Context, dir, name string) (core.ChannelView, error) {
	clean, err := CheckDir(dir)
	if err != nil {
		return core.ChannelView{}, err
	}
	// A worktree's folder has a channel already; a second one of another state
	// would not know its conversation.
	return s.only(ctx, func(ch core.Channel) bool {
		return ch.Dir == clean && (ch.Kind == core.KindProject || ch.Kind == core.KindWorktree)
	}, func() (ch core.Channel, err error) {
		if err := s.opts.Fit(ctx, clean); err != nil {
			return ch, err
		}
		if strings.TrimSpace(name) == "" {
			name = filepath.Base(clean)
		}
		name, err = checkName(name)
		return core.Channel{ID: core.ChannelID(core.NewID()), Kind: core.KindProject, Name: name, Dir: clean}, err
	})
}

// Demo returns the channel that needs no key: the real CLI on a scripted
// model, in a directory of Loop's own.
func (s *Service) Demo(ctx context.Context) (core.ChannelView, error) {
	view, err := s.only(ctx, func(ch core.Channel) bool { return ch.Kind == core.KindDemo && ch.ParentID == "" },
		func() (core.Channel, error) {
			id := core.ChannelID(core.NewID())
			dir := filepath.Join(s.opts.Home, "channels", string(id), "work")
			return core.Channel{ID: id, Kind: core.KindDemo, Name: "Demo channel", Dir: dir}, nil
		})
	if err != nil {
		return core.ChannelView{}, err
	}
	if err := os.MkdirAll(view.Dir, 0o755); err != nil {
		return core.ChannelView{}, fmt.Errorf("make demo directory: %w", err)
	}
	return view, nil
}

// only returns the one channel of some kind, making it if there is none.
func (s *Service) only(ctx context.Context, is func(core.Channel) bool, make func() (core.Channel, error)) (core.ChannelView, error) {
	s.adding.Lock()
	defer s.adding.Unlock()
	list, err := s.opts.Store.Channels(ctx)
	if err != nil {
		return core.ChannelView{}, fmt.Errorf("list channels: %w", err)
	}
	if i := slices.IndexFunc(list, is); i >= 0 {
		return s.Get(ctx, list[i].ID)
	}
	ch, err := make()
	if err != nil {
		return core.ChannelView{}, err
	}
	return s.create(ctx, ch)
}

func (s *Service) create(ctx context.Context, ch core.Channel) (core.ChannelView, error) {
	ch.CreatedAt = s.opts.Now()
	if err := s.opts.Store.AddChannel(ctx, ch); err != nil {
		return core.ChannelView{}, fmt.Errorf("store channel: %w", err)
	}
	s.opts.Publish(core.NewEvent(core.EventChannelCreated, ch.ID, "", ch.CreatedAt, ch))
	return ch.View(core.ChannelActivity{}), nil
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
	if err == nil {
		s.opts.Publish(core.NewEvent(core.EventChannelUpdated, id, "", s.opts.Now(), ch))
	}
	return missing(err)
}

func missing(err error) error {
	if errors.Is(err, core.ErrNotFound) {
		return core.Fail(core.CodeNotFound, err, "That channel does not exist any more.", "Choose another one in the sidebar.")
	}
	return err
}

// shownAsIs reports whether a character leaves the text around it as it is.
func shownAsIs(r rune) bool {
	return !unicode.IsControl(r) && !unicode.Is(unicode.Bidi_Control, r)
}

func checkName(name string) (string, error) {
	name = strings.TrimSpace(strings.Map(func(r rune) rune {
		if !shownAsIs(r) {
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
