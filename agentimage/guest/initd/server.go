//go:build linux

package initd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"

	"github.com/hashicorp/yamux"
	"golang.org/x/sys/unix"

	"loop/agentimage/guest/ask"
	"loop/agentimage/guest/relay"
	"loop/agentimage/guest/spawn"
	"loop/backend/wire"
)

// Server serves links. One is current at a time: the newest that said hello.
type Server struct {
	Spawns *spawn.Table
	Relay  *relay.Relay
	Desk   *ask.Desk
	Log    *slog.Logger
	Hello  wire.Hello
	// Admit decides on a connection by its peer's uid; nil means that only the
	// supervisor's own uid may connect.
	Admit func(uid uint32) bool

	mu      sync.Mutex
	current *yamux.Session
	wg      sync.WaitGroup
}

// listenSocket makes the socket in the private directory anew.
func listenSocket(path string) (*net.UnixListener, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("remove old socket: %w", err)
	}
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("listen for links: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		_ = ln.Close()
		return nil, fmt.Errorf("set mode of socket: %w", err)
	}
	return ln, nil
}

// acceptPause is how long a listener that fails is left alone.
const acceptPause = 100 * time.Millisecond

// pause reports whether ctx is still alive after d.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// Listener is where links come from.
type Listener interface {
	AcceptUnix() (*net.UnixConn, error)
	Close() error
}

// Serve accepts links until ctx is done, then ends the current one and waits
// for everything that belonged to any.
func (s *Server) Serve(ctx context.Context, ln Listener) error {
	stop := context.AfterFunc(ctx, func() { _ = ln.Close() })
	defer stop()
	outer := ctx
	ctx, cancel := context.WithCancel(ctx)
	defer s.wg.Wait()
	defer cancel()
	failing := false
	for {
		conn, err := ln.AcceptUnix()
		if outer.Err() != nil { // ctx may learn of it after ln has
			return nil
		}
		if errors.Is(err, net.ErrClosed) {
			return fmt.Errorf("accept link: %w", err)
		}
		if err != nil {
			// Out of descriptors or memory: what runs here must not end for that.
			if !failing {
				s.Log.Warn("accept link", "err", err)
			}
			failing = true
			if !pause(ctx, acceptPause) {
				return nil
			}
			continue
		}
		failing = false
		if err := s.admit(conn); err != nil {
			s.Log.Warn("link refused", "err", err)
			_ = conn.Close()
			continue
		}
		s.wg.Go(func() {
			if err := s.Link(ctx, conn); err != nil {
				s.Log.Info("link ended", "err", err)
			}
		})
	}
}

func (s *Server) admit(conn *net.UnixConn) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return fmt.Errorf("look at peer: %w", err)
	}
	var cred *unix.Ucred
	var credErr error
	if err := raw.Control(func(fd uintptr) {
		cred, credErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil {
		return fmt.Errorf("look at peer: %w", err)
	}
	if credErr != nil {
		return fmt.Errorf("look at peer: %w", credErr)
	}
	ok := cred.Uid == wire.SupervisorID
	if s.Admit != nil {
		ok = s.Admit(cred.Uid)
	}
	if !ok {
		return fmt.Errorf("peer is uid %d", cred.Uid)
	}
	return nil
}

func muxConfig(log io.Writer) *yamux.Config {
	c := yamux.DefaultConfig()
	c.AcceptBacklog = wire.MaxHostStreams
	c.KeepAliveInterval = wire.KeepAlive
	c.ConnectionWriteTimeout = wire.WriteTimeout
	c.MaxStreamWindowSize = wire.Window
	c.LogOutput = log
	return c
}

// Link serves one connection until it ends, ctx is done, or a newer link takes
// its place.
func (s *Server) Link(ctx context.Context, conn io.ReadWriteCloser) error {
	session, err := yamux.Server(conn, muxConfig(io.Discard))
	if err != nil {
		_ = conn.Close()
		return fmt.Errorf("start link: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = session.Close() })
	defer stop()
	defer func() { _ = session.Close() }()
	if err := s.hello(session); err != nil {
		return err
	}
	s.replace(session)
	defer s.retire(session)
	return s.accept(ctx, session)
}

// hello introduces this end; the host's answer decides.
func (s *Server) hello(session *yamux.Session) error {
	st, err := session.OpenStream()
	if err != nil {
		return fmt.Errorf("say hello: %w", err)
	}
	defer func() { _ = st.Close() }()
	if err := st.SetDeadline(time.Now().Add(wire.RequestTimeout)); err != nil {
		return fmt.Errorf("say hello: %w", err)
	}
	h := s.Hello
	h.Spawns, h.Streams = s.Spawns.Count(), wire.MaxHostStreams
	if err := wire.WriteFrame(st, wire.Request{Op: wire.OpHello, Hello: &h}); err != nil {
		return fmt.Errorf("say hello: %w", err)
	}
	if _, err := wire.ReadReply(st); err != nil {
		return fmt.Errorf("say hello: %w", err)
	}
	return nil
}

func (s *Server) replace(session *yamux.Session) {
	s.mu.Lock()
	old := s.current
	s.current = session
	s.mu.Unlock()
	s.Relay.Attach(session)
	if old != nil {
		_ = old.Close()
	}
}

func (s *Server) retire(session *yamux.Session) {
	s.Relay.Detach(session)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current == session {
		s.current = nil
	}
}

// accept handles the host's streams, at most MaxHostStreams at a time.
func (s *Server) accept(ctx context.Context, session *yamux.Session) error {
	slots := make(chan struct{}, wire.MaxHostStreams)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer func() { _ = session.Close() }() // before the wait: it ends every stream
	for {
		st, err := session.AcceptStream()
		if err != nil {
			return err
		}
		select {
		case slots <- struct{}{}:
		default:
			_ = st.Close()
			continue
		}
		wg.Go(func() {
			defer func() { <-slots }()
			s.handle(ctx, st)
		})
	}
}
