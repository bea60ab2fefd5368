package guestlink

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/hashicorp/yamux"

	"loop/backend/core"
	"loop/backend/wire"
)

// Dialer starts a process in a container and joins its stdin and stdout. A
// stream that also has Stderr() string is asked for the reason when there is no
// hello. ctx bounds the dial, not the stream.
type Dialer interface {
	DialExec(ctx context.Context, id core.ContainerID, user string, argv []string) (io.ReadWriteCloser, error)
}

// Options of one link.
type Options struct {
	Callbacks    Callbacks
	Browsers     Browsers     // nil: none
	DemoModel    http.Handler // the scripted model; sees paths without the route's prefix
	Gate         Gate         // nil: what the container holds is denied there
	Talks        Talks        // nil: nobody hears of conversations in terminals
	GatewayIP    string       // the engine's bridge address, tried last for a model on “localhost”
	HelloTimeout time.Duration
	// AdmitHold is how long after the hello a request of a spawn without an identity
	// is kept instead of refused; 0 is 5 s, negative is not at all.
	AdmitHold time.Duration
	Log       *slog.Logger
}

// admitHold is far more than the moment between Open and Admit, and far less than
// the CLI waits for an answer.
const admitHold = 5 * time.Second

var _ core.Link = (*Link)(nil)

// Link is one open link. Its goroutines end when the stream ends or Close is
// called; Close waits for them.
type Link struct {
	opts    Options
	id      core.ContainerID
	hello   wire.Hello
	lost    time.Time // of the link before this one; zero where nobody knows
	session *yamux.Session
	slots   chan struct{} // streams this end may have open
	askers  *askers
	rules   *liveRules
	http    *http.Server
	life    context.Context // ends with the link
	endLife context.CancelFunc
	done    chan struct{}
	wg      sync.WaitGroup
}

// linkUser and linkArgv are how loop link is started.
var (
	linkUser = strconv.Itoa(wire.SupervisorID) + ":" + strconv.Itoa(wire.SupervisorID)
	linkArgv = []string{wire.GuestBinary, "link"}
)

// Open dials the container and waits for its hello. An error is a *core.Failure
// with CodeNoLink that names the cause, or ctx's own. The caller closes the Link.
func Open(ctx context.Context, d Dialer, id core.ContainerID, opts Options) (*Link, error) {
	opts.HelloTimeout = cmp.Or(opts.HelloTimeout, wire.HelloTimeout)
	opts.AdmitHold = cmp.Or(opts.AdmitHold, admitHold)
	opts.Log = cmp.Or(opts.Log, slog.New(slog.DiscardHandler))
	hctx, cancel := context.WithTimeout(ctx, opts.HelloTimeout)
	defer cancel()
	stream, err := d.DialExec(hctx, id, linkUser, linkArgv)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, dialFailure(err)
	}
	session, err := yamux.Client(stream, wire.MuxConfig())
	if err != nil {
		_ = stream.Close()
		return nil, fmt.Errorf("start link: %w", err)
	}
	hello, err := awaitHello(hctx, session)
	if err != nil {
		_ = session.Close()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, helloFailure(err, stderrOf(stream), opts.HelloTimeout)
	}
	return start(session, id, hello, opts), nil
}

func start(session *yamux.Session, id core.ContainerID, hello wire.Hello, opts Options) *Link {
	l := &Link{
		opts: opts, id: id, hello: hello, session: session,
		slots: make(chan struct{}, wire.MaxHostStreams),
		rules: newLiveRules(),
		done:  make(chan struct{}),
	}
	if ms := hello.AloneMs; ms > 0 {
		l.lost = time.Now().Round(0).Add(-time.Duration(ms) * time.Millisecond)
	}
	l.life, l.endLife = context.WithCancel(context.Background())
	l.askers = newAskers(opts)
	l.http = newServer(l.handler(), opts.Log)
	l.wg.Go(l.serve)
	l.wg.Go(l.followRules)
	if opts.Gate != nil {
		l.wg.Go(l.askGate)
	}
	opts.Log.Debug("link open", "container", string(id), "guest", hello.GuestVersion, "boot", hello.BootID)
	return l
}

