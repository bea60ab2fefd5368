package registry

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"loop/backend/backoff"
	"loop/backend/core"
	"loop/backend/sandbox"
)

const (
	// wakeTime bounds letting one container go on after a start.
	wakeTime = 10 * time.Second
	// wakeLooks is how often an engine may refuse to wake a container, a tick apart,
	// before it is paused again so that it can be woken.
	wakeLooks = 10
	// settleTime and settleTick bound the wait for an engine whose record of who
	// runs and who is paused is late. Milliseconds were seen, on busy computers
	// tenths of a second; whoever waits in vain loses the run, so this is ample.
	settleTime = 10 * time.Second
	settleTick = 25 * time.Millisecond
)

// pauses is what a starter needs of the engine.
type pauses interface {
	Pause(ctx context.Context, id core.ContainerID) error
	Unpause(ctx context.Context, id core.ContainerID) error
	Inspect(ctx context.Context, id core.ContainerID) (core.ContainerFacts, error)
}

// starter starts containers so that no agent can move what their mounts lean on.
//
// The engine follows links in a mount's source and target when it starts a
// container. Agents of the same project work in those places meanwhile: one that
// puts a link there at the right moment would choose what the other gets to see,
// or what lies over its supervisor. So their containers are held still from the
// last look at the places until the container runs, which takes the engine some
// tenths of a second; and starts that could disturb each other go one by one.
type starter struct {
	list     func() []core.Container
	engine   pauses
	lastLook func(core.Spec) error
	log      *slog.Logger

	turn chan struct{} // one place: who has it may pause containers and wakes them

	mu      sync.Mutex
	changed chan struct{} // closed and made anew when a start ends
	under   []core.Spec   // being started
	mounts  map[core.ContainerID][]core.Mount
}

func newStarter(list func() []core.Container, engine pauses, lastLook func(core.Spec) error, log *slog.Logger) *starter {
	return &starter{
		list: list, engine: engine, lastLook: lastLook, log: log, turn: make(chan struct{}, 1),
		changed: make(chan struct{}), mounts: map[core.ContainerID][]core.Mount{},
	}
}

// start has a container made and started while nothing can move. Errors are those
// of making it, and of a last look that found something wrong.
func (s *starter) start(ctx context.Context, spec core.Spec, makeIt func() (core.Container, error)) (core.Container, error) {
	if err := s.claim(ctx, spec); err != nil {
		return core.Container{}, err
	}
	defer s.unclaim(spec)
	others, err := s.others(ctx, spec)
	if err == nil && len(others) > 0 {
		if err = s.take(ctx); err == nil {
			defer s.give()
			var still []core.ContainerID
			still, err = s.holdAll(ctx, others)
			defer s.wakeAll(ctx, still)
		}
	}
	if err == nil {
		err = s.lastLook(spec)
	}
	if err != nil {
		return core.Container{}, err
	}
	c, err := makeIt()
	if err == nil {
		s.mu.Lock()
		s.mounts[c.ID] = spec.Mounts
		s.mu.Unlock()
	}
	return c, err
}

