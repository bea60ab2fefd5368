package guestlink

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"loop/backend/core"
)

// Source opens links, as Opener and Pool do.
type Source interface {
	Open(ctx context.Context, c core.Container) (core.Link, error)
}

// linger is how long the link of a container that others will use stays open after its
// last user: opening one takes the engine as long as the rest of a warm start.
const linger = 2 * time.Minute

// stillThere bounds the question whether a link that lingered works, which is answered in a
// millisecond. A container that is paused answers nothing.
const stillThere = time.Second

// Pool shares one link per container: loop init serves the newest alone, so a run
// and a terminal in the same container would take it from each other.
type Pool struct {
	source Source
	closed chan struct{}
	work   sync.WaitGroup // links that linger

	mu  sync.Mutex
	by  map[core.ContainerID]*sharedLink
	end bool // Close was called
}

// sharedLink is one link and how many handles on it are out.
type sharedLink struct {
	ready chan struct{} // closed when link or err is set
	link  core.Link
	err   error
	users int
	back  chan struct{} // closed when a user comes back to a link that lingers; else nil
}

// NewPool shares the links of source.
func NewPool(source Source) *Pool {
	return &Pool{source: source, closed: make(chan struct{}), by: map[core.ContainerID]*sharedLink{}}
}

// Close closes the links that nobody uses, once nobody opens any more.
func (p *Pool) Close() {
	p.mu.Lock()
	if !p.end {
		p.end = true
		close(p.closed)
	}
	p.mu.Unlock()
	p.work.Wait()
}

// Open returns a handle on the container's link; closing the last one closes
// the link, or has it linger where the container has a scope. Whoever comes first opens
// it, and an end of its context is not the others' failure.
func (p *Pool) Open(ctx context.Context, c core.Container) (core.Link, error) {
	for {
		p.mu.Lock()
		s := p.by[c.ID]
		if s != nil && s.over() {
			s = nil
		}
		first := s == nil
		if first {
			s = &sharedLink{ready: make(chan struct{})}
			p.by[c.ID] = s
		}
		s.users++
		lingered := s.back != nil
		if lingered {
			close(s.back)
			s.back = nil
		}
		p.mu.Unlock()
		if lingered && !works(ctx, s.link) {
			p.mu.Lock()
			if p.by[c.ID] == s {
				delete(p.by, c.ID)
			}
			p.mu.Unlock()
			if err := p.leave(c, s); ctx.Err() != nil {
				return nil, errors.Join(ctx.Err(), err)
			}
			continue // with a new link; how the old one ended is nobody's concern
		}
		if first {
			link, err := p.source.Open(ctx, c)
			if s.err = err; err == nil { // with an error there may come a nil of some type
				s.link = link
			}
			close(s.ready)
		} else {
			select {
			case <-s.ready:
			case <-ctx.Done():
				return nil, errors.Join(ctx.Err(), p.leave(c, s))
			}
		}
		if s.err == nil {
			return &poolHandle{s.link, sync.OnceValue(func() error { return p.leave(c, s) })}, nil
		}
		if err := p.leave(c, s); err != nil || first || ctx.Err() != nil {
			return nil, errors.Join(s.err, err)
		}
	}
}

// over says that the link failed or broke, so that a new one is due.
func (s *sharedLink) over() bool {
	return isClosed(s.ready) && (s.err != nil || isClosed(s.link.Done()))
}

// works reports whether the other end of a link answers.
func works(ctx context.Context, l core.Link) bool {
	ctx, cancel := context.WithTimeout(ctx, stillThere)
	defer cancel()
	_, err := l.Ping(ctx)
	return err == nil
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// leave gives a handle back. The last one closes the link, once it is open, or has it
// linger.
func (p *Pool) leave(c core.Container, s *sharedLink) error {
	p.mu.Lock()
	s.users--
	last := s.users == 0
	if last && c.Scope != "" && !p.end && p.by[c.ID] == s && isClosed(s.ready) && !s.over() {
		back := make(chan struct{})
		s.back = back
		p.work.Go(func() { p.linger(c.ID, s, back) })
		p.mu.Unlock()
		return nil
	}
	if last && p.by[c.ID] == s {
		delete(p.by, c.ID)
	}
	p.mu.Unlock()
	if !last {
		return nil
	}
	<-s.ready
	if s.link == nil {
		return nil
	}
	return s.link.Close()
}

// linger closes a link that nobody uses after a while, unless somebody comes back.
func (p *Pool) linger(id core.ContainerID, s *sharedLink, back <-chan struct{}) {
	late := time.NewTimer(linger)
	defer late.Stop()
	select {
	case <-back:
		return
	case <-late.C:
	case <-s.link.Done():
	case <-p.closed:
	}
	p.mu.Lock()
	used := s.users > 0
	if !used && p.by[id] == s {
		delete(p.by, id)
	}
	p.mu.Unlock()
	if !used {
		_ = s.link.Close() // nobody waits for anything on it
	}
}

// Busy reports whether a program that was started over links runs in a container, or anything
// that one has left behind.
func (p *Pool) Busy(ctx context.Context, c core.Container) (bool, error) {
	link, err := p.Open(ctx, c)
	if err != nil {
		return false, fmt.Errorf("open link: %w", err)
	}
	all, err := link.Spawns(ctx)
	if err = errors.Join(err, link.Close()); err != nil {
		return false, fmt.Errorf("ask what runs: %w", err)
	}
	return slices.ContainsFunc(all, func(s core.SpawnInfo) bool { return !s.Gone }), nil
}

// RulesChanged has the programs behind every open link go by the rules that count now. It
// returns at once.
func (p *Pool) RulesChanged() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.by {
		if !isClosed(s.ready) {
			continue // what is admitted to it will have them
		}
		if l, ok := s.link.(interface{ RulesChanged() }); ok {
			l.RulesChanged()
		}
	}
}

// poolHandle is one user's link.
type poolHandle struct {
	core.Link
	leave func() error // once
}

func (h *poolHandle) Close() error { return h.leave() }
