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

// Store keeps the rows; its methods may be called from any goroutine. The name
// is the key of a row.
type Store interface {
	ReserveContainer(ctx context.Context, c core.Container) error
	SetContainerID(ctx context.Context, name string, id core.ContainerID) error
	SetContainerStatus(ctx context.Context, name string, st core.ContainerStatus, removeAt time.Time) error
	DropContainer(ctx context.Context, name string) error
	Containers(ctx context.Context) ([]core.Container, error)
}

// Engine makes and ends containers; its methods may be called from any goroutine.
type Engine interface {
	Create(ctx context.Context, s core.Spec) (core.ContainerID, []string, error)
	Start(ctx context.Context, id core.ContainerID) error
	Stop(ctx context.Context, id core.ContainerID, grace time.Duration) error
	Remove(ctx context.Context, id core.ContainerID, force bool) error
	Inspect(ctx context.Context, id core.ContainerID) (core.ContainerFacts, error)
}

// Watcher tells what happens in the engine.
type Watcher interface {
	List(ctx context.Context, labels map[string]string) ([]core.ContainerFacts, error)
	// Events closes its channel once ctx has ended.
	Events(ctx context.Context, labels map[string]string) <-chan core.ContainerEvent
}

// Options of a Registry. Install, Store, Engine and Watcher are required.
type Options struct {
	Install string // value of the loop-install label; other values are never touched
	Store   Store
	Engine  Engine
	Watcher Watcher
	// Keep is how long a container stays after it ended; 0 means DefaultKeep.
	Keep    time.Duration
	Publish func(core.Event) // gets container.* events in order; must not call back
	Log     *slog.Logger
	Now     func() time.Time // nil means time.Now
}

const (
	// DefaultKeep leaves an ended container to look at, as the original does.
	DefaultKeep = 300 * time.Second
	// reconcileEvery is the pace of the backstop behind the event stream.
	reconcileEvery = 30 * time.Second
	// retryRemoval is the pause after a removal that the engine refused.
	retryRemoval = 10 * time.Second
	// callTimeout bounds one engine call made by Run or by clean-up.
	callTimeout = 30 * time.Second
	// startTimeout bounds making and starting one container, each: it takes a
	// second, and many times that on a disk that an image build keeps busy.
	startTimeout = 2 * time.Minute
)

// Registry follows the containers of one install. Methods may be called from any
// goroutine. Restore comes first, then Run in a goroutine of the owner's.
type Registry struct {
	o   Options
	log *slog.Logger

	mu       sync.Mutex
	rows     map[string]core.Container // by name; what the store holds
	busy     map[string]int            // names that a Start is working on: reconcile leaves them alone
	removing map[string]bool           // names whose removal has begun: it is not taken back any more
	wakeup   chan struct{}             // a removal time changed
}

// New returns a registry without rows.
func New(o Options) *Registry {
	if o.Keep == 0 {
		o.Keep = DefaultKeep
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Publish == nil {
		o.Publish = func(core.Event) {}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Registry{o: o, log: o.Log, rows: map[string]core.Container{}, busy: map[string]int{}, removing: map[string]bool{}, wakeup: make(chan struct{}, 1)}
}

// steps are the legal moves of a status. A row leaves by being dropped, which is
// legal from anywhere once the engine says that the container is absent.
var steps = map[core.ContainerStatus][]core.ContainerStatus{
	core.ContainerReserved:       {core.ContainerRunning, core.ContainerStopped, core.ContainerPendingRemoval},
	core.ContainerRunning:        {core.ContainerStopped, core.ContainerPendingRemoval},
	core.ContainerStopped:        {core.ContainerRunning, core.ContainerPendingRemoval},
	core.ContainerPendingRemoval: {core.ContainerRunning, core.ContainerStopped},
}

func legal(from, to core.ContainerStatus) bool {
	return from == to || slices.Contains(steps[from], to)
}

// Start makes a container from spec and starts it. A row exists from before the
// first engine call. On any error what was made is removed again; if the engine
// cannot be asked, the row stays and the reconciler settles it. Errors are those
// of the store and the engine.
func (r *Registry) Start(ctx context.Context, spec core.Spec) (core.Container, error) {
	if spec.Labels[core.LabelInstall] != r.o.Install || r.o.Install == "" {
		return core.Container{}, fmt.Errorf("start container %s: its install label is not this install's", spec.Name)
	}
	c := core.Container{
		Name: spec.Name, ChannelID: spec.ChannelID, RunID: spec.RunID, Type: spec.Type,
		Status: core.ContainerReserved, Image: spec.Image, Hash: spec.Hash, CreatedAt: r.o.Now(),
	}
	if err := r.reserve(ctx, c); err != nil {
		return core.Container{}, err
	}
	defer r.release(c.Name)

	id, warnings, err := r.create(ctx, spec)
	for _, w := range warnings {
		r.log.Warn("engine warning", "container_name", c.Name, "warning", w)
	}
	if err != nil {
		r.undoCreate(ctx, c.Name)
		return core.Container{}, err
	}
	if err := r.identify(ctx, c.Name, id); err != nil {
		r.discard(ctx, c.Name, id)
		return core.Container{}, fmt.Errorf("record container: %w", err)
	}
	if err := r.start(ctx, id); err != nil {
		r.discard(ctx, c.Name, id)
		return core.Container{}, err
	}
	if err := r.move(ctx, c.Name, core.ContainerRunning, time.Time{}); err != nil {
		r.discard(ctx, c.Name, id)
		return core.Container{}, fmt.Errorf("record container: %w", err)
	}
	got, _ := r.row(c.Name)
	return got, nil
}

func (r *Registry) create(ctx context.Context, spec core.Spec) (core.ContainerID, []string, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	return r.o.Engine.Create(ctx, spec)
}

func (r *Registry) start(ctx context.Context, id core.ContainerID) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	return r.o.Engine.Start(ctx, id)
}

func (r *Registry) reserve(ctx context.Context, c core.Container) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.rows[c.Name]; ok {
		return fmt.Errorf("reserve container %s: %w", c.Name, core.ErrConflict)
	}
	if err := r.o.Store.ReserveContainer(ctx, c); err != nil {
		return err
	}
	r.rows[c.Name] = c
	r.busy[c.Name]++
	r.publish(core.EventContainerAdded, c)
	return nil
}