// claim waits until no start is under way that this one could disturb, or that
// could disturb it.
func (s *starter) claim(ctx context.Context, spec core.Spec) error {
	disturbs := func(o core.Spec) bool {
		return sandbox.Disturbs(runtime.GOOS, o.Mounts, spec.Mounts) || sandbox.Disturbs(runtime.GOOS, spec.Mounts, o.Mounts)
	}
	for {
		s.mu.Lock()
		changed := s.changed
		free := !slices.ContainsFunc(s.under, disturbs)
		if free {
			s.under = append(s.under, spec)
		}
		s.mu.Unlock()
		if free {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (s *starter) unclaim(spec core.Spec) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.under = slices.DeleteFunc(s.under, func(o core.Spec) bool { return o.Name == spec.Name }) // random, and so its own
	close(s.changed)
	s.changed = make(chan struct{})
}

// take waits until nobody else pauses or wakes containers.
func (s *starter) take(ctx context.Context) error {
	select {
	case s.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *starter) give() { <-s.turn }

// others are the containers that must be held still while spec is started. Mounts
// of one that an earlier process started are the engine's to say.
func (s *starter) others(ctx context.Context, spec core.Spec) (out []core.ContainerID, err error) {
	list := s.list()
	s.mu.Lock()
	maps.DeleteFunc(s.mounts, func(id core.ContainerID, _ []core.Mount) bool {
		return !slices.ContainsFunc(list, func(c core.Container) bool { return c.ID == id })
	})
	known := maps.Clone(s.mounts)
	s.mu.Unlock()
	for _, c := range list {
		if c.ID == "" || c.Status == core.ContainerStopped {
			continue
		}
		mounts, is := known[c.ID]
		if !is {
			f, err := s.engine.Inspect(ctx, c.ID)
			if errors.Is(err, core.ErrNotFound) {
				continue
			}
			if err != nil {
				return nil, notStill(err)
			}
			mounts = f.Mounts
		}
		if !is && elsewhere(mounts) || sandbox.Disturbs(runtime.GOOS, mounts, spec.Mounts) {
			out = append(out, c.ID)
		}
	}
	return out, nil
}

// elsewhere reports whether an engine may name places of a virtual machine that it
// runs in. They cannot be compared with a spec's, so such a container is held.
func elsewhere(mounts []core.Mount) bool {
	return runtime.GOOS != "linux" || len(mounts) == 0 ||
		slices.ContainsFunc(mounts, func(m core.Mount) bool { return strings.HasPrefix(m.Source, "/host_mnt/") })
}

func notStill(err error) error {
	return core.Fail(core.CodeMount, err,
		"Another agent works in the same folder and could not be held still while this container was made.",
		"Wait until it has ended, then try again; “loop doctor” checks the engine.")
}

// holdAll returns those that were held, also with an error. One that cannot be
// held still is a reason not to start: what was looked at would prove nothing.
func (s *starter) holdAll(ctx context.Context, ids []core.ContainerID) (still []core.ContainerID, err error) {
	for _, id := range ids {
		switch err := s.pause(ctx, id); {
		case err == nil:
			still = append(still, id)
		case errors.Is(err, core.ErrNotRunning) || errors.Is(err, core.ErrNotFound):
		case ctx.Err() != nil:
			return still, ctx.Err()
		default:
			return still, notStill(err)
		}
	}
	return still, nil
}

// wakeAll lets containers go on, whatever became of the start.
func (s *starter) wakeAll(ctx context.Context, ids []core.ContainerID) {
	for _, id := range ids {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), wakeTime)
		if err := s.wake(ctx, id); err != nil {
			s.log.Error("let a container go on", "container", id, "err", err)
		}
		cancel()
	}
}

// pause returns when the container is still, or ended, with core.ErrNotRunning or
// core.ErrNotFound. An engine that says that it is paused already is not believed:
// the word comes from a record that may be late, seen with 20.10 after an unpause.
// So it is let go and paused anew, which also ends a pause that a person made.
//
// Late is also the word that a container has ended: until then the engine has its
// runtime pause it, which fails in the runtime's own words (“cannot pause a
// stopped container”). What it says next, decides.
func (s *starter) pause(ctx context.Context, id core.ContainerID) error {
	for end := time.Now().Add(settleTime); ; {
		err := s.engine.Pause(ctx, id)
		switch {
		case err == nil || errors.Is(err, core.ErrNotRunning) || errors.Is(err, core.ErrNotFound):
			return err
		case !time.Now().Before(end):
			return err
		case errors.Is(err, core.ErrConflict):
			_ = s.engine.Unpause(ctx, id) // refused where the record is late
		case s.ended(ctx, id):
			return core.ErrNotRunning
		}
		if !backoff.Sleep(ctx, settleTick) {
			return errors.Join(err, ctx.Err())
		}
	}
}

// ended reports whether a container is known to be gone or not to run any more.
func (s *starter) ended(ctx context.Context, id core.ContainerID) bool {
	f, err := s.engine.Inspect(ctx, id)
	return errors.Is(err, core.ErrNotFound) || err == nil && !f.Running
}

// wake returns when a container that Loop paused goes on or has ended. An engine
// whose record is late may say that it goes on while it does not, and refuses to
// wake it then; only a waking that it carried out is believed.
func (s *starter) wake(ctx context.Context, id core.ContainerID) error {
	for refused := 1; ; refused++ {
		err := s.engine.Unpause(ctx, id)
		if err == nil || errors.Is(err, core.ErrNotFound) || errors.Is(err, core.ErrNotRunning) || s.ended(ctx, id) {
			return nil
		}
		if refused%wakeLooks == 0 {
			_ = s.engine.Pause(ctx, id) // where the record was wrong, it is right now
		}
		if !backoff.Sleep(ctx, settleTick) {
			return errors.Join(err, ctx.Err())
		}
	}
}

// Awake lets a container go on that an earlier process or a person paused, and waits
// for a start that holds it still. Another start may hold it still afterwards: an
// engine refuses a link with core.ErrConflict then.
func (r *Registry) Awake(ctx context.Context, id core.ContainerID) error {
	s := r.starter
	if err := s.take(ctx); err != nil {
		return err
	}
	defer s.give()
	// What the engine says against the look, it says in better words against the link.
	if f, err := s.engine.Inspect(ctx, id); err != nil || !f.Paused {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, wakeTime)
	defer cancel()
	return s.wake(ctx, id)
}
