//go:build linux

package initd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/hashicorp/yamux"

	"loop/agentimage/guest/relay"
	"loop/backend/wire"
)

// loopbackTimeout bounds a connection within this container, which takes microseconds
// unless a listener's queue is full.
const loopbackTimeout = 3 * time.Second

// dial joins a stream of the host with a port of this container's own loopback.
func (s *Server) dial(ctx context.Context, st *yamux.Stream, q wire.Request) {
	conn, err := dialLoopback(ctx, q.Port)
	if err != nil {
		_ = wire.WriteFrame(st, refusal(err))
		return
	}
	defer func() { _ = conn.Close() }()
	if wire.WriteFrame(st, wire.Reply{}) != nil {
		return
	}
	relay.Splice(ctx, conn, st)
}

// dialLoopback tries both loopback addresses: servers of some languages listen on [::1]
// alone when they are told “localhost”. Loop's own ports lead nowhere.
func dialLoopback(ctx context.Context, port uint16) (net.Conn, error) {
	p := strconv.Itoa(int(port))
	if ownPort(port) {
		return nil, wire.NewError(wire.CodeDenied, "port "+p+" is Loop's own")
	}
	var errs error
	for _, host := range []string{"127.0.0.1", "::1"} {
		conn, err := (&net.Dialer{Timeout: loopbackTimeout}).DialContext(ctx, "tcp", net.JoinHostPort(host, p))
		if err == nil {
			return conn, nil
		}
		errs = errors.Join(errs, err)
	}
	if errors.Is(errs, syscall.ECONNREFUSED) {
		return nil, wire.NewError(wire.CodeNotFound, "nothing listens on port "+p)
	}
	return nil, fmt.Errorf("connect to port %s: %w", p, errs)
}

// ownPort reports whether a port is Loop's.
func ownPort(port uint16) bool {
	return slices.ContainsFunc([]string{wire.RelayAddr, wire.ProxyAddr}, func(own string) bool {
		return netip.MustParseAddrPort(own).Port() == port
	})
}