func (r *Registry) release(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.busy[name]--; r.busy[name] <= 0 {
		delete(r.busy, name)
		r.wake() // its removal may be due
	}
}

// identify records the engine's id.
func (r *Registry) identify(ctx context.Context, name string, id core.ContainerID) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, ok := r.rows[name]
	if !ok {
		return fmt.Errorf("container %s: %w", name, core.ErrNotFound)
	}
	if err := r.o.Store.SetContainerID(ctx, name, id); err != nil {
		return err
	}
	c.ID = id
	r.rows[name] = c
	return nil
}

// move takes a legal step, in the store first. The same status and time again is
// nothing; a row that is gone is core.ErrNotFound.
func (r *Registry) move(ctx context.Context, name string, to core.ContainerStatus, removeAt time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.moveLocked(ctx, name, to, removeAt)
}

// moveFrom moves a row that is as it was; one that somebody has moved meanwhile,
// or scheduled, stays so.
func (r *Registry) moveFrom(ctx context.Context, was core.Container, to core.ContainerStatus, removeAt time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.rows[was.Name] != was {
		return nil
	}
	return r.moveLocked(ctx, was.Name, to, removeAt)
}

func (r *Registry) unchanged(was core.Container) bool {
	cur, ok := r.row(was.Name)
	return ok && cur == was
}

func (r *Registry) moveLocked(ctx context.Context, name string, to core.ContainerStatus, removeAt time.Time) error {
	c, ok := r.rows[name]
	if !ok {
		return fmt.Errorf("container %s: %w", name, core.ErrNotFound)
	}
	if c.Status == to && c.RemoveAt.Equal(removeAt) {
		return nil
	}
	if !legal(c.Status, to) {
		return fmt.Errorf("container %s: no step from %s to %s: %w", name, c.Status, to, core.ErrConflict)
	}
	if err := r.o.Store.SetContainerStatus(ctx, name, to, removeAt); err != nil {
		return err
	}
	c.Status, c.RemoveAt = to, removeAt
	r.rows[name] = c
	r.publish(core.EventContainerChanged, c)
	r.wake()
	return nil
}

// drop forgets a row. The caller knows from the engine that the container is gone.
func (r *Registry) drop(ctx context.Context, name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, ok := r.rows[name]
	if !ok {
		return
	}
	if err := r.o.Store.DropContainer(ctx, name); err != nil {
		r.log.Error("drop container row; the next reconcile tries again", "container_name", name, "err", err)
		return
	}
	delete(r.rows, name)
	r.publish(core.EventContainerRemoved, c)
}

// undoCreate settles a row after Create failed. Whether the engine made the
// container all the same (its answer may have been lost) is asked by list.
func (r *Registry) undoCreate(ctx context.Context, name string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
	defer cancel()
	list, err := r.o.Watcher.List(ctx, r.labels())
	if err != nil {
		r.log.Warn("container row stays reserved until the engine answers", "container_name", name, "err", err)
		return
	}
	for _, f := range list {
		if f.Name == name {
			if err := r.identify(ctx, name, f.ID); err != nil {
				r.log.Error("record container", "container_name", name, "err", err)
			}
			r.discard(ctx, name, f.ID)
			return
		}
	}
	r.drop(ctx, name)
}

// discard removes a container that did not come up. If that fails, its row is due
// for removal at once and Run goes on trying.
func (r *Registry) discard(ctx context.Context, name string, id core.ContainerID) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
	defer cancel()
	if r.removed(ctx, id) {
		r.drop(ctx, name)
		return
	}
	if err := r.move(ctx, name, core.ContainerPendingRemoval, r.o.Now()); err != nil {
		r.log.Error("mark container for removal", "container_name", name, "err", err)
	}
}

