//go:build linux

package relay

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"loop/backend/wire"
)

// ServeProxy carries the connections of ln to the host, each on a stream of its own; the
// returned function ends it and waits. What is said on them is HTTP to a proxy, and
// nothing here reads it. One more than MaxProxied at a time waits in the kernel's queue.
func (r *Relay) ServeProxy(ln net.Listener) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	slots := make(chan struct{}, wire.MaxProxied)
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case slots <- struct{}{}:
			case <-ctx.Done():
				return
			}
			conn, err := ln.Accept()
			if err != nil {
				if ctx.Err() == nil {
					r.log.Error("way out ended", "err", err)
				}
				return
			}
			wg.Go(func() {
				defer func() { <-slots }()
				r.carry(ctx, conn)
			})
		}
	})
	return func() { cancel(); _ = ln.Close(); wg.Wait() }
}

// carry takes one connection to the host. A program that is not known, or that has no way
// out, finds its connection closed.
func (r *Relay) carry(ctx context.Context, conn net.Conn) {
	defer func() { _ = conn.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	spawn, err := r.asker(context.WithValue(ctx, connKey{}, &caller{conn: conn}))
	if err != nil {
		r.log.Info("way out does not know who asks", "err", err)
		return
	}
	r.mu.Lock()
	s := r.session
	r.mu.Unlock()
	if s == nil {
		return // without Loop there is no way out
	}
	st, err := open(s, wire.OpProxy, spawn)
	if err != nil {
		r.log.Debug("way out", "err", err)
		return
	}
	Splice(ctx, conn, st)
}

// lingerTime is how long one direction of a connection may go on after the other has
// failed; an end that was said is passed on and waits for no time.
const lingerTime = 5 * time.Second

// Splice copies between two connections until both directions have ended or ctx is done,
// and closes both. An end of one direction is passed on.
func Splice(ctx context.Context, a, b net.Conn) {
	stop := context.AfterFunc(ctx, func() { _, _ = a.Close(), b.Close() })
	defer stop()
	defer func() { _, _ = a.Close(), b.Close() }()
	var wg sync.WaitGroup
	wg.Go(func() { pour(b, a) })
	pour(a, b)
	wg.Wait()
}

// pour copies until from ends, and says so to the other side.
func pour(to, from net.Conn) {
	_, err := io.Copy(to, from)
	if err != nil {
		_, _ = to.SetDeadline(time.Now().Add(lingerTime)), from.SetDeadline(time.Now().Add(lingerTime))
	}
	if h, ok := to.(interface{ CloseWrite() error }); ok && !errors.Is(err, net.ErrClosed) {
		_ = h.CloseWrite()
		return
	}
	_ = to.Close() // a stream of the link: this half only
}
