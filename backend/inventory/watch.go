package inventory

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"loop/backend/core"
)

const (
	// lapse is how long a look counts: a page asks every few seconds while it shows the panel.
	lapse = 20 * time.Second
	// sampleEvery is from one sample of what containers use to the next; the first of a
	// container comes after firstSample, which is long enough to be an average.
	sampleEvery = 5 * time.Second
	firstSample = time.Second
	// kept is how long samples are kept, and apart is the longest time over which one is an
	// average: after a longer pause the first look only begins anew.
	kept  = 10 * time.Minute
	apart = 30 * time.Second
	// usageWait bounds one question for a sample, and askedAtOnce how many are under way.
	usageWait   = 4 * time.Second
	askedAtOnce = 4
	// lookEvery is how old the engine's state and the comparison with the settings get, and
	// sizeEvery the size on the disk, for which an engine looks at every file.
	lookEvery = 15 * time.Second
	sizeEvery = 2 * time.Minute
	// tick is how soon a new container is looked at.
	tick = time.Second
)

// sight is what is known of a container that somebody looks at.
type sight struct {
	last     core.ContainerUsage // of the last look; zero is none
	samples  []core.ContainerSample
	state    *core.ContainerState
	drift    *core.ContainerDrift
	status   core.ContainerStatus // at the time of state
	lookedAt time.Time
	size     int64
	sizedAt  time.Time
}

// Watch returns the containers with all that is known of them, at once, and has them looked
// at for the next twenty seconds.
func (s *Service) Watch() core.ContainerWatch {
	views, most, exit, now := s.o.Containers.Views(), s.o.WarmMost(), s.o.OnAppExit(), time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	out := core.ContainerWatch{
		Containers: make([]core.WatchedContainer, 0, len(views)), CPUs: s.machine.CPUs, MemoryBytes: s.machine.MemoryBytes, WarmMost: most,
		OnAppExit: exit,
	}
	s.until = now.Add(lapse)
	select {
	case s.asked <- struct{}{}:
	default:
	}
	for _, v := range views {
		w := core.WatchedContainer{ContainerView: v, SizeBytes: -1, Samples: []core.ContainerSample{}}
		if g := s.seen[v.ID]; g != nil {
			w.Engine, w.Drift = g.state, g.drift
			if !g.sizedAt.IsZero() {
				w.SizeBytes = g.size
			}
			w.Samples = append(w.Samples, recent(g.samples, now)...)
		}
		out.Containers = append(out.Containers, w)
	}
	for _, what := range []string{"look", "sample", "size"} {
		out.Failure = cmp.Or(out.Failure, s.failures[what])
	}
	return out
}

// recent leaves out samples that are too old.
func recent(list []core.ContainerSample, now time.Time) []core.ContainerSample {
	oldest := now.Add(-kept).UnixMilli()
	at := slices.IndexFunc(list, func(x core.ContainerSample) bool { return x.AtMs >= oldest })
	if at < 0 {
		return nil
	}
	return list[at:]
}

// Run looks at containers while somebody watches them, until ctx ends. It returns once
// nothing of it is under way.
func (s *Service) Run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.asked:
		}
		s.watch(ctx)
	}
}

// watch looks at all containers until nobody watches any more. Three looks go side by side,
// so that one that takes long holds up no other.
func (s *Service) watch(ctx context.Context) {
	ctx, end := context.WithCancel(ctx)
	var all sync.WaitGroup
	for what, look := range map[string]func(context.Context) error{"look": s.look, "sample": s.sample, "size": s.measure} {
		all.Go(func() {
			each(ctx, func() bool {
				if err := look(ctx); ctx.Err() == nil {
					s.note(what, err)
				}
				return true
			})
		})
	}
	each(ctx, s.watched)
	end()
	all.Wait()
}

// each does something every tick, until it returns false or ctx ends.
func each(ctx context.Context, do func() bool) {
	ticks := time.NewTicker(tick)
	defer ticks.Stop()
	for do() {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
	}
}

func (s *Service) watched() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Now().Before(s.until)
}

// note keeps why a look failed, for whoever watches. A container that has gone or stopped
// meanwhile is no failure.
func (s *Service) note(what string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failures[what] = nil
	if err != nil {
		s.failures[what] = core.AsFailure(err)
	}
}

