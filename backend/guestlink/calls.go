package guestlink

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/hashicorp/yamux"

	"loop/backend/core"
	"loop/backend/wire"
)

// hostStream is a stream that this end opened. Close gives its slot back.
type hostStream struct {
	*yamux.Stream
	release func() // once
}

func (s *hostStream) Close() error {
	s.release()
	return s.Stream.Close()
}

// stream opens one of ours, which ctx interrupts until it is closed.
func (l *Link) stream(ctx context.Context) (*hostStream, error) {
	select {
	case l.slots <- struct{}{}:
	case <-l.done:
		return nil, core.ErrLinkDown
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	st, err := l.session.OpenStream()
	if err != nil {
		<-l.slots
		return nil, l.down(ctx, err)
	}
	stop := context.AfterFunc(ctx, func() { _ = st.SetDeadline(time.Now()) })
	return &hostStream{st, sync.OnceFunc(func() { stop(); <-l.slots })}, nil
}

// down says why a stream failed: the caller's own context, the guest's refusal,
// or the link.
func (l *Link) down(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if e, ok := errors.AsType[*wire.Error](err); ok {
		return refused(e)
	}
	ended := errors.Is(err, io.EOF) || errors.Is(err, yamux.ErrStreamClosed) || errors.Is(err, yamux.ErrConnectionReset)
	if !ended && !l.session.IsClosed() {
		l.broken(err)
	}
	return fmt.Errorf("%w: %w", core.ErrLinkDown, err)
}

// begin opens a stream, sends the request and body, and reads the reply. The
// caller closes the stream.
func (l *Link) begin(ctx context.Context, q wire.Request, body ...[]byte) (c *hostStream, p wire.Reply, err error) {
	if err := q.Validate(); err != nil {
		return nil, p, core.Fail(core.CodeInvalid, err, "The request to the container is not valid: "+err.Error()+".", "")
	}
	if c, err = l.stream(ctx); err != nil {
		return nil, p, err
	}
	if err = wire.WriteFrame(c, q); err == nil {
		for _, b := range body {
			if _, err := c.Write(b); err != nil {
				break // the guest may have refused already; the reply says why
			}
		}
		p, err = wire.ReadReply(c)
	} else if errors.Is(err, wire.ErrTooLarge) {
		_ = c.Close()
		return nil, p, core.Fail(core.CodeInvalid, err, "The request to the container is too large.", "")
	}
	if err != nil {
		_ = c.Close()
		return nil, p, l.down(ctx, err)
	}
	return c, p, nil
}

// call is an exchange without bytes after the reply.
func (l *Link) call(ctx context.Context, q wire.Request, body ...[]byte) (wire.Reply, error) {
	c, p, err := l.begin(ctx, q, body...)
	if err == nil {
		_ = c.Close()
	}
	return p, err
}

// Spawn starts a process, or answers what an equal earlier request started.
func (l *Link) Spawn(ctx context.Context, req core.SpawnRequest) (core.SpawnInfo, error) {
	if l.opts.Gate != nil {
		l.opts.Gate.Starts(req.ID)
	}
	l.rules.starts(req.ID)
	q, body := spawnRequest(req)
	p, err := l.call(ctx, q, body...)
	l.probed(req, p.Info, err)
	if err != nil {
		if e, ok := errors.AsType[*wire.Error](err); ok && e.Code == wire.CodeNoProgram {
			return core.SpawnInfo{}, noProgram(e, req.Argv[0]) // a valid request has one
		}
		return core.SpawnInfo{}, err
	}
	if p.Info == nil || p.Info.ID != string(req.ID) {
		return core.SpawnInfo{}, l.down(ctx, errors.New("reply to spawn without its process"))
	}
	l.rules.began(req)
	return spawnInfo(*p.Info), nil
}

// probed tells the gate what a start has shown. A program with a policy begins only
// when its supervisor has answered a call that nothing but the production filter
// brings to it.
func (l *Link) probed(req core.SpawnRequest, info *wire.Info, err error) {
	if l.opts.Gate == nil || len(req.Policy) == 0 {
		return
	}
	if e, ok := errors.AsType[*wire.Error](err); err == nil || ok && e.Code == wire.CodeGate {
		l.opts.Gate.Probed(err, info != nil && info.Debuggers)
	}
}

// Spawns lists every process loop init remembers.
func (l *Link) Spawns(ctx context.Context) ([]core.SpawnInfo, error) {
	p, err := l.call(ctx, wire.Request{Op: wire.OpList})
	if err != nil {
		return nil, err
	}
	out := make([]core.SpawnInfo, 0, len(p.Spawns))
	for _, i := range p.Spawns {
		out = append(out, spawnInfo(i))
	}
	return out, nil
}

// Resize sets the size of a terminal.
func (l *Link) Resize(ctx context.Context, id core.SpawnID, cols, rows uint16) error {
	_, err := l.call(ctx, wire.Request{Op: wire.OpResize, ID: string(id), Cols: cols, Rows: rows})
	return err
}

// Signal sends a signal by name (SIGINT) to the program of a spawn.
func (l *Link) Signal(ctx context.Context, id core.SpawnID, signal string) error {
	_, err := l.call(ctx, wire.Request{Op: wire.OpSignal, ID: string(id), Signal: signal})
	return err
}

// Kill ends the whole tree. A ctx that ends first stops the wait, not the kill.
func (l *Link) Kill(ctx context.Context, id core.SpawnID) error {
	_, err := l.call(ctx, wire.Request{Op: wire.OpKill, ID: string(id)})
	return err
}

// Wait returns how the program ended, once it has.
func (l *Link) Wait(ctx context.Context, id core.SpawnID) (core.ExitStatus, error) {
	p, err := l.call(ctx, wire.Request{Op: wire.OpWait, ID: string(id)})
	if err != nil {
		return core.ExitStatus{}, err
	}
	if p.Exit == nil {
		return core.ExitStatus{}, l.down(ctx, errors.New("reply to wait without an exit"))
	}
	return exitStatus(*p.Exit), nil
}

// Forget drops an ended spawn with its spool and private directory. Whatever comes
// of that, nothing is asked in its name any more.
func (l *Link) Forget(ctx context.Context, id core.SpawnID) error {
	l.askers.dismiss(id)
	l.rules.dismiss(id)
	if l.opts.Gate != nil {
		l.opts.Gate.Dismiss(id)
	}
	_, err := l.call(ctx, wire.Request{Op: wire.OpForget, ID: string(id)})
	return err
}

// Ping is one round trip to loop init and back.
func (l *Link) Ping(ctx context.Context) (time.Duration, error) {
	start := time.Now()
	_, err := l.call(ctx, wire.Request{Op: wire.OpPing})
	return time.Since(start), err
}

func spawnRequest(req core.SpawnRequest) (wire.Request, [][]byte) {
	s := wire.Spawn{
		Argv: req.Argv, Dir: req.Dir, Stdio: string(req.Stdio), Cols: req.Cols, Rows: req.Rows,
		HasStdin: req.Stdin != nil, StdinSize: int64(len(req.Stdin)), OpenStdin: req.OpenStdin,
		StdinWithin: req.StdinWithin.Milliseconds(),
		Spool:       req.Keep == core.KeepSpool, Pause: req.Keep == core.KeepPause,
	}
	for _, p := range req.Pipes {
		s.Pipes = append(s.Pipes, wire.Pipe(p))
	}
	for _, e := range req.Env {
		s.Env = append(s.Env, e.Name+"="+e.Value)
	}
	body := [][]byte{req.Stdin}
	for _, f := range req.Files {
		s.Files = append(s.Files, wire.File{Name: f.Name, Size: int64(len(f.Data))})
		body = append(body, f.Data)
	}
	if req.Policy != nil {
		head := policyHead(req.PolicyVersion, req.Policy)
		s.Policy = &head
		body = append(body, req.Policy)
	}
	return wire.Request{Op: wire.OpSpawn, ID: string(req.ID), Spawn: &s}, body
}

func spawnInfo(i wire.Info) core.SpawnInfo {
	out := core.SpawnInfo{
		ID: core.SpawnID(i.ID), Pid: i.Pid, Stdio: core.Stdio(i.Stdio), Started: time.UnixMilli(i.Started),
		OutEnd: i.OutEnd, ErrEnd: i.ErrEnd, Paused: i.Paused, Gone: i.Gone,
		InEnd: i.InEnd, InOpen: i.InOpen,
		Detached: i.Detached[:min(len(i.Detached), wire.MaxDetached)],
	}
	if i.Exit != nil {
		out.Exit = new(exitStatus(*i.Exit))
	}
	return out
}

func exitStatus(e wire.Exit) core.ExitStatus {
	return core.ExitStatus{Code: e.Code, Signal: e.Signal, At: time.UnixMilli(e.At)}
}
