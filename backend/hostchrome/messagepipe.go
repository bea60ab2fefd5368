package hostchrome

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"

	"github.com/coder/websocket"
)

// maxCommand bounds one message to Chrome, in bytes, as messages from it are in package
// chrome.
const maxCommand = 64 << 20

var (
	errBinary  = errors.New("Chrome sent a message that is not text")
	errNUL     = errors.New("Chrome sent a message with a NUL byte in it")
	errCommand = errors.New("the message to Chrome is longer than 64 MiB")
)

// socket is a WebSocket of which a message is followed by a NUL on two byte streams, as
// Chrome has it on pipes. A message is passed on as it comes: whoever reads bounds it.
type socket struct {
	ws    *websocket.Conn
	ctx   context.Context // ends with Close
	end   context.CancelFunc
	close func() error // once
}

func newSocket(ctx context.Context, ws *websocket.Conn) *socket {
	ws.SetReadLimit(-1)
	s := &socket{ws: ws}
	s.ctx, s.end = context.WithCancel(context.WithoutCancel(ctx))
	s.close = sync.OnceValue(func() error {
		s.end()
		_ = ws.CloseNow() // it says that Chrome has gone first, or nothing
		return nil
	})
	return s
}

// answers is what Chrome says. Reads are from one goroutine.
type answers struct {
	*socket
	now io.Reader // the rest of the message that is read; nil between two
	nul bool      // a NUL is due
}

func (a *answers) Close() error { return a.close() }

func (a *answers) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for {
		if a.nul {
			a.nul, p[0] = false, 0
			return 1, nil
		}
		if a.now == nil {
			kind, r, err := a.ws.Reader(a.ctx)
			if err != nil {
				return 0, err
			}
			if kind != websocket.MessageText {
				return 0, errBinary
			}
			a.now = r
		}
		n, err := a.now.Read(p)
		if bytes.IndexByte(p[:n], 0) >= 0 {
			return 0, errNUL // two messages would be made of one
		}
		if errors.Is(err, io.EOF) {
			a.now, a.nul, err = nil, true, nil
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

// commands is where Chrome reads. Writes are from one goroutine.
type commands struct {
	*socket
	rest []byte // the beginning of a message whose NUL has not come
}

func (c *commands) Close() error { return c.close() }

func (c *commands) Write(p []byte) (n int, err error) {
	for len(p) > 0 {
		i := bytes.IndexByte(p, 0)
		part := p
		if i >= 0 {
			part = p[:i]
		}
		if len(c.rest)+len(part) > maxCommand {
			return n, errCommand
		}
		if i < 0 {
			c.rest = append(c.rest, part...)
			return n + len(part), nil
		}
		whole := part
		if len(c.rest) > 0 {
			whole = append(c.rest, part...)
		}
		if err := c.ws.Write(c.ctx, websocket.MessageText, whole); err != nil {
			return n, err
		}
		c.rest, p = nil, p[i+1:]
		n += i + 1
	}
	return n, nil
}
