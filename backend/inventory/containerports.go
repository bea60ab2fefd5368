package inventory

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"loop/backend/core"
)

const (
	// portsWait bounds one look at what programs in a container listen on.
	portsWait = 3 * time.Second
	// mostPorts bounds how many are shown.
	mostPorts = 64
)

// Ports are those on which programs in a container listen, by number, with the address at
// which a browser of its channel finds each. With ask each port is asked for a page, until
// it has answered. A browser's own container has none to open. One that does not run has none,
// either.
func (s *Service) Ports(ctx context.Context, name string, ask bool) ([]core.ContainerPort, error) {
	c, err := s.named(name)
	if err != nil {
		return nil, err
	}
	if c.Status != core.ContainerRunning || c.Type == core.TypeChrome {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, portsWait)
	defer cancel()
	link, err := s.o.Links.Open(ctx, c.Container)
	if err == nil {
		defer func() { _ = link.Close() }() // what it was opened for has an answer by then
		var list []core.ListeningPort
		if list, err = link.Ports(ctx); err == nil {
			return s.ports(ctx, link, c.ID, list, ask), nil
		}
	}
	return nil, core.Fail(core.CodeInternal, err, "The container did not say on which ports its programs listen.",
		"Look again. If it stays like that, “loop logs "+c.Name+"” may say more.")
}

// ports says what is known of each port.
func (s *Service) ports(
	ctx context.Context, link core.Link, id core.ContainerID, list []core.ListeningPort, ask bool,
) []core.ContainerPort {
	slices.SortFunc(list, func(a, b core.ListeningPort) int { return cmp.Compare(a.Port, b.Port) })
	list = list[:min(len(list), mostPorts)]
	known := s.pages.of(id, list)
	if ask {
		known = s.pages.try(ctx, link, id, list)
	}
	out := make([]core.ContainerPort, 0, len(list))
	for _, p := range list {
		at := core.BrowserPort{Port: p.Port, URL: fmt.Sprintf("http://localhost:%d/", p.Port), Process: p.Process}
		page := known[p]
		out = append(out, core.ContainerPort{BrowserPort: at, Kind: page.kind, Title: page.title})
	}
	return out
}
