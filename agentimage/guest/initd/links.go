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

	"loop/agentimage/guest/ask"
	"loop/agentimage/guest/kernel"
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
	UID    uint32 // the only one that may connect: the supervisor's

	wg sync.WaitGroup

	mu     sync.Mutex
	begun  int       // connections that there have been
	newest int       // the number of the newest that said hello
	links  int       // how many said it
	lost   time.Time // of the last link, by the calendar, which goes on while the computer sleeps
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
const acceptPause = 200 * time.Millisecond

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
			s.Log.Warn("accept link", "err", err)
			select {
			case <-time.After(acceptPause):
			case <-ctx.Done():
			}
			continue
		}
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
	peer, err := kernel.PeerCred(conn)
	if err != nil {
		return fmt.Errorf("look at peer: %w", err)
	}
	if peer.Uid != s.UID {
		return fmt.Errorf("peer is uid %d", peer.Uid)
	}
	return nil
}

// Link serves one connection until it ends, ctx is done, or a newer link takes
// its place.
func (s *Server) Link(ctx context.Context, conn io.ReadWriteCloser) error {
	s.mu.Lock()
	s.begun++
	nth := s.begun
	s.mu.Unlock()
	session, err := yamux.Server(conn, wire.MuxConfig())
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
		return fmt.Errorf("say hello: %w", err)
	}
	if !s.attach(nth, session) {
		return errOvertaken
	}
	defer s.detach(session)
	return s.accept(ctx, session)
}

var errOvertaken = errors.New("a newer link said hello first")

// attach makes the nth connection the current link in the place of the one before, unless a
// newer one is that already: a host that was answered may open the next while this one still
// stands between its hello and here.
func (s *Server) attach(nth int, session *yamux.Session) bool {
	s.mu.Lock()
	if nth < s.newest {
		s.mu.Unlock()
		return false
	}
	s.newest = nth
	s.links++
	old := s.Relay.Attach(session)
	s.mu.Unlock()
	if old != nil {
		_ = old.Close()
	}
	return true
}

// detach notes when the last link was lost.
func (s *Server) detach(session *yamux.Session) {
	s.Relay.Detach(session)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lost = time.Now().Round(0)
}

// alone says for how long nobody has been linked; 0 where somebody is, or never was.
func (s *Server) alone() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lost.IsZero() || s.Relay.Attached() {
		return 0
	}
	return max(time.Since(s.lost), 0)
}

// maxUnlinked is how long a container goes on without a link that is told to end then: far
// more than from its start to the first one.
const maxUnlinked = time.Minute

// endUnlinked calls end once nobody has been linked for as long as limit while nothing is in
// use, and returns then or when ctx is done. Time in which the computer sleeps does not count.
func (s *Server) endUnlinked(ctx context.Context, limit time.Duration, inUse func() bool, end func()) {
	tick := time.NewTicker(limit / 10)
	defer tick.Stop()
	links := 0
	for since := time.Now(); ; {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		s.mu.Lock()
		another := s.links != links // which may be over by now
		links = s.links
		s.mu.Unlock()
		if another || s.Relay.Attached() {
			since = time.Now()
		} else if time.Since(since) >= limit && !inUse() {
			s.Log.Info("nobody is linked any more: the container ends")
			end()
			return
		}
	}
}

// hello introduces this end; the host's answer decides.
func (s *Server) hello(session *yamux.Session) error {
	st, err := session.OpenStream()
	if err != nil {
		return err
	}
	defer func() { _ = st.Close() }()
	if err := st.SetDeadline(time.Now().Add(wire.RequestTimeout)); err != nil {
		return err
	}
	h := s.Hello
	h.AloneMs = s.alone().Milliseconds()
	if err := wire.WriteFrame(st, wire.Request{Op: wire.OpHello, Hello: &h}); err != nil {
		return err
	}
	_, err = wire.ReadReply(st)
	return err
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
