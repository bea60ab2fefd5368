package guestlink_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/yamux"

	"loop/backend/core"
	"loop/backend/guestlink"
	"loop/backend/wire"
)

// pipeDialer returns one end of a pipe. The test is the guest at the other end.
type pipeDialer struct {
	guest  func(conn net.Conn)
	stderr string
	wg     sync.WaitGroup
}

type stderrConn struct {
	net.Conn
	stderr string
}

func (c stderrConn) Stderr() string { return c.stderr }

func (d *pipeDialer) DialExec(_ context.Context, _ core.ContainerID, user string, argv []string) (io.ReadWriteCloser, error) {
	if user != "64999:64999" || len(argv) != 2 || argv[0] != wire.GuestBinary || argv[1] != "link" {
		return nil, errors.New("not how loop link is started")
	}
	ours, theirs := net.Pipe()
	d.wg.Go(func() { d.guest(theirs); _ = theirs.Close() })
	return stderrConn{ours, d.stderr}, nil
}

var goodHello = wire.Request{Op: wire.OpHello, Hello: &wire.Hello{Protocol: wire.Protocol, BootID: "b00t", Arch: "amd64", Pid1UID: wire.SupervisorID, AloneMs: 60_000}}

// mux opens a guest's end of the multiplexer.
func mux(t *testing.T, conn net.Conn) *yamux.Session {
	c := yamux.DefaultConfig()
	c.LogOutput = io.Discard
	c.AcceptBacklog = wire.MaxStreams
	s, err := yamux.Server(conn, c)
	if err != nil {
		t.Error(err)
	}
	return s
}

// sayHello opens the first stream and sends the hello.
func sayHello(t *testing.T, s *yamux.Session, q wire.Request) error {
	st, err := s.OpenStream()
	if err != nil {
		t.Error(err)
		return err
	}
	defer func() { _ = st.Close() }()
	if err := wire.WriteFrame(st, q); err != nil {
		return err
	}
	_, err = wire.ReadReply(st)
	return err
}

// guest is a well-behaved guest. The test gives its answers.
type guest struct {
	session *yamux.Session
}

// open links to a guest that answers the host's streams with handle.
func open(t *testing.T, opts guestlink.Options, handle func(q wire.Request, st *yamux.Stream)) (*guestlink.Link, *guest) {
	t.Helper()
	g := &guest{}
	ready := make(chan struct{})
	d := &pipeDialer{guest: func(conn net.Conn) {
		g.session = mux(t, conn)
		if err := sayHello(t, g.session, goodHello); err != nil {
			t.Errorf("hello: %v", err)
		}
		close(ready)
		var wg sync.WaitGroup
		defer wg.Wait()
		for {
			st, err := g.session.AcceptStream()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer func() { _ = st.Close() }()
				if q, err := wire.ReadRequest(st); err == nil {
					handle(q, st)
				}
			})
		}
	}}
	l, err := guestlink.Open(t.Context(), d, "cont", opts)
	if err != nil {
		t.Fatal(err)
	}
	<-ready
	l.Admit("spawn", core.Identity{ChannelID: "chan"})
	t.Cleanup(func() { _ = l.Close(); _ = g.session.Close(); d.wg.Wait() })
	return l, g
}

// model makes upstream the model of run, and the test's spawn a process of that run.
func model(l *guestlink.Link, run core.RunID, upstream core.ModelUpstream) {
	l.Admit("spawn", core.Identity{ChannelID: "chan", RunID: run, Upstream: upstream})
}

// client makes HTTP requests as the test's spawn, like the guest's relay.
func (g *guest) client(t *testing.T) *http.Client { return g.clientOf(t, "spawn") }

func (g *guest) clientOf(t *testing.T, spawn string) *http.Client {
	tr := &http.Transport{DisableKeepAlives: true, DialContext: func(context.Context, string, string) (net.Conn, error) {
		st, err := g.session.OpenStream()
		if err != nil {
			return nil, err
		}
		if err := wire.WriteFrame(st, wire.Request{Op: wire.OpHTTP, ID: spawn}); err != nil {
			return nil, err
		}
		if _, err := wire.ReadReply(st); err != nil {
			return nil, err
		}
		return st, nil
	}}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, Timeout: time.Minute}
}

func reply(st *yamux.Stream, p wire.Reply) { _ = wire.WriteFrame(st, p) }
