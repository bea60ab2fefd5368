//go:build linux

package initd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/hashicorp/yamux"

	"loop/agentimage/guest/spawn"
	"loop/backend/wire"
)

// handle serves one stream of the host.
func (s *Server) handle(ctx context.Context, st *yamux.Stream) {
	defer func() { _ = st.Close() }()
	if st.SetDeadline(time.Now().Add(wire.RequestTimeout)) != nil {
		return
	}
	q, err := wire.ReadRequest(st)
	var body requestBody
	if err == nil {
		body, err = readBody(st, q)
	}
	if err != nil {
		_ = wire.WriteFrame(st, wire.Refuse(wire.CodeProtocol, err.Error()))
		return
	}
	if st.SetDeadline(time.Time{}) != nil {
		return
	}
	switch q.Op {
	case wire.OpStdin:
		s.stdin(ctx, st, q)
		return
	case wire.OpDial:
		s.dial(ctx, st, q)
		return
	case wire.OpQuestions:
		if err := s.Desk.Serve(st); err != nil && !errors.Is(err, io.EOF) && !st.Session().IsClosed() {
			s.Log.Warn("stream of questions", "err", err)
		}
		return
	}
	var out *output
	if q.Op == wire.OpRead {
		if out, err = s.output(q); err != nil {
			_ = wire.WriteFrame(st, refusal(err))
			return
		}
		defer out.hold.Release()
	}
	// A host that closes the stream ends what is under way. Until then it may send
	// marks and nothing else.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	watching := make(chan struct{})
	go func() {
		defer close(watching)
		if out != nil {
			out.follow(st)
		}
		_, _ = io.Copy(io.Discard, st)
		_ = st.SetWriteDeadline(time.Now()) // a blocked Write returns
		cancel()
	}()
	if out != nil {
		out.send(ctx, st)
	} else {
		p, err := s.answer(ctx, q, body)
		if err != nil {
			p = refusal(err)
		}
		if err := wire.WriteFrame(st, p); err != nil {
			// It could not be encoded; else the link is gone anyway.
			_ = wire.WriteFrame(st, wire.Refuse(wire.CodeInternal, err.Error()))
		}
	}
	_ = st.Close()
	_ = st.SetReadDeadline(time.Now().Add(wire.RequestTimeout)) // a host that never closes its half
	<-watching
}

func (s *Server) answer(ctx context.Context, q wire.Request, body requestBody) (wire.Reply, error) {
	switch q.Op {
	case wire.OpPing:
		return wire.Reply{}, nil
	case wire.OpList:
		return wire.Reply{Spawns: s.Spawns.List()}, nil
	case wire.OpPorts:
		ports, err := s.Spawns.Ports(ownPort)
		return wire.Reply{Ports: ports}, err
	case wire.OpSpawn:
		info, err := s.Spawns.Spawn(ctx, q.ID, *q.Spawn, body.Body)
		return wire.Reply{Info: &info}, err
	case wire.OpPolicy:
		state, err := s.Spawns.SetPolicy(ctx, q.ID, *q.Policy, body.policy)
		return wire.Reply{Policy: &state}, err
	case wire.OpResize:
		return wire.Reply{}, s.Spawns.Resize(q.ID, q.Cols, q.Rows)
	case wire.OpSignal:
		return wire.Reply{}, s.Spawns.Signal(q.ID, q.Signal)
	case wire.OpKill:
		return wire.Reply{}, s.Spawns.Kill(ctx, q.ID)
	case wire.OpWait:
		exit, err := s.Spawns.Wait(ctx, q.ID)
		return wire.Reply{Exit: &exit}, err
	case wire.OpForget:
		return wire.Reply{}, s.Spawns.Forget(ctx, q.ID)
	}
	return wire.Reply{}, wire.NewError(wire.CodeProtocol, fmt.Sprintf("op %q is not for this end", q.Op))
}

func refusal(err error) wire.Reply { return wire.Reply{Error: wire.AsError(err)} }

type requestBody struct {
	spawn.Body
	policy []byte
}

// readBody reads what follows a request.
func readBody(st *yamux.Stream, q wire.Request) (b requestBody, err error) {
	read := func(what string, size int64) (data []byte) {
		if err == nil {
			data = make([]byte, size)
			if _, rerr := io.ReadFull(st, data); rerr != nil {
				err = fmt.Errorf("read %s: %w", what, rerr)
			}
		}
		return data
	}
	switch q.Op {
	case wire.OpPolicy:
		b.policy = read("policy", q.Policy.Size)
	case wire.OpSpawn:
		// The body may be 16 MiB over a slow remote engine.
		_ = st.SetDeadline(time.Now().Add(6 * wire.RequestTimeout))
		if q.Spawn.HasStdin {
			b.Stdin = read("stdin of spawn", q.Spawn.StdinSize)
		}
		for _, f := range q.Spawn.Files {
			b.Files = append(b.Files, read("file "+f.Name+" of spawn", f.Size))
		}
		if q.Spawn.Policy != nil {
			b.Policy = read("policy of spawn", q.Spawn.Policy.Size)
		}
	}
	return b, err
}

// stdin feeds a program. Only an end mark closes its input: a link that breaks
// leaves it open for the next one. A program that does not read holds up this
// stream alone, and what waits here, at most a chunk, goes with its link.
func (s *Server) stdin(ctx context.Context, st *yamux.Stream, q wire.Request) {
	w, err := s.Spawns.Input(q.ID, q.Stream)
	if err != nil {
		_ = wire.WriteFrame(st, refusal(err))
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-st.Session().CloseChan():
			cancel()
		case <-w.Done():
			_ = st.SetReadDeadline(time.Now()) // what comes now reaches nobody
		case <-ctx.Done():
		}
	}()
	if wire.WriteFrame(st, wire.Reply{}) != nil {
		return
	}
	in := wire.NewChunkReader(st)
	buf := make([]byte, wire.MaxChunk)
	for {
		n, err := in.Read(buf)
		if n > 0 {
			if _, werr := w.Write(ctx, buf[:n]); werr != nil {
				if errors.Is(werr, os.ErrClosed) || errors.Is(werr, syscall.EIO) { // EIO: nothing has the terminal open
					werr = errEnded
				}
				_ = wire.WriteFrame(st, refusal(werr))
				return
			}
		}
		if errors.Is(err, io.EOF) {
			p := wire.Reply{}
			if err := w.Close(); err != nil {
				p = refusal(err)
			}
			_ = wire.WriteFrame(st, p)
			return
		}
		if err != nil {
			select {
			case <-w.Done():
				_ = wire.WriteFrame(st, refusal(errEnded))
			default:
			}
			return
		}
	}
}

// errEnded answers an input that nothing takes any more.
var errEnded = wire.NewError(wire.CodeEnded, "the program has ended")
