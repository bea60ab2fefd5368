package guestlink

import (
	"context"
	"errors"
	"sync"

	"loop/backend/core"
)

// Source opens links, as Opener and Pool do.
type Source interface {
	Open(ctx context.Context, c core.Container) (core.Link, error)
}

// Pool shares one link per container: loop init serves the newest alone, so a run
// and a terminal in the same container would take it from each other.
type Pool struct {
	source Source

	mu sync.Mutex
	by map[core.ContainerID]*sharedLink
}

// sharedLink is one link and how many handles on it are out.
type sharedLink struct {
	ready chan struct{} // closed when link or err is set
	link  core.Link
	err   error
	users int
}

// NewPool shares the links of source.
func NewPool(source Source) *Pool {
	return &Pool{source: source, by: map[core.ContainerID]*sharedLink{}}
}

// Open returns a handle on the container's link; closing the last one closes
// the link. Whoever comes first opens it, and an end of its context is not the
// others' failure.
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
		p.mu.Unlock()
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
				return nil, errors.Join(ctx.Err(), p.leave(c.ID, s))
			}
		}
		if s.err == nil {
			return &poolHandle{s.link, sync.OnceValue(func() error { return p.leave(c.ID, s) })}, nil
		}
		if err := p.leave(c.ID, s); err != nil || first || ctx.Err() != nil {
			return nil, errors.Join(s.err, err)
		}
	}
}

// over says that the link failed or broke, so that a new one is due.
func (s *sharedLink) over() bool {
	return isClosed(s.ready) && (s.err != nil || isClosed(s.link.Done()))
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// leave gives a handle back. The last one closes the link, once it is open.
func (p *Pool) leave(id core.ContainerID, s *sharedLink) error {
	p.mu.Lock()
	s.users--
	last := s.users == 0
	if last && p.by[id] == s {
		delete(p.by, id)
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