// removed removes a container and reports whether the engine says it is gone.
func (r *Registry) removed(ctx context.Context, id core.ContainerID) bool {
	err := r.o.Engine.Remove(ctx, id, true)
	if errors.Is(err, core.ErrNotFound) {
		return true
	}
	if err != nil {
		r.log.Warn("remove container", "container_id", id, "err", err)
		return false
	}
	_, err = r.o.Engine.Inspect(ctx, id)
	return errors.Is(err, core.ErrNotFound)
}

// Stop ends a container: the stop signal, and the kill after grace. Its row is
// then stopped, or pending removal if that was scheduled. An absent container is
// core.ErrNotFound and its row is dropped.
func (r *Registry) Stop(ctx context.Context, id core.ContainerID, grace time.Duration) error {
	c, ok := r.byID(id)
	if !ok {
		return fmt.Errorf("container %s: %w", id, core.ErrNotFound)
	}
	err := r.o.Engine.Stop(ctx, id, grace)
	if errors.Is(err, core.ErrNotFound) {
		r.drop(context.WithoutCancel(ctx), c.Name)
		return err
	}
	if err != nil {
		return err
	}
	return r.ended(ctx, c.Name)
}

// ended records that a container does not run any more and when it goes.
func (r *Registry) ended(ctx context.Context, name string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, ok := r.rows[name]
	if !ok {
		return nil
	}
	if c.Status == core.ContainerPendingRemoval || c.Status == core.ContainerStopped {
		return nil // told before, by the event or by Stop
	}
	if !c.RemoveAt.IsZero() { // removal was scheduled while it ran
		return r.moveLocked(ctx, name, core.ContainerPendingRemoval, c.RemoveAt)
	}
	// Nobody has said when it goes; the owner may still do so.
	return r.moveLocked(ctx, name, core.ContainerStopped, r.o.Now().Add(r.o.Keep))
}

// ScheduleRemoval has a container removed after a while, also if Loop ends
// meanwhile; a later call replaces the time. One that still runs then is killed.
func (r *Registry) ScheduleRemoval(ctx context.Context, id core.ContainerID, after time.Duration) error {
	found, ok := r.byID(id)
	if !ok {
		return fmt.Errorf("container %s: %w", id, core.ErrNotFound)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	to := core.ContainerPendingRemoval
	if r.rows[found.Name].Status == core.ContainerRunning {
		to = core.ContainerRunning // it shows as running until it ends
	}
	return r.moveLocked(ctx, found.Name, to, r.o.Now().Add(after))
}

// KeepRunning takes a scheduled removal back, for a running container that is used
// again; core.ErrNotRunning when it has ended or is just being removed.
func (r *Registry) KeepRunning(ctx context.Context, id core.ContainerID) error {
	f, err := r.Facts(ctx, id)
	if err != nil {
		return err
	}
	c, ok := r.byID(id)
	if !ok {
		return fmt.Errorf("container %s: %w", id, core.ErrNotFound)
	}
	if !f.Running {
		return fmt.Errorf("container %s: %w", id, core.ErrNotRunning)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.removing[c.Name] {
		return fmt.Errorf("container %s is being removed: %w", id, core.ErrNotRunning)
	}
	return r.moveLocked(ctx, c.Name, core.ContainerRunning, time.Time{})
}

// Facts asks the engine about a container. An absent one is core.ErrNotFound and
// its row is dropped.
func (r *Registry) Facts(ctx context.Context, id core.ContainerID) (core.ContainerFacts, error) {
	f, err := r.o.Engine.Inspect(ctx, id)
	if errors.Is(err, core.ErrNotFound) {
		if c, ok := r.byID(id); ok {
			r.drop(context.WithoutCancel(ctx), c.Name)
		}
	}
	return f, err
}

// List returns the rows, oldest first.
func (r *Registry) List() []core.Container {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]core.Container, 0, len(r.rows))
	for _, c := range r.rows {
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b core.Container) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.Name, b.Name))
	})
	return out
}

func (r *Registry) row(name string) (core.Container, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, ok := r.rows[name]
	return c, ok
}

func (r *Registry) byID(id core.ContainerID) (core.Container, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.rows {
		if c.ID == id && id != "" {
			return c, true
		}
	}
	return core.Container{}, false
}

func (r *Registry) labels() map[string]string {
	return map[string]string{core.LabelInstall: r.o.Install}
}

// publish sends a container event; the lock is held, so that events are in the
// order of the steps.
func (r *Registry) publish(t core.EventType, c core.Container) {
	r.o.Publish(core.NewEvent(t, c.ChannelID, c.RunID, r.o.Now(), c))
}

func (r *Registry) wake() {
	select {
	case r.wakeup <- struct{}{}:
	default:
	}
}
