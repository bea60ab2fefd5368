package gate

import (
	"cmp"
	"context"
	"time"

	"loop/backend/core"
)

// asker is who the programs of a spawn are. That stems from Loop itself, never from
// the container.
type asker struct {
	who
	spawn   core.SpawnID
	nth     int64  // the spawns are counted as they are admitted
	stopped string // why everything is denied from now on; empty while it is not

	// linkLost is when the link was lost by which an earlier launch of Loop answered it.
	linkLost time.Time
}

type who struct {
	Container  core.ContainerID
	ChannelID  core.ChannelID
	RunID      core.RunID // empty in a terminal
	Unattended bool       // nobody is there to answer: what would ask is denied
	Pending    bool       // it has no task yet: what would ask waits until it has
}

// origin is what answers for a run hold for: the run, or a terminal's program, in its
// container.
type origin struct {
	container core.ContainerID
	source    string
}

func (a *asker) origin() origin {
	return origin{a.Container, cmp.Or(string(a.RunID), "terminal-"+string(a.spawn))}
}

// Admit says who a spawn is. It is called again for every link on which the spawn
// may ask; what was answered for it still holds.
func (s *Service) Admit(container core.ContainerID, spawn core.SpawnID, id core.Identity) {
	now := who{container, id.ChannelID, id.RunID, id.Unattended, id.Pending}
	s.mu.Lock()
	defer s.mu.Unlock()
	if was := s.askers[spawn]; was != nil && was.who == now {
		return
	}
	s.memory.admitted++
	s.askers[spawn] = &asker{who: now, spawn: spawn, nth: s.memory.admitted, linkLost: id.LinkLost}
	s.admitEarly(spawn)
	close(s.changed)
	s.changed = make(chan struct{})
}

// Dismiss forgets a spawn that has ended. What it still waits for is withdrawn. A
// terminal's answers go with it; those of a run stay until the run has ended.
func (s *Service) Dismiss(spawn core.SpawnID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.askers[spawn]
	if a == nil {
		return
	}
	delete(s.askers, spawn)
	s.decided.dismiss(a, time.Now())
	s.endAll(func(q *question) bool { return q.asker == a }, withdrawn())
	if a.RunID == "" {
		s.forget(a.origin())
	}
}

// Starts forgets what was answered for the program that a terminal had before: one that
// is started again has the same spawn. What a run was answered holds for all its spawns.
func (s *Service) Starts(spawn core.SpawnID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.askers[spawn]
	if a == nil {
		return
	}
	s.memory.admitted++
	a.nth = s.memory.admitted // its policy has what is stored by now
	if a.RunID == "" {
		s.forget(a.origin())
	}
}

// Renewed says that a spawn goes by a newer policy, which has every stored rule that still
// counts. One that was taken back holds no longer.
func (s *Service) Renewed(spawn core.SpawnID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := s.askers[spawn]; a != nil {
		s.memory.admitted++
		a.nth = s.memory.admitted
	}
}

// Stop denies what a run holds, and everything that it asks from now on: whoever ends
// a run does this first, so that its programs can take the signal.
func (s *Service) Stop(run core.RunID, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.askers {
		if run != "" && a.RunID == run {
			a.stopped = why
		}
	}
	s.endAll(func(q *question) bool { return run != "" && q.asker.RunID == run },
		outcome{state: core.ApprovalDenied, scope: core.ScopeOnce, by: "the end of the run", reason: why})
}

// forget drops what was answered for an origin, which has ended.
func (s *Service) forget(o origin) {
	s.memory.forget(o)
	delete(s.buckets, o)
	delete(s.backs, o)
	delete(s.refused, o)
}

// asker waits until a spawn is known, for as long as that may take after a start of
// Loop. nil says that it is not.
func (s *Service) asker(ctx context.Context, container core.ContainerID, spawn core.SpawnID) *asker {
	late := time.NewTimer(admitHold)
	defer late.Stop()
	for {
		s.mu.Lock()
		a, changed := s.askers[spawn], s.changed
		s.mu.Unlock()
		if a != nil && a.Pending {
			late.Stop() // it ends when its task is another's, or its link does
		} else if a != nil {
			if a.Container != container { // a spawn of another container is nobody here
				return nil
			}
			return a
		}
		select {
		case <-changed:
		case <-late.C:
			return nil
		case <-ctx.Done():
			return nil
		}
	}
}
