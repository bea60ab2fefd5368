package guestlink

import (
	"context"
	"errors"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

	"loop/backend/core"
	"loop/backend/wire"
)

// errLetOut ends a guest's stream that was no request: its connection is over.
var errLetOut = errors.Join(io.EOF, errors.New("the connection to the way out has ended"))

// letOut serves one connection of a spawn to its way out, on the goroutine that has read
// the stream's first frame, and returns when it has ended. A spawn without one is refused.
func (l *Link) letOut(c *guestConn) error {
	who, ok := l.askers.of(l.life, c)
	if !ok || who.egress == nil {
		_ = wire.WriteFrame(c.Stream, wire.Refuse(wire.CodeDenied, "this program has no way out of its container"))
		return errLetOut
	}
	if wire.WriteFrame(c.Stream, wire.Reply{}) != nil || c.SetDeadline(time.Time{}) != nil {
		return errLetOut
	}
	who.egress(l.life, c.Stream)
	return errLetOut
}

// Dial connects to a port of the container's own loopback. ctx bounds the dial and not
// the connection, which the caller closes. Errors wrap core.ErrNotFound where nothing
// listens, and core.ErrLinkDown.
func (l *Link) Dial(ctx context.Context, port uint16) (net.Conn, error) {
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, cancel)
	c, _, err := l.begin(life, wire.Request{Op: wire.OpDial, Port: port})
	if !stop() && err == nil { // ctx has ended meanwhile
		_ = c.Close()
		err = ctx.Err()
	}
	if err != nil {
		cancel()
		return nil, err
	}
	return &dialed{c, cancel}, nil
}

// Ports asks where Dial leads to. Names are fit for a screen.
func (l *Link) Ports(ctx context.Context) ([]core.ListeningPort, error) {
	p, err := l.call(ctx, wire.Request{Op: wire.OpPorts})
	if err != nil {
		return nil, err
	}
	out := make([]core.ListeningPort, 0, len(p.Ports))
	for _, o := range p.Ports {
		name := strings.Map(func(r rune) rune {
			if !strconv.IsPrint(r) {
				return '?'
			}
			return r
		}, o.Process)
		out = append(out, core.ListeningPort{Port: o.Port, Process: name})
	}
	return out, nil
}

// dialed is a connection into a container.
type dialed struct {
	*hostStream
	end context.CancelFunc
}

// CloseWrite says that nothing more comes from this side.
func (d *dialed) CloseWrite() error { return d.Stream.Close() }

// Close ends both directions: what still comes is for nobody.
func (d *dialed) Close() error {
	d.end()
	return d.hostStream.Close()
}
