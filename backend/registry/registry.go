package registry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"loop/backend/core"
)

// Store keeps the rows and their leases; its methods may be called from any
// goroutine, and each is one transaction.
type Store interface {
	// ReserveContainer writes a row, and a lease unless the holder is the zero one.
	ReserveContainer(ctx context.Context, c core.Container, h core.Holder) error
	// UpdateContainer writes what of a container changes while it lives.
	UpdateContainer(ctx context.Context, c core.Container) error
	HoldContainer(ctx context.Context, l core.Lease, c core.Container) error     // with UpdateContainer
	ReleaseContainer(ctx context.Context, h core.Holder, c core.Container) error // with UpdateContainer
	DropContainer(ctx context.Context, key core.ContainerKey) error              // with its leases
	Containers(ctx context.Context) ([]core.Container, []core.Lease, error)
}

// Engine makes and ends containers; its methods may be called from any goroutine.
type Engine interface {
	Create(ctx context.Context, s core.Spec) (core.ContainerID, []string, error)
	Start(ctx context.Context, id core.ContainerID) error
	Stop(ctx context.Context, id core.ContainerID, grace time.Duration) error
	Remove(ctx context.Context, id core.ContainerID, force bool) error
	List(ctx context.Context, labels map[string]string) ([]core.ContainerFacts, error)
	// Events closes its channel once ctx has ended.
	Events(ctx context.Context, labels map[string]string) <-chan core.ContainerEvent
	pauses
	changes
	setups
}

// changes are what a container takes while it runs.
type changes interface {
	Update(ctx context.Context, id core.ContainerID, limits core.Limits) error
	// Rename is core.ErrConflict where another container has the name.
	Rename(ctx context.Context, id core.ContainerID, name string) error
}

// Options of a Registry; all are required.
type Options struct {
	Install string // value of the loop-install label; other values are never touched
	Store   Store
	Engine  Engine
	// LastLook validates a spec and looks whether anything that its mounts lean on
	// was moved. It is the last step before a container is made.
	LastLook func(core.Spec) error
	// Setup has the folder of a set-up say whether it is still to be done.
	Setup func(s core.ContainerSetup, due bool) error
	// Keep is how long a container stays after it ended, asked with each; negative
	// is not at all.
	Keep func() time.Duration
	// Warm is how many containers of scopes may go on while nobody holds them; 0 is as many
	// as take half of Memory, the engine's in bytes, of which 0 is not known.
	Warm   func() int
	Memory func(ctx context.Context) int64
	// Busy reports whether anything that Loop started runs in a container.
	Busy    func(ctx context.Context, c core.Container) (bool, error)
	Publish func(...core.Event) // gets container.* events in order; must not call back
	Log     *slog.Logger
}

const (
	// stopGrace is between the stop signal and the kill.
	stopGrace = 5 * time.Second
	// reconcileEvery is the pace of the backstop behind the event stream.
	reconcileEvery = 30 * time.Second
	// retryRemoval is the pause after a removal that the engine refused.
	retryRemoval = 10 * time.Second
	// callTimeout bounds one engine call made by Run or by clean-up.
	callTimeout = 30 * time.Second
	// startTimeout bounds making and starting one container: it takes a second, and
	// many times that on a disk that an image build keeps busy.
	startTimeout = 3 * time.Minute
)

// Registry follows the containers of one install and owns their lives. Methods may
// be called from any goroutine. Restore comes first, then Run, in a goroutine that the
// owner waits for.
type Registry struct {
	o       Options
	log     *slog.Logger
	starter *starter
	turns   turns

	mu      sync.Mutex
	rows    map[core.ContainerKey]*row
	owed    map[core.Lease]core.Ending // releases that the store refused
	wakeup  chan struct{}              // a removal time changed
	drained chan struct{}              // one that nobody holds may have to be stopped
	lastWhy map[string]string          // by scope: why its container was drained; nobody was told yet
	judged  time.Time                  // when Run last looked whose time is over
}

// row is what the store holds of a container, and what this process is doing to it.
type row struct {
	core.Container
	holders []core.Holder
	earlier map[core.Holder]bool // those of an earlier process that have not come back
	busy    bool                 // being made: reconcile leaves it alone
	going   int                  // stops and removals under way, which are not taken back any more
	unheld  bool                 // it is to be stopped because nobody holds it
	abandon func(why error)      // ends its set-up; nil while none is under way
}

// New returns a registry without rows.
func New(o Options) *Registry {
	r := &Registry{o: o, log: o.Log, rows: map[core.ContainerKey]*row{}, owed: map[core.Lease]core.Ending{}, lastWhy: map[string]string{},
		wakeup: make(chan struct{}, 1), drained: make(chan struct{}, 1), turns: newTurns()}
	r.starter = newStarter(r.List, o.Engine, o.LastLook, o.Log)
	return r
}

// make makes a container from spec and starts it. A row exists from before the
// first engine call. On any error what was made is removed again; if the engine
// cannot be asked, the row stays and the reconciler settles it. Errors are those
// of the store and the engine.
func (r *Registry) make(ctx context.Context, spec core.Spec, rights string, h core.Holder) (core.Container, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	c, done, err := r.create(ctx, spec, spec.Scope, rights, h)
	if err != nil {
		return core.Container{}, err
	}
	defer done()
	got, err := r.bringUp(ctx, spec, c)
	if err != nil {
		r.discard(ctx, c.Key, c.ID)
	}
	return got, err
}