// due are the containers for which may is true now, with what is known of each. It forgets
// those that are gone.
func (s *Service) due(may func(v core.ContainerView, g *sight, now time.Time) bool) (out []core.ContainerView) {
	views, now := s.o.Containers.Views(), time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	there := map[core.ContainerID]bool{}
	for _, v := range views {
		there[v.ID] = true
		if s.seen[v.ID] == nil {
			s.seen[v.ID] = &sight{}
		}
		if may(v, s.seen[v.ID], now) {
			out = append(out, v)
		}
	}
	for id := range s.seen {
		if !there[id] {
			delete(s.seen, id)
		}
	}
	return out
}

// keep notes something of a container, unless it has been forgotten.
func (s *Service) keep(id core.ContainerID, note func(g *sight)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if g := s.seen[id]; g != nil {
		note(g)
	}
}

// passing reports whether an error only says that a container has gone or stopped.
func passing(err error) bool {
	return errors.Is(err, core.ErrNotFound) || errors.Is(err, core.ErrNotRunning)
}

// look asks the engine how its machine and containers are, and compares those with the settings.
func (s *Service) look(ctx context.Context) (failed error) {
	if m := s.o.Machine(ctx); m.OK {
		s.mu.Lock()
		s.machine = m.Traits
		s.mu.Unlock()
	}
	list := s.due(func(v core.ContainerView, g *sight, now time.Time) bool {
		return g.state == nil || g.status != v.Status || now.Sub(g.lookedAt) >= lookEvery
	})
	for _, v := range list {
		f, err := s.o.Containers.Facts(ctx, v.ID)
		if passing(err) {
			continue
		}
		if err != nil {
			failed = err
			continue
		}
		state, drift := stateOf(f), s.drift(ctx, v.Container, f)
		s.keep(v.ID, func(g *sight) { g.state, g.drift, g.status, g.lookedAt = &state, &drift, v.Status, time.Now() })
	}
	return failed
}

// sample asks what the containers use that run.
func (s *Service) sample(ctx context.Context) error {
	list := s.due(func(v core.ContainerView, g *sight, now time.Time) bool {
		wait := sampleEvery
		if len(g.samples) == 0 {
			wait = firstSample
		}
		return v.Status == core.ContainerRunning && now.Sub(g.last.At) >= wait
	})
	var (
		all    sync.WaitGroup
		errs   = make([]error, len(list))
		places = make(chan struct{}, askedAtOnce)
	)
	for i, v := range list {
		places <- struct{}{}
		all.Go(func() {
			defer func() { <-places }()
			errs[i] = s.sampleOne(ctx, v.ID)
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

func (s *Service) sampleOne(ctx context.Context, id core.ContainerID) error {
	ctx, cancel := context.WithTimeout(ctx, usageWait)
	defer cancel()
	u, err := s.o.Engine.Usage(ctx, id)
	if passing(err) {
		return nil
	}
	if err != nil {
		return err
	}
	u.At = time.Now() // the engine's clock may be another machine's
	s.keep(id, func(g *sight) {
		before := g.last
		g.last, g.samples = u, recent(g.samples, u.At)
		took, used := u.At.Sub(before.At), u.CPU-before.CPU
		if took <= 0 || took > apart || used < 0 { // the first, or it was started again
			return
		}
		g.samples = append(g.samples, core.ContainerSample{
			AtMs: u.At.UnixMilli(), CPUs: float64(used) / float64(took), MemoryBytes: max(u.MemoryBytes, 0),
		})
	})
	return nil
}

// measure asks how much containers take on the disk, one after the other. After a failure it
// waits for lookEvery, since an engine may have looked at every file before it failed.
func (s *Service) measure(ctx context.Context) error {
	if s.unsized != nil && time.Since(s.unsizedAt) < lookEvery {
		return s.unsized
	}
	s.unsized = nil
	list := s.due(func(_ core.ContainerView, g *sight, now time.Time) bool { return now.Sub(g.sizedAt) >= sizeEvery })
	for _, v := range list {
		n, err := s.o.Engine.Size(ctx, v.ID)
		if passing(err) {
			continue
		}
		if err != nil {
			if ctx.Err() == nil {
				s.unsized, s.unsizedAt = err, time.Now()
			}
			return err // an engine that hangs is not asked for each
		}
		s.keep(v.ID, func(g *sight) { g.size, g.sizedAt = max(n, 0), time.Now() })
	}
	return nil
}
