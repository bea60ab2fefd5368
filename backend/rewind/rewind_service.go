package rewind

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"loop/backend/checkpoints"
	"loop/backend/core"
)

// Rows keeps checkpoints; package store says more of each.
type Rows interface {
	PutCheckpoint(ctx context.Context, c core.Checkpoint, talk *core.TalkChange, events ...core.Event) ([]core.Event, error)
	Checkpoints(ctx context.Context, ch core.ChannelID) ([]core.Checkpoint, error)
	Checkpoint(ctx context.Context, id string) (core.Checkpoint, error)
	DropCheckpoints(ctx context.Context, ids []string) error
	Channels(ctx context.Context) ([]core.Channel, error)
}

// Runs finds channels and runs; what is gone is core.ErrNotFound.
type Runs interface {
	Channel(ctx context.Context, id core.ChannelID) (core.Channel, error)
	Run(ctx context.Context, id core.RunID) (core.Run, error)
	ListRuns(ctx context.Context, ch core.ChannelID, limit int, states ...core.RunState) ([]core.Run, error)
	ActiveRuns(ctx context.Context) ([]core.Run, error)
}

// Folders opens the folder in which a channel's agents work.
type Folders interface {
	WorkFolder(ctx context.Context, ch core.ChannelID) (core.WorkFolder, error)
}

// Sessions are the conversations that agents keep.
type Sessions interface {
	Length(ch core.Channel, session core.SessionID) (bytes int64, known bool)
	Cut(ctx context.Context, ch core.Channel, session core.SessionID, length int64) (core.SessionID, error)
}

// Queue keeps runs of a channel from beginning until release is called. One under way is
// ended first with stop, else it is a conflict.
type Queue interface {
	Quiet(ctx context.Context, ch core.ChannelID, stop bool) (release func(), err error)
}

// Options of a Service. Zero values take the defaults in parentheses.
type Options struct {
	Home     string
	Rows     Rows
	Runs     Runs
	Folders  Folders
	Sessions Sessions
	Publish  func(...core.Event)
	Now      func() time.Time
	Log      *slog.Logger
	Limits   checkpoints.Limits
	Wait     time.Duration // for which a run waits for its checkpoint (3 s)
	Keep     time.Duration // of checkpoints (30 days)
	Bytes    int64         // that those of a channel may take on the disk (2 GiB)
}

// Service keeps checkpoints and goes back to them. Methods may be called from any goroutine.
type Service struct {
	o     Options
	queue Queue

	ctx  context.Context // of what runs on in the background
	stop context.CancelFunc
	wg   sync.WaitGroup

	mu      sync.Mutex
	closing bool
	places  map[core.ChannelID]*place
	planned *plan    // the latest preview, for its diffs
	viewed  *runView // what a run changed, for its files
}

// place is what is known of a channel's checkpoints.
type place struct {
	turn chan struct{} // one at a time
	hash checkpoints.Hash
	tree *checkpoints.Tree // with hash; nil is not known
	used time.Time
	took int // trees that were taken

	// late is how many checkpoints took too long, and are not over yet. why and since are of a
	// folder of which there can be none; told is what was said of that.
	late  int
	why   string
	since time.Time
	told  string
}

// mostTrees is how many trees stay in memory, for the next checkpoint.
const mostTrees = 4

// New makes the service. Whoever made it calls Run, and lets runs begin after Follow.
func New(o Options) *Service {
	o.Wait = cmp.Or(o.Wait, 3*time.Second)
	o.Keep = cmp.Or(o.Keep, 30*24*time.Hour)
	o.Bytes = cmp.Or(o.Bytes, 2<<30)
	s := &Service{o: o, places: map[core.ChannelID]*place{}}
	s.ctx, s.stop = context.WithCancel(context.Background())
	return s
}

// Follow says whose runs they are.
func (s *Service) Follow(q Queue) { s.queue = q }

// begin runs do on the service's time, unless it ends.
func (s *Service) begin(do func(context.Context)) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return false
	}
	s.wg.Go(func() { do(s.ctx) })
	return true
}

func (s *Service) close() {
	s.mu.Lock()
	s.closing = true
	s.mu.Unlock()
	s.stop()
	s.wg.Wait()
}

