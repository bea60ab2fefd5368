//go:build linux

package relay

import (
	"errors"
	"net"
	"sync"
	"syscall"
	"time"
)

const (
	// maxConns bounds the connections from inside the container: each takes a
	// descriptor and some 20 KiB of loop init, whether or not it ever asks for
	// anything. It is several times what maxRequests can use.
	maxConns = 256
	// idleTimeout ends connections that ask for nothing more. Clients keep theirs
	// for some seconds and drop them first.
	idleTimeout = 2 * time.Minute
)

// limited accepts at most so many connections at a time; more wait in the
// kernel's queue.
type limited struct {
	net.Listener
	slots chan struct{}
	done  chan struct{}
	once  sync.Once
}

func limit(ln net.Listener, n int) *limited {
	return &limited{Listener: ln, slots: make(chan struct{}, n), done: make(chan struct{})}
}

func (l *limited) Accept() (net.Conn, error) {
	select {
	case l.slots <- struct{}{}:
	case <-l.done:
		return nil, net.ErrClosed
	}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.slots
		return nil, err
	}
	return &limitedConn{Conn: c, release: func() { <-l.slots }}, nil
}

func (l *limited) Close() error {
	l.once.Do(func() { close(l.done) })
	return l.Listener.Close()
}

type limitedConn struct {
	net.Conn
	once    sync.Once
	release func()
}

// SyscallConn gives the descriptor, as the connection itself does.
func (c *limitedConn) SyscallConn() (syscall.RawConn, error) {
	own, ok := c.Conn.(syscall.Conn)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	return own.SyscallConn()
}

func (c *limitedConn) Close() error {
	err := c.Conn.Close()
	c.once.Do(c.release)
	return err
}