// awaitHello takes the first stream, which must be the hello.
func awaitHello(ctx context.Context, session *yamux.Session) (wire.Hello, error) {
	st, err := session.AcceptStreamWithContext(ctx)
	if err != nil {
		return wire.Hello{}, err
	}
	defer func() { _ = st.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = st.SetDeadline(time.Now()) })
	defer stop()
	q, err := wire.ReadRequest(st)
	if err != nil {
		return wire.Hello{}, err
	}
	if q.Op != wire.OpHello {
		return wire.Hello{}, fmt.Errorf("the first word was %q, not hello", q.Op)
	}
	if q.Hello.Protocol != wire.Protocol {
		err := &protocolError{theirs: q.Hello.Protocol}
		_ = wire.WriteFrame(st, wire.Refuse(wire.CodeProtocol, err.Error()))
		return wire.Hello{}, err
	}
	if err := wire.WriteFrame(st, wire.Reply{}); err != nil {
		return wire.Hello{}, err
	}
	return *q.Hello, nil
}

// serve answers the guest's streams until the link is down, then takes everything
// down with it.
func (l *Link) serve() {
	defer l.shutdown()
	defer l.endLife()
	defer close(l.done) // first: whoever waits for it need not wait for handlers
	_ = l.http.Serve(&guestStreams{Session: l.session, l: l, slots: make(chan struct{}, wire.MaxStreams)})
}

// guestStreams is the listener of the streams that the guest opens.
type guestStreams struct {
	*yamux.Session
	l     *Link
	slots chan struct{}
}

// Accept drops a stream that is one too many. Any error of it ends the server.
func (s *guestStreams) Accept() (net.Conn, error) {
	for {
		st, err := s.AcceptStream()
		if err != nil {
			return nil, net.ErrClosed
		}
		select {
		case s.slots <- struct{}{}:
			c := &guestConn{Stream: st, release: sync.OnceFunc(func() { <-s.slots })}
			c.greeted = sync.OnceValue(func() error { return s.l.greet(c) })
			return c, nil
		default:
			_ = st.Close()
		}
	}
}

// guestConn is one stream of the guest. Its request frame is read with the first
// bytes, by the goroutine that serves it; Close gives its slot back.
type guestConn struct {
	*yamux.Stream
	release func()       // once
	greeted func() error // once
	spawn   core.SpawnID // who asks, as the request frame says
}

func (c *guestConn) Read(p []byte) (int, error) {
	if c.greeted() != nil {
		return 0, io.EOF // without an answer
	}
	return c.Stream.Read(p)
}

func (c *guestConn) Close() error {
	c.release()
	return c.Stream.Close()
}

// greet reads a stream's request frame, within the time that the server has set.
// Anything but http is not a mistake a guest of ours makes: it costs it the link.
func (l *Link) greet(c *guestConn) error {
	q, err := wire.ReadRequest(c.Stream)
	if err == nil && q.Op != wire.OpHTTP && q.Op != wire.OpProxy {
		err = fmt.Errorf("op %q is not for this end", q.Op)
	}
	if err == nil {
		c.spawn = core.SpawnID(q.ID)
		if q.Op == wire.OpProxy {
			return l.letOut(c)
		}
		err = wire.WriteFrame(c.Stream, wire.Reply{})
	}
	if err != nil && !errors.Is(err, io.EOF) && !l.session.IsClosed() {
		l.broken(fmt.Errorf("guest stream: %w", err))
	}
	return err
}

// broken ends the link because the other end does not keep to the protocol.
func (l *Link) broken(err error) {
	l.opts.Log.Warn("link closed", "container", string(l.id), "err", err)
	go func() { _ = l.session.Close() }() // waits for the reader, which may be the caller's caller
}

// handlerGrace is how long requests under way may take to notice that their
// stream is gone; they see a cancelled context and failing writes.
const handlerGrace = 5 * time.Second

func (l *Link) shutdown() {
	_ = l.session.Close()
	ctx, cancel := context.WithTimeout(context.Background(), handlerGrace)
	defer cancel()
	if err := l.http.Shutdown(ctx); err != nil {
		l.opts.Log.Warn("guest request did not end with its link", "err", err)
		_ = l.http.Close()
	}
	l.askers.close()
}

// Done is closed when the link is down.
func (l *Link) Done() <-chan struct{} { return l.done }

// Close ends the link and waits for its goroutines. The container goes on.
func (l *Link) Close() error {
	err := l.session.Close()
	<-l.done
	l.wg.Wait()
	return err
}
