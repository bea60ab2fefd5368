package provision

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"

	"loop/backend/core"
)

// programLink plays one program in a container.
type programLink struct {
	core.Link
	req      core.SpawnRequest
	out, err io.Reader
	exit     core.ExitStatus
	fail     error

	mu     sync.Mutex
	opened int
	closed int
	ended  []string // calls on the spawn after its end
}

func (l *programLink) Kill(context.Context, core.SpawnID) error {
	l.ended = append(l.ended, "kill")
	return nil
}

func (l *programLink) Spawn(_ context.Context, req core.SpawnRequest) (core.SpawnInfo, error) {
	l.req = req
	return core.SpawnInfo{ID: req.ID}, l.fail
}

func (l *programLink) ReadHeld(ctx context.Context, _ core.SpawnID, stream string, _ int64) (io.ReadCloser, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.opened++
	r := map[string]io.Reader{"out": l.out, "err": l.err}[stream]
	if r == nil {
		pr, pw := io.Pipe()
		context.AfterFunc(ctx, func() { _ = pw.Close() })
		r = pr
	}
	return &counted{r, l}, nil
}

func (l *programLink) Wait(context.Context, core.SpawnID) (core.ExitStatus, error) {
	return l.exit, nil
}

type counted struct {
	io.Reader
	l *programLink
}

func (c *counted) Close() error {
	c.l.mu.Lock()
	defer c.l.mu.Unlock()
	c.l.closed++
	if r, ok := c.Reader.(io.Closer); ok {
		return r.Close()
	}
	return nil
}

func TestOutputOf(t *testing.T) {
	l := &programLink{out: strings.NewReader(strings.Repeat("x", 1000+100)), err: strings.NewReader("oh"), exit: core.ExitStatus{Code: 3}}
	out, err := OutputOf(t.Context(), l, core.SpawnRequest{
		ID: "s", Argv: []string{"git", "status"}, Dir: "/p", Stdio: core.StdioPipes, Keep: core.KeepPause,
	}, 1000)
	if err != nil || out.Code != 3 || len(out.Stdout) != 1000 || out.Stderr != "oh" {
		t.Errorf("%d, %d bytes, %q, %v", out.Code, len(out.Stdout), out.Stderr, err)
	}
	if l.req.Dir != "/p" || l.req.Stdio != core.StdioPipes || l.req.Keep != core.KeepPause || l.req.OpenStdin || l.req.Stdin != nil {
		t.Errorf("%+v", l.req)
	}
	if l.closed < l.opened {
		t.Errorf("%d streams opened, %d closed", l.opened, l.closed)
	}
	if got := strings.Join(l.ended, " "); got != "kill" {
		t.Errorf("afterwards: %q", got)
	}
}

func TestOutputOfIsBrokenOff(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	l := &programLink{out: strings.NewReader("")} // its errors never end
	cancel()
	if _, err := OutputOf(ctx, l, core.SpawnRequest{Argv: []string{"sleep"}, Dir: "/"}, 1000); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	l = &programLink{fail: core.ErrLinkDown}
	if _, err := OutputOf(t.Context(), l, core.SpawnRequest{ID: "s", Argv: []string{"x"}, Dir: "/"}, 1000); !errors.Is(err, core.ErrLinkDown) {
		t.Error(err)
	}
}
