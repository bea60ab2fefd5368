package hostrun

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"loop/backend/core"
	"loop/backend/wire"
)

var _ core.Link = (*Link)(nil)

// Link is the programs of one run, as a link into its container would show them. It
// breaks only by Close.
type Link struct {
	s    *Service
	run  core.RunID
	ch   core.ChannelID
	once sync.Once
	done chan struct{}
}

// Link makes a link; the caller closes it.
func (s *Service) Link(run core.RunID, ch core.ChannelID) (*Link, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, fmt.Errorf("open link: loop is closing: %w", core.ErrLinkDown)
	}
	if !filepath.IsLocal(string(ch)) {
		return nil, core.Fail(core.CodeInvalid, nil, fmt.Sprintf("The channel id %q is not valid.", ch), "")
	}
	return &Link{s: s, run: run, ch: ch, done: make(chan struct{})}, nil
}

// Done implements core.Link.
func (l *Link) Done() <-chan struct{} { return l.done }

// Close implements core.Link. Programs go on.
func (l *Link) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

func (l *Link) up() error {
	select {
	case <-l.done:
		return core.ErrLinkDown
	default:
		return nil
	}
}

func (l *Link) find(id core.SpawnID) (*spawn, error) {
	if err := l.up(); err != nil {
		return nil, err
	}
	return l.s.find(l.run, id)
}

// Spawn implements core.Link. A program that is not there is a *core.Failure with
// CodeNotFound that says how to install it.
func (l *Link) Spawn(ctx context.Context, req core.SpawnRequest) (core.SpawnInfo, error) {
	if err := errors.Join(l.up(), ctx.Err()); err != nil {
		return core.SpawnInfo{}, err
	}
	sp, err := l.s.start(l.run, l.ch, req)
	if err != nil {
		return core.SpawnInfo{}, err
	}
	return l.s.info(sp), nil
}

// Spawns implements core.Link. One that ended while no Loop ran is not listed, because
// nobody knows how.
func (l *Link) Spawns(context.Context) ([]core.SpawnInfo, error) {
	if err := l.up(); err != nil {
		return nil, err
	}
	var out []core.SpawnInfo
	for _, sp := range l.s.of(l.run) {
		if !sp.over() || !sp.lost {
			out = append(out, l.s.info(sp))
		}
	}
	return out, nil
}

func (s *Service) info(sp *spawn) core.SpawnInfo {
	i := core.SpawnInfo{
		ID: sp.Spawn, Pid: sp.prog.Ref().PID, Stdio: core.StdioPipes, Started: sp.Started,
		OutEnd: s.size(sp, wire.OutSuffix), ErrEnd: s.size(sp, wire.ErrSuffix), Detached: sp.prog.Detached(),
	}
	sp.mu.Lock()
	i.Paused = sp.paused
	sp.mu.Unlock()
	if sp.over() {
		exit := sp.exit
		i.Exit = &exit
	}
	return i
}

// Read implements core.Link.
func (l *Link) Read(ctx context.Context, id core.SpawnID, stream string, offset int64) (io.ReadCloser, error) {
	sp, err := l.find(id)
	if err != nil {
		return nil, err
	}
	suffix := map[string]string{wire.StreamOut: wire.OutSuffix, wire.StreamErr: wire.ErrSuffix}[stream]
	if suffix == "" || offset < 0 {
		return nil, core.Fail(core.CodeInvalid, nil, fmt.Sprintf("There is no stream %q from %d.", stream, offset), "")
	}
	f, err := os.Open(l.s.spool(sp, suffix))
	if err != nil {
		return nil, fmt.Errorf("open spool: %w", err)
	}
	if _, err := f.Seek(offset, io.SeekStart); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &tail{f: f, ctx: ctx, link: l, sp: sp, at: offset}, nil
}

// ReadHeld implements core.Link. A file loses nothing, so that it is Read.
func (l *Link) ReadHeld(ctx context.Context, id core.SpawnID, stream string, offset int64) (io.ReadCloser, error) {
	return l.Read(ctx, id, stream, offset)
}

// tailEvery is the pause between looks for more output; a person notices none of it.
const tailEvery = 15 * time.Millisecond