func (s *Service) store(ch core.ChannelID) checkpoints.Store {
	return checkpoints.In(filepath.Join(s.o.Home, "channels", string(ch), "checkpoints"))
}

func (s *Service) place(ch core.ChannelID) *place {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.places[ch]
	if p == nil {
		p = &place{turn: make(chan struct{}, 1)}
		s.places[ch] = p
	}
	return p
}

// enter waits for the channel's turn. Who has it alone touches its store and its tree.
func (s *Service) enter(ctx context.Context, ch core.ChannelID) (p *place, leave func(), err error) {
	p = s.place(ch)
	select {
	case p.turn <- struct{}{}:
		return p, func() { <-p.turn }, nil
	case <-ctx.Done():
		return nil, nil, fmt.Errorf("wait for the channel's checkpoints: %w", context.Cause(ctx))
	}
}

// keepTree keeps a tree in memory for the next checkpoint, and lets go of the oldest.
func (s *Service) keepTree(p *place, t *checkpoints.Tree, h checkpoints.Hash) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p.tree, p.hash, p.used = t, h, s.o.Now()
	p.took++
	var oldest *place
	n := 0
	for _, o := range s.places {
		if o.tree == nil {
			continue
		}
		if n++; o != p && (oldest == nil || o.used.Before(oldest.used)) {
			oldest = o
		}
	}
	if n > mostTrees && oldest != nil {
		oldest.tree = nil
	}
}

// folder opens where a run's agent works. On this computer itself that is the channel's folder.
func (s *Service) folder(ctx context.Context, ch core.Channel, run core.Run) (core.WorkFolder, error) {
	if run.ContainerID.OnHost() {
		root, err := os.OpenRoot(ch.Dir)
		return core.WorkFolder{Root: root, Path: ch.Dir}, err
	}
	return s.o.Folders.WorkFolder(ctx, ch.ID)
}

// taken is the files as they are.
type taken struct {
	core.WorkFolder
	tree *checkpoints.Tree
	hash checkpoints.Hash
}

var errReadOnly = core.Fail(core.CodeInvalid, nil, "The agents only read this folder, so there is nothing of theirs to go back from.", "")

// take keeps the files as they are. The caller has the channel's turn, and closes the root.
func (s *Service) take(ctx context.Context, p *place, ch core.Channel, run core.Run, also ...*checkpoints.Tree) (t taken, err error) {
	if t.WorkFolder, err = s.folder(ctx, ch, run); err != nil {
		return t, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, t.Root.Close())
		}
	}()
	if t.ReadOnly {
		return t, errReadOnly
	}
	base, baseHash := s.base(ctx, p, ch.ID)
	k := checkpoints.Taker{Store: s.store(ch.ID), Limits: s.o.Limits, Now: s.o.Now}
	t.tree, t.hash, err = k.Take(ctx, t.WorkFolder, base, baseHash, also...)
	if err == nil {
		s.keepTree(p, t.tree, t.hash)
	}
	return t, err
}

// base is the channel's newest tree; nil is none that can be read.
func (s *Service) base(ctx context.Context, p *place, ch core.ChannelID) (*checkpoints.Tree, checkpoints.Hash) {
	s.mu.Lock()
	tree, hash := p.tree, p.hash
	s.mu.Unlock()
	if tree != nil {
		return tree, hash
	}
	list, err := s.o.Rows.Checkpoints(ctx, ch)
	if err != nil {
		return nil, hash // the next checkpoint reads every file
	}
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].Tree == "" {
			continue
		}
		if tree, hash, err = s.tree(ch, list[i].Tree); err != nil {
			s.o.Log.Warn("read the checkpoint before", "channel", ch, "error", err)
			return nil, hash
		}
		return tree, hash
	}
	return nil, hash
}

func (s *Service) tree(ch core.ChannelID, name string) (*checkpoints.Tree, checkpoints.Hash, error) {
	h, err := checkpoints.ParseHash(name)
	if err != nil {
		return nil, h, err
	}
	t, err := s.store(ch).Tree(h)
	return t, h, err
}
