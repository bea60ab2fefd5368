package sidecar

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"sync"
	"time"

	"loop/backend/core"
	"loop/backend/egress"
	"loop/backend/sandbox"
)

// wayOut serves the connections of this browser: to public sites, and to what the
// channel's agents serve.
func (c *Sidecar) wayOut() func(context.Context, net.Conn) {
	o := egress.Options{Log: c.s.o.Log, Inside: func(ctx context.Context, port uint16) (net.Conn, error) {
		return c.s.inside(ctx, c.channel.ID, port)
	}}
	if ask := c.s.o.Ask; ask != nil {
		o.Ask = func(ctx context.Context, host string, port uint16) error { return ask(ctx, c.channel.ID, host, port) }
	}
	return egress.New(o).Serve
}

// inside connects to a port in one of the channel's containers: the one that was made
// last and listens there.
func (s *Starter) inside(ctx context.Context, ch core.ChannelID, port uint16) (net.Conn, error) {
	errs := []error{core.ErrNotFound}
	for _, c := range s.agents(s.channel(ctx, ch)) {
		link, err := s.o.Links.Open(ctx, c)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		conn, err := link.Dial(ctx, port)
		if err != nil {
			errs = append(errs, err, link.Close())
			continue
		}
		return &linked{Conn: conn, leave: sync.OnceValue(link.Close)}, nil
	}
	return nil, errors.Join(errs...)
}

// channel is the record of a channel; of one that is gone, the id.
func (s *Starter) channel(ctx context.Context, id core.ChannelID) core.Channel {
	ch, err := s.o.Channel(ctx, id)
	if err != nil {
		return core.Channel{ID: id}
	}
	return ch
}

// agents are the containers of a channel in which its agents work now, the newest first.
func (s *Starter) agents(ch core.Channel) []core.Container {
	list := slices.DeleteFunc(slices.Clone(s.o.Containers.List()), func(c core.Container) bool {
		return !sandbox.Serves(c, ch) || c.Status != core.ContainerRunning || c.Type == core.TypeChrome
	})
	slices.Reverse(list) // oldest first
	return list
}

const (
	// portsTimeout bounds one look at what agents listen on.
	portsTimeout = 2 * time.Second
	// maxPorts bounds what is shown of all containers together.
	maxPorts = 64
)

// Ports are what the channel's agents listen on, where inside leads to, by number. A
// container that does not say has none. None is kept by the look: one that ends
// meanwhile ends.
func (s *Starter) Ports(ctx context.Context, ch core.ChannelID) []core.BrowserPort {
	ctx, cancel := context.WithTimeout(ctx, portsTimeout)
	defer cancel()
	found := map[uint16]core.BrowserPort{}
	for _, c := range s.agents(s.channel(ctx, ch)) {
		list, err := s.portsIn(ctx, c)
		if err != nil {
			s.o.Log.Debug("look for ports of agents", "container", string(c.ID), "err", err)
		}
		for _, p := range list {
			if _, newer := found[p.Port]; !newer {
				found[p.Port] = core.BrowserPort{Port: p.Port, URL: fmt.Sprintf("http://localhost:%d/", p.Port), Process: p.Process}
			}
		}
	}
	out := slices.SortedFunc(maps.Values(found), func(a, b core.BrowserPort) int { return cmp.Compare(a.Port, b.Port) })
	return out[:min(len(out), maxPorts)]
}

func (s *Starter) portsIn(ctx context.Context, c core.Container) ([]core.ListeningPort, error) {
	link, err := s.o.Links.Open(ctx, c)
	if err != nil {
		return nil, err
	}
	list, err := link.Ports(ctx)
	return list, errors.Join(err, link.Close())
}

// linked is a connection with the link it goes over.
type linked struct {
	net.Conn
	leave func() error // once
}

func (l *linked) Close() error { return errors.Join(l.Conn.Close(), l.leave()) }

// CloseWrite ends one direction.
func (l *linked) CloseWrite() error {
	if h, ok := l.Conn.(interface{ CloseWrite() error }); ok {
		return h.CloseWrite()
	}
	return l.Close()
}
