package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"

	"github.com/coder/websocket"

	"loop/backend/core"
	"loop/backend/instance"
)

// maxEventBytes bounds one batch of events that a running instance sends.
const maxEventBytes = 64 << 20

// remote is Core over the loopback API of a running instance.
type remote struct {
	*instance.Client
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup // followers
}

func newRemote(i instance.Info) (*remote, error) {
	c, err := instance.NewClient(i)
	if err != nil {
		return nil, err
	}
	r := &remote{Client: c}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	return r, nil
}

// Close ends every follower and waits for them.
func (r *remote) Close() error {
	r.cancel()
	r.wg.Wait()
	r.HTTP.CloseIdleConnections()
	return nil
}

// passing reports whether c is the Loop of another command. Its runs outlive it:
// whoever follows one of them takes over.
func passing(c Core) bool {
	r, ok := c.(*remote)
	return ok && r.Command
}

// dial opens a WebSocket of the instance. The caller closes it.
func (r *remote) dial(ctx context.Context, path string) (*websocket.Conn, error) {
	u := *r.Base.JoinPath(path)
	u.Scheme = "ws"
	//nolint:bodyclose // Dial closes the body itself and leaves a copy in memory
	conn, res, err := websocket.Dial(ctx, u.String(), &websocket.DialOptions{
		HTTPClient:   r.HTTP,
		Subprotocols: []string{"loop", "loop.token." + r.Token},
	})
	switch {
	case err == nil:
		return conn, nil
	case res != nil && res.StatusCode >= http.StatusBadRequest:
		return nil, instance.Refused(path, res.StatusCode, nil)
	}
	return nil, r.Lost(ctx, fmt.Errorf("open %s: %w", path, err))
}

// Events follows the WebSocket. The goroutine ends with ctx, Close, or the
// connection; it closes the channel then.
func (r *remote) Events(ctx context.Context) (<-chan []core.Event, error) {
	conn, err := r.dial(ctx, "api/ws")
	if err != nil {
		return nil, err
	}
	conn.SetReadLimit(maxEventBytes)
	out := make(chan []core.Event)
	ctx, stop := context.WithCancel(ctx)
	detach := context.AfterFunc(r.ctx, stop)
	r.wg.Go(func() {
		defer close(out)
		defer conn.CloseNow()
		defer stop()
		defer detach()
		for {
			kind, data, err := conn.Read(ctx)
			if err != nil {
				return
			}
			var batch []core.Event
			if kind != websocket.MessageText || json.Unmarshal(data, &batch) != nil {
				return // not what Loop sends; the caller tries again or reads the timeline
			}
			select {
			case out <- batch:
			case <-ctx.Done():
				return
			}
		}
	})
	return out, nil
}
