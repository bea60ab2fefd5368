package registry

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"sync"
	"time"

	"loop/backend/core"
	"loop/backend/sandbox"
)

const (
	// wakeTime bounds letting one container go on after a start.
	wakeTime = 10 * time.Second
	// wakeLooks is how often an engine may refuse to wake a container that it says
	// goes on, a tick apart, before it is paused again so that it can be woken.
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

	mu      sync.Mutex
	changed chan struct{} // closed and made anew when a start or a hold ends
	under   []core.Spec   // being started
	// specs are those of containers that this process started. Of others it is
	// not known what they can write, so they are always held.
	specs map[core.ContainerID]core.Spec
	held  map[core.ContainerID]*hold
}

// hold counts the starts that want a container still.
type hold struct {
	turn   chan struct{} // one place: who has it may call the engine about the container
	wanted int
	ours   bool // paused by Loop, and so to be woken by it
}

func newHold() *hold { return &hold{turn: make(chan struct{}, 1)} }

func newStarter(list func() []core.Container, engine pauses, lastLook func(core.Spec) error, log *slog.Logger) *starter {
	return &starter{
		list: list, engine: engine, lastLook: lastLook, log: log,
		changed: make(chan struct{}), specs: map[core.ContainerID]core.Spec{}, held: map[core.ContainerID]*hold{},
	}
}

// start has a container made and started while nothing can move. Errors are those
// of making it, and of a last look that found something wrong.
func (s *starter) start(ctx context.Context, spec core.Spec, makeIt func() (core.Container, error)) (core.Container, error) {
	if err := s.claim(ctx, spec); err != nil {
		return core.Container{}, err
	}
	defer s.unclaim(spec)
	still, err := s.holdOthers(ctx, spec)
	defer func() {
		for _, id := range still {
			s.letGo(ctx, id)
		}
	}()
	if err != nil {
		return core.Container{}, err
	}
	if err := s.lastLook(spec); err != nil {
		return core.Container{}, err
	}
	c, err := makeIt()
	if err == nil {
		s.mu.Lock()
		s.specs[c.ID] = spec
		s.mu.Unlock()
	}
	return c, err
}

// signal wakes those who wait for a change. The caller holds the lock.
func (s *starter) signal() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// claim waits until no start is under way that this one could disturb, or that
// could disturb it.
func (s *starter) claim(ctx context.Context, spec core.Spec) error {
	for {
		s.mu.Lock()
		busy := false
		for _, o := range s.under {
			busy = busy || sandbox.Disturbs(runtime.GOOS, o, spec) || sandbox.Disturbs(runtime.GOOS, spec, o)
		}
		if !busy {
			s.under = append(s.under, spec)
			s.mu.Unlock()
			return nil
		}
		changed := s.changed
		s.mu.Unlock()
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
	for i, o := range s.under {
		if o.Name == spec.Name { // random, and so its own
			s.under = append(s.under[:i:i], s.under[i+1:]...)
			break
		}
	}
	s.signal()
}

// others are the containers that must be held still while spec is started.
func (s *starter) others(spec core.Spec) []core.ContainerID {
	list := s.list()
	s.mu.Lock()
	defer s.mu.Unlock()
	there := map[core.ContainerID]bool{}
	var out []core.ContainerID
	for _, c := range list {
		there[c.ID] = true
		if c.ID == "" || c.Status == core.ContainerStopped {
			continue
		}
		if of, known := s.specs[c.ID]; !known || sandbox.Disturbs(runtime.GOOS, of, spec) {
			out = append(out, c.ID)
		}
	}
	for id := range s.specs {
		if !there[id] {
			delete(s.specs, id)
		}
	}
	return out
}

// holdOthers returns those that were held, also with an error. One that cannot
// be held still is a reason not to start: what was looked at would prove nothing.
func (s *starter) holdOthers(ctx context.Context, spec core.Spec) (still []core.ContainerID, err error) {
	for _, id := range s.others(spec) {
		switch err := s.hold(ctx, id); {
		case err == nil:
			still = append(still, id)
		case errors.Is(err, core.ErrNotRunning) || errors.Is(err, core.ErrNotFound):
		case ctx.Err() != nil:
			return still, ctx.Err()
		default:
			return still, core.Fail(core.CodeMount, err,
				"Another agent works in the same folder and could not be held still while this container was made.",
				"Wait until it has ended, then try again; “loop doctor” checks the engine.")
		}
	}
	return still, nil
}

func (s *starter) hold(ctx context.Context, id core.ContainerID) error {
	s.mu.Lock()
	h := s.held[id]
	if h == nil {
		h = newHold()
		s.held[id] = h
	}
	h.wanted++
	s.mu.Unlock()
	select {
	case h.turn <- struct{}{}:
	case <-ctx.Done():
		s.letGo(ctx, id) // the one that paused it may have left the waking to this one
		return ctx.Err()
	}
	defer func() { <-h.turn }()
	if h.ours {
		return nil // another start holds it
	}
	if err := s.pause(ctx, id); err != nil {
		s.drop(id, h)
		return err
	}
	h.ours = true
	return nil
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
		default:
			if ended := s.ended(ctx, id); ended != nil {
				return ended
			}
		}
		if terr := tick(ctx); terr != nil {
			return errors.Join(err, terr)
		}
	}
}