// create has the engine make a container. Its row, which has the scope given, is left alone
// by everything else until done is called. On an error nothing is left to the caller.
func (r *Registry) create(ctx context.Context, spec core.Spec, scope, rights string, h core.Holder) (
	c core.Container, done func(), err error,
) {
	now := time.Now()
	c = core.Container{
		Key: core.ContainerKey(core.NewID()), Name: spec.Name, ChannelID: spec.ChannelID, RunID: spec.RunID, Type: spec.Type,
		Status: core.ContainerReserved, Image: spec.Image, Hash: spec.Hash, CreatedAt: now,
		Scope: scope, Fixed: spec.Fixed, Rights: rights, LastUsedAt: now, Life: spec.Life, Memory: spec.Limits.MemoryBytes,
		Why: r.madeAnew(spec.Scope),
	}
	if err := r.reserve(ctx, c, h); err != nil {
		return c, nil, err
	}
	done = func() { r.over(c.Key, func(w *row) { w.busy = false }) }
	id, warnings, err := r.o.Engine.Create(ctx, spec)
	for _, w := range warnings {
		r.log.Warn("engine warning", "container_name", c.Name, "warning", w)
	}
	if err != nil {
		r.undoCreate(ctx, c)
	} else if err = r.identify(ctx, c.Key, id); err != nil {
		r.discard(ctx, c.Key, id)
	}
	if err != nil {
		done()
		return c, nil, err
	}
	c.ID = id
	return c, done, nil
}

// bringUp starts a container that create made. From here on it is its scope's.
func (r *Registry) bringUp(ctx context.Context, spec core.Spec, made core.Container) (got core.Container, err error) {
	if err = r.o.Engine.Start(ctx, made.ID); err != nil {
		return got, err
	}
	err = r.with(made.Key, func(w *row) error {
		c := w.Container
		c.Scope, c.Status, c.RemoveAt = spec.Scope, core.ContainerRunning, time.Time{}
		if err := r.o.Store.UpdateContainer(ctx, c); err != nil {
			return err
		}
		r.moved(w, c)
		got = c
		return nil
	})
	if err == nil {
		r.told(spec.Scope)
	}
	return got, err
}

func (r *Registry) reserve(ctx context.Context, c core.Container, h core.Holder) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.named(c.Name) != nil {
		return fmt.Errorf("reserve container %s: %w", c.Name, core.ErrConflict)
	}
	if err := r.o.Store.ReserveContainer(ctx, c, h); err != nil {
		return err
	}
	r.rows[c.Key] = &row{Container: c, holders: []core.Holder{h}, busy: true}
	return nil
}

// identify records the engine's id. From here on the container is shown.
func (r *Registry) identify(ctx context.Context, key core.ContainerKey, id core.ContainerID) error {
	return r.with(key, func(w *row) error {
		c := w.Container
		c.ID = id
		if err := r.o.Store.UpdateContainer(ctx, c); err != nil {
			return err
		}
		w.ID = id
		r.publish(core.EventContainerAdded, w.Container)
		return nil
	})
}

// undoCreate settles a row after Create failed. Whether the engine made the
// container all the same (its answer may have been lost) is asked by list.
func (r *Registry) undoCreate(ctx context.Context, c core.Container) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
	defer cancel()
	list, err := r.o.Engine.List(ctx, r.labels())
	if err != nil {
		r.log.Warn("container row stays reserved until the engine answers", "container_name", c.Name, "err", err)
		return
	}
	for _, f := range list {
		if f.Name == c.Name {
			if err := r.identify(ctx, c.Key, f.ID); err != nil {
				r.log.Error("record container", "container_name", c.Name, "err", err)
			}
			r.discard(ctx, c.Key, f.ID)
			return
		}
	}
	r.drop(ctx, c.Key)
}

// discard removes a container that did not come up. If that fails, its row is due
// for removal at once and Run goes on trying.
func (r *Registry) discard(ctx context.Context, key core.ContainerKey, id core.ContainerID) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
	defer cancel()
	if r.removed(ctx, id) == nil {
		r.drop(ctx, key)
		return
	}
	if err := r.move(ctx, key, core.ContainerPendingRemoval, time.Now()); err != nil {
		r.log.Error("mark container for removal", "container_id", id, "err", err)
	}
}

// removed removes a container and returns nil once the engine says it is gone.
func (r *Registry) removed(ctx context.Context, id core.ContainerID) error {
	err := r.o.Engine.Remove(ctx, id, true)
	if err == nil {
		if _, err = r.o.Engine.Inspect(ctx, id); err == nil {
			err = errors.New("the engine still has it")
		}
	}
	if errors.Is(err, core.ErrNotFound) {
		return nil
	}
	r.log.Warn("remove container", "container_id", id, "err", err)
	return fmt.Errorf("remove container: %w", err)
}

// Facts asks the engine about a container. An absent one is core.ErrNotFound and
// its row is dropped.
func (r *Registry) Facts(ctx context.Context, id core.ContainerID) (core.ContainerFacts, error) {
	f, err := r.o.Engine.Inspect(ctx, id)
	if errors.Is(err, core.ErrNotFound) {
		if c, ok := r.byID(id); ok {
			r.drop(context.WithoutCancel(ctx), c.Key)
		}
	}
	return f, err
}

// List returns the containers that the engine has made, oldest first.
func (r *Registry) List() []core.Container {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]core.Container, 0, len(r.rows))
	for _, w := range r.rows {
		if w.ID != "" {
			out = append(out, w.Container)
		}
	}
	slices.SortFunc(out, func(a, b core.Container) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.Name, b.Name))
	})
	return out
}