// tail reads a file until the program that writes it has ended.
type tail struct {
	f    *os.File
	ctx  context.Context
	link *Link
	sp   *spawn
	at   int64 // where it began
}

// Offset is where the stream began.
func (t *tail) Offset() int64 { return t.at }

func (t *tail) Read(b []byte) (int, error) {
	tick := time.NewTicker(tailEvery)
	defer tick.Stop()
	for {
		if err := errors.Join(t.link.up(), t.ctx.Err()); err != nil {
			return 0, err
		}
		over := t.sp.over() // before the read: what it wrote last is read then
		n, err := t.f.Read(b)
		switch {
		case n > 0 || err != nil && !errors.Is(err, io.EOF):
			return n, err
		case over && t.sp.lost:
			return 0, fmt.Errorf("spawn %s ended while Loop did not run: %w", t.sp.Spawn, core.ErrNotFound)
		case over:
			return 0, io.EOF
		}
		select {
		case <-tick.C:
		case <-t.sp.done:
		case <-t.link.done:
		case <-t.ctx.Done():
		}
	}
}

func (t *tail) Close() error { return t.f.Close() }

// Stdin implements core.Link: all input is in the request.
func (l *Link) Stdin(_ context.Context, id core.SpawnID) (io.WriteCloser, error) {
	return nil, l.cannot(id, "takes no input after its start")
}

// Feed implements core.Link.
func (l *Link) Feed(_ context.Context, id core.SpawnID, _ int) (io.WriteCloser, error) {
	return nil, l.cannot(id, "has no pipe to feed")
}

// Resize implements core.Link.
func (l *Link) Resize(_ context.Context, id core.SpawnID, _, _ uint16) error {
	return l.cannot(id, "has no terminal")
}

func (l *Link) cannot(id core.SpawnID, why string) error {
	if _, err := l.find(id); err != nil {
		return err
	}
	return core.Fail(core.CodeInvalid, nil, "A program on this computer itself "+why+".", "")
}

// Signal implements core.Link, for the program alone.
func (l *Link) Signal(_ context.Context, id core.SpawnID, signal string) error {
	sp, err := l.find(id)
	if err != nil {
		return err
	}
	return sp.prog.Signal(signal)
}

// Kill implements core.Link.
func (l *Link) Kill(ctx context.Context, id core.SpawnID) error {
	sp, err := l.find(id)
	if err != nil {
		return err
	}
	if err := sp.prog.End(ctx); err != nil {
		return fmt.Errorf("end process tree: %w", err)
	}
	return nil
}

// Wait implements core.Link. A program whose end nobody saw is core.ErrNotFound.
func (l *Link) Wait(ctx context.Context, id core.SpawnID) (core.ExitStatus, error) {
	sp, err := l.find(id)
	if err != nil {
		return core.ExitStatus{}, err
	}
	select {
	case <-sp.done:
	case <-ctx.Done():
		return core.ExitStatus{}, ctx.Err()
	case <-l.done:
		return core.ExitStatus{}, core.ErrLinkDown
	}
	if sp.lost {
		return core.ExitStatus{}, fmt.Errorf("spawn %s ended while Loop did not run: %w", id, core.ErrNotFound)
	}
	return sp.exit, nil
}

// Forget implements core.Link.
func (l *Link) Forget(ctx context.Context, id core.SpawnID) error {
	sp, err := l.find(id)
	if err != nil {
		return err
	}
	return l.s.forget(ctx, sp)
}

// Ping implements core.Link.
func (l *Link) Ping(context.Context) (time.Duration, error) { return 0, l.up() }

// Dial implements core.Link: ports of this computer are not led anywhere.
func (l *Link) Dial(context.Context, uint16) (net.Conn, error) {
	return nil, errors.Join(l.up(), core.ErrNotFound)
}

// Ports implements core.Link: which ports of this computer are an agent's, nobody knows.
func (l *Link) Ports(context.Context) ([]core.ListeningPort, error) { return nil, l.up() }

// Admit implements core.Link. Programs on this computer show a token instead.
func (l *Link) Admit(core.SpawnID, core.Identity) {}