// ended is core.ErrNotRunning or core.ErrNotFound for a container that is known
// to be that, and nil for every other.
func (s *starter) ended(ctx context.Context, id core.ContainerID) error {
	f, err := s.engine.Inspect(ctx, id)
	switch {
	case errors.Is(err, core.ErrNotFound):
		return err
	case err == nil && !f.Running:
		return core.ErrNotRunning
	}
	return nil
}

func tick(ctx context.Context) error {
	select {
	case <-time.After(settleTick):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// drop counts one start less and says whether it was the last.
func (s *starter) drop(id core.ContainerID, h *hold) (last bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h.wanted--
	if last = h.wanted == 0; last {
		delete(s.held, id)
		s.signal()
	}
	return last
}

// letGo ends one start's hold. The last one wakes the container, whatever became
// of the start.
func (s *starter) letGo(ctx context.Context, id core.ContainerID) {
	s.mu.Lock()
	h := s.held[id]
	s.mu.Unlock()
	h.turn <- struct{}{} // who has it is in a call that is bounded
	defer func() { <-h.turn }()
	s.mu.Lock()
	last := h.wanted == 1
	s.mu.Unlock()
	if last && h.ours {
		h.ours = false
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), wakeTime)
		defer cancel()
		err := s.wake(ctx, id)
		if err != nil {
			s.log.Error("let a container go on", "container", id, "err", err)
		}
	}
	s.drop(id, h)
}

// wake returns when a container that Loop paused goes on or has ended. An engine
// whose record is late may say that it goes on while it does not, and refuses to
// wake it then; only a waking that it carried out is believed.
func (s *starter) wake(ctx context.Context, id core.ContainerID) error {
	for refused := 0; ; {
		err := s.engine.Unpause(ctx, id)
		if err == nil || errors.Is(err, core.ErrNotFound) || errors.Is(err, core.ErrNotRunning) {
			return nil
		}
		f, ferr := s.engine.Inspect(ctx, id)
		switch {
		case errors.Is(ferr, core.ErrNotFound) || ferr == nil && !f.Running:
			return nil
		case errors.Is(err, core.ErrConflict) && ferr == nil && !f.Paused:
			refused++
		}
		if refused == wakeLooks {
			refused = 0
			_ = s.engine.Pause(ctx, id) // where the record was wrong, it is right now
		}
		if terr := tick(ctx); terr != nil {
			return errors.Join(err, terr)
		}
	}
}

// awake is Registry.Awake.
func (s *starter) awake(ctx context.Context, id core.ContainerID) (done func(), err error) {
	h := newHold()
	h.wanted = 1
	h.turn <- struct{}{}
	for {
		s.mu.Lock()
		changed, busy := s.changed, s.held[id] != nil
		if !busy {
			s.held[id] = h
		}
		s.mu.Unlock()
		if !busy {
			break
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	done = func() {
		<-h.turn
		s.drop(id, h)
	}
	for end := time.Now().Add(settleTime); ; {
		// What the engine says against the look, it says in better words against the link.
		if f, err := s.engine.Inspect(ctx, id); err != nil || !f.Paused {
			return done, nil //nolint:nilerr // see above
		}
		err := s.engine.Unpause(ctx, id)
		if err != nil && time.Now().Before(end) {
			err = nil // the record may be late
		}
		if err == nil {
			err = tick(ctx)
		}
		if err != nil {
			done()
			return nil, err
		}
	}
}
