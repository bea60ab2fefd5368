package eagerstart

import (
	"context"
	"fmt"
	"time"

	"loop/backend/core"
	"loop/backend/wire"
)

const (
	// visitEvery lets two visits fail before a container ends that no Loop has visited.
	visitEvery = wire.MaxUnvisited / 3
	// firstVisit is after the start, which nothing is to hold up.
	firstVisit = time.Minute
	// visitTime bounds one visit; opening a link takes a tenth of a second.
	visitTime = 15 * time.Second
)

// visits keeps the containers that are shared from ending by themselves, until ctx ends.
func (s *Service) visits(ctx context.Context) {
	next := time.NewTimer(firstVisit)
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-next.C:
		}
		for _, c := range s.o.Containers.List() {
			if c.Scope == "" || c.Status != core.ContainerRunning {
				continue
			}
			if err := s.visit(ctx, c); err != nil && ctx.Err() == nil {
				s.o.Log.Debug("visit container", "container_name", c.Name, "err", err)
			}
		}
		next.Reset(visitEvery)
	}
}

// visit links up with a container. One that a person paused stays so, and does not end
// meanwhile.
func (s *Service) visit(ctx context.Context, c core.Container) error {
	ctx, cancel := context.WithTimeout(ctx, visitTime)
	defer cancel()
	if f, err := s.o.Containers.Facts(ctx, c.ID); err != nil || f.Paused || !f.Running {
		return err
	}
	link, err := s.o.Links.Open(ctx, c)
	if err != nil {
		return fmt.Errorf("open link: %w", err)
	}
	return link.Close()
}
