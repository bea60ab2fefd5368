package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/coder/websocket"

	"loop/backend/core"
)

// Codes that only this side knows.
const (
	codeUnauthorized core.Code = "unauthorized"  // the running instance's word for a wrong token
	codeLost         core.Code = "instance_lost" // nothing answers there any more
)

// Bounds on what a running instance may send.
const (
	maxAnswerBytes = 64 << 20
	maxEventBytes  = 64 << 20 // one batch of events
	maxInstance    = 64 << 10
)

// instance is what a running Loop writes into its folder.
type instance struct {
	PID     int    `json:"pid"`
	URL     string `json:"url"`
	Token   string `json:"token"`
	Version string `json:"version"`
	// Command says that it is the Loop of one command, which ends with it.
	Command bool `json:"command"`
}

func readInstance(home string) (instance, error) {
	var i instance
	name := filepath.Join(home, "instance.json")
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return i, errors.New("open instance file: it is no file") // opening a named pipe would wait for its other end
	}
	f, err := os.Open(name)
	if err != nil {
		return i, fmt.Errorf("open instance file: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxInstance))
	if err != nil {
		return i, fmt.Errorf("read instance file: %w", err)
	}
	if err := json.Unmarshal(data, &i); err != nil {
		return i, fmt.Errorf("read instance file: %w", err)
	}
	return i, nil
}

// remote is Core over the loopback API of a running instance.
type remote struct {
	base  *url.URL
	token string
	pid   int
	// passing is for the Loop of another command: its end is no end of the runs it
	// had, and whoever follows one of them takes over.
	passing bool
	client  *http.Client
	ctx     context.Context
	cancel  context.CancelFunc
	wg      sync.WaitGroup // followers
}

func newRemote(i instance) (*remote, error) {
	u, err := url.Parse(i.URL)
	if err != nil {
		return nil, fmt.Errorf("read instance address: %w", err)
	}
	ip := net.ParseIP(u.Hostname())
	here := u.Scheme == "http" && (u.Hostname() == "localhost" || ip != nil && ip.IsLoopback())
	if !here || i.Token == "" || strings.ContainsAny(i.Token, " ,\r\n") {
		return nil, errors.New("read instance address: not a loopback address with a token")
	}
	r := &remote{base: u, token: i.Token, pid: i.PID, passing: i.Command, client: localClient()}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	return r, nil
}

// Close ends every follower and waits for them.
func (r *remote) Close() error {
	r.cancel()
	r.wg.Wait()
	r.client.CloseIdleConnections()
	return nil
}

func (r *remote) health(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.base.JoinPath("api/health").String(), nil)
	if err != nil {
		return fmt.Errorf("ask for health: %w", err)
	}
	res, err := r.client.Do(req)
	if err != nil {
		return fmt.Errorf("ask for health: %w", err)
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, maxInstance))
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("ask for health: %s", res.Status)
	}
	return nil
}

// Call posts the arguments as a JSON array.
func (r *remote) Call(ctx context.Context, method string, args ...any) (json.RawMessage, error) {
	if args == nil {
		args = []any{}
	}
	body, err := json.Marshal(args)
	if err != nil {
		return nil, fmt.Errorf("encode arguments of %s: %w", method, err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.base.JoinPath("api/call", method).String(), bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("call %s: %w", method, err)
	}
	req.Header.Set("Authorization", "Bearer "+r.token)
	req.Header.Set("Content-Type", "application/json")
	res, err := r.client.Do(req)
	if err != nil {
		return nil, r.lost(ctx, fmt.Errorf("call %s: %w", method, err))
	}
	defer res.Body.Close()
	data, err := io.ReadAll(io.LimitReader(res.Body, maxAnswerBytes+1))
	if err != nil {
		return nil, r.lost(ctx, fmt.Errorf("call %s: %w", method, err))
	}
	if len(data) > maxAnswerBytes {
		return nil, core.Fail(core.CodeInternal, nil, "The running Loop gave an answer that is too long.", "Ask for less at a time.")
	}
	if res.StatusCode != http.StatusOK {
		return nil, failureOf(method, res.StatusCode, data)
	}
	if len(bytes.TrimSpace(data)) == 0 {
		data = []byte("null")
	}
	return data, nil
}

// failureOf reads a Failure out of an answer.
func failureOf(method string, status int, data []byte) error {
	var f core.Failure
	if err := json.Unmarshal(data, &f); err == nil && f.Cause != "" {
		return &f
	}
	code := core.CodeInternal
	if status == http.StatusUnauthorized || status == http.StatusForbidden {
		code = codeUnauthorized
	}
	f = *core.Fail(code, nil, "The running Loop refused the call.",
		"Close it and start it again; if that does not help, run “loop doctor”.")
	f.Detail = fmt.Sprintf("%s: status %d: %s", method, status, oneLine(string(data), 300))
	return &f
}

func (r *remote) lost(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return core.Fail(codeLost, err, fmt.Sprintf("The running Loop (process %d) went away.", r.pid),
		"Start Loop again: runs that were under way go on or are shown as interrupted.")
}

// Events follows the WebSocket. The goroutine ends with ctx, Close, or the
// connection; it closes the channel then.
func (r *remote) Events(ctx context.Context) (<-chan []core.Event, error) {
	u := *r.base.JoinPath("api/ws")
	u.Scheme = "ws"
	//nolint:bodyclose // Dial closes the body itself and leaves a copy in memory
	conn, res, err := websocket.Dial(ctx, u.String(), &websocket.DialOptions{
		HTTPClient:   r.client,
		Subprotocols: []string{"loop", "loop.token." + r.token},
	})
	if err != nil {
		if res != nil && res.StatusCode >= 400 {
			return nil, failureOf("events", res.StatusCode, nil)
		}
		return nil, r.lost(ctx, fmt.Errorf("follow events: %w", err))
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
