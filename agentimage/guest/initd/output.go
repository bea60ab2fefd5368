//go:build linux

package initd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/hashicorp/yamux"

	"loop/agentimage/guest/spool"
	"loop/backend/wire"
)

// output is one reader of one stream of a spawn.
type output struct {
	log  *spool.Log
	off  int64
	hold *spool.Hold // nil when the program does not wait for this reader
}

// output finds where the bytes start: at the offset asked for, or at the first
// one still there.
func (s *Server) output(q wire.Request) (*output, error) {
	log, err := s.Spawns.Output(q.ID, q.Stream)
	if err != nil {
		return nil, err
	}
	base, end, _ := log.State()
	if q.Offset > end {
		return nil, wire.NewError(wire.CodeInvalid, fmt.Sprintf("offset %d is beyond the end %d", q.Offset, end))
	}
	o := &output{log: log, off: max(q.Offset, base)}
	if q.Hold > 0 {
		o.hold, o.off = log.Hold(q.Offset, q.Hold)
	}
	return o, nil
}

// follow takes the host's marks until it has left, or says what cannot be.
func (o *output) follow(r io.Reader) {
	if o.hold == nil {
		return
	}
	defer o.hold.Release() // at once: the writer of the bytes may be blocked
	for {
		off, err := wire.ReadMark(r)
		if err != nil || !o.hold.Taken(off) {
			return
		}
	}
}

// Under a flood a terminal gives 4 KiB at a time, and each piece costs every
// process between here and the app a wake-up: a piece that follows another within
// linger waits for as long to become larger.
const (
	linger  = 2 * time.Millisecond
	gathers = wire.MaxChunk
)

// send writes the reply, then the bytes until the program ended and everything
// was sent.
func (o *output) send(ctx context.Context, st *yamux.Stream) {
	if wire.WriteFrame(st, wire.Reply{Offset: o.off}) != nil {
		return
	}
	out := wire.NewChunkWriter(st)
	buf := make([]byte, wire.MaxChunk)
	var sent time.Time
	for {
		if o.hold != nil && time.Since(sent) < linger {
			o.log.Gather(ctx, o.off+gathers, linger)
		}
		n, err := o.log.Next(ctx, buf, o.off)
		if n > 0 {
			sent = time.Now()
			if _, err := out.Write(buf[:n]); err != nil {
				return
			}
			o.off += int64(n)
			continue
		}
		if errors.Is(err, io.EOF) {
			_ = out.End(wire.Reply{Offset: o.off})
		} else if ctx.Err() == nil {
			_ = out.End(refusal(err))
		}
		return
	}
}
