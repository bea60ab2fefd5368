package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"time"

	"loop/backend/core"
)

// boxes are containers with loop init. They outlive links and services.
type boxes struct {
	cli func(p *proc) // what the CLI does; runs in a goroutine of its own

	mu       sync.Mutex
	down     bool // the engine does not answer
	all      []*box
	noHello  bool
	warm     bool // containers of a channel serve again, as those with a scope do
	ports    []core.ListeningPort
	oom      bool
	oomLate  int // reports of an ended container until the kill for memory shows
	opened   int
	calls    []string
	ensure   func(ctx context.Context) error
	spawning func(core.SpawnRequest)                  // called before a spawn
	pour     func(l *fakeLink, b []byte) (int, error) // how much of an input is taken; nil: all of it
	setup    time.Duration                            // that the set-up of a container takes
}

type box struct {
	c             core.Container
	plan          bool // made for a planning run
	drained       bool // nobody joins
	deaf          bool // no link opens
	running       bool
	exit          int
	after         time.Duration // time from the stop to the removal; -1: never
	holders       []string      // runs
	others        bool          // others hold it too
	earlier       []string      // holders of earlier launches
	procs         map[core.SpawnID]*proc
	links         map[*fakeLink]bool
	admitted, was map[core.SpawnID]core.Identity // by spawn; admitted loses forgotten spawns, was keeps all
	dropped       []core.SpawnID
}

// proc is a spawned CLI. Its output can be read after its end, as from a spool.
type proc struct {
	req    core.SpawnRequest
	b      *boxes
	killed chan struct{}

	mu       sync.Mutex
	out      []byte
	err      []byte
	exit     *core.ExitStatus
	paused   string
	detached []string
	in       []byte // that an open stdin has taken
	inOpen   bool
	change   chan struct{}
}

// prompt is what a request says to the CLI; empty where it is no message.
func prompt(stdin []byte) string {
	var m struct {
		Type    string
		Message struct{ Role, Content string }
	}
	if json.Unmarshal(stdin, &m) != nil || m.Type != "user" || m.Message.Role != "user" || !bytes.HasSuffix(stdin, []byte("\n")) {
		return ""
	}
	return m.Message.Content
}

// prompt waits for the end of stdin, or the program's.
func (p *proc) prompt() string {
	for {
		p.mu.Lock()
		in, open, change := p.in, p.inOpen && p.exit == nil, p.change
		p.mu.Unlock()
		if !open {
			return prompt(in)
		}
		<-change
	}
}

func (p *proc) changed(fn func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fn()
	close(p.change)
	p.change = make(chan struct{})
}

func (p *proc) print(s string)  { p.changed(func() { p.out = append(p.out, s...) }) }
func (p *proc) stderr(s string) { p.changed(func() { p.err = append(p.err, s...) }) }
func (p *proc) end(code int) {
	p.changed(func() {
		if p.exit == nil {
			p.exit = &core.ExitStatus{Code: code}
		}
	})
}

func (p *proc) kill() {
	p.changed(func() {
		if p.exit == nil {
			p.exit = &core.ExitStatus{Code: 137, Signal: "SIGKILL"}
			close(p.killed)
		}
	})
}

var errEngine = core.Fail(core.CodeEngineLost, errors.New("connection refused"), "The container engine does not answer.", "Start it.")

func (b *boxes) note(format string, a ...any) {
	b.calls = append(b.calls, fmt.Sprintf(format, a...))
}

func (b *boxes) find(id core.ContainerID) *box {
	for _, x := range b.all {
		if x.c.ID == id {
			return x
		}
	}
	return nil
}

func (b *boxes) Ensure(ctx context.Context) error {
	if b.ensure != nil {
		return b.ensure(ctx)
	}
	return nil
}

func (b *boxes) Start(_ context.Context, spec core.Spec) (core.Container, error) {
	if b.setup > 0 {
		<-time.After(b.setup)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.down {
		return core.Container{}, errEngine
	}
	x := &box{
		c:    core.Container{ID: core.ContainerID(fmt.Sprint("box", len(b.all)+1)), RunID: spec.RunID, ChannelID: spec.ChannelID, Type: core.TypeAgent, Status: core.ContainerRunning, Fixed: spec.Fixed, Hash: spec.Hash},
		plan: spec.Plan, running: true, holders: []string{string(spec.RunID)}, after: -1, procs: map[core.SpawnID]*proc{}, links: map[*fakeLink]bool{}, admitted: map[core.SpawnID]core.Identity{}, was: map[core.SpawnID]core.Identity{},
	}
	b.all = append(b.all, x)
	b.note("start %s", x.c.ID)
	return x.c, nil
}

func (b *boxes) End(_ context.Context, id core.ContainerID, _ core.Holder) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.down {
		return errEngine
	}
	x := b.find(id)
	if x == nil {
		return core.ErrNotFound
	}
	if x.others {
		return core.ErrConflict
	}
	b.stop(x)
	return nil
}

// stop ends a container on request. The caller holds the lock.
func (b *boxes) stop(x *box) {
	if x.running {
		b.note("stop %s", x.c.ID)
	}
	b.halt(x, 143)
}

func (b *boxes) Join(spec core.Spec, h core.Holder) (core.Container, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, x := range b.all {
		if b.warm && x.running && !x.drained && !x.plan && !spec.Plan && !b.down && x.c.ChannelID == spec.ChannelID && x.c.Fixed == spec.Fixed {
			x.holders = append(x.holders, h.ID)
			b.note("join %s", x.c.ID)
			return x.c, true
		}
	}
	return core.Container{}, false
}

func (b *boxes) Release(_ context.Context, h core.Holder, e core.Ending) error {
	return b.giveBack(e, func(_ *box, id string) bool { return id == h.ID })
}

func (b *boxes) Left(core.HolderKind) (ids []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, x := range b.all {
		for _, id := range x.earlier {
			if slices.Contains(x.holders, id) {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// giveBack records how containers end, and stops them once the engine answers.
func (b *boxes) giveBack(e core.Ending, which func(x *box, holder string) bool) (err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, x := range b.all {
		before := len(x.holders)
		x.holders = slices.DeleteFunc(x.holders, func(id string) bool { return which(x, id) })
		x.drained = x.drained || e.Drain && before > len(x.holders)
		if b.warm && x.running && !x.drained && !x.plan {
			continue
		}
		if x.others || len(x.holders) > 0 || before == 0 {
			continue
		}
		x.after = max(e.Keep, 0)
		b.note("release %s for %s", x.c.ID, x.after)
		if b.down {
			err = errEngine
		} else {
			b.stop(x)
		}
	}
	return err
}

// back makes the engine answer again.
func (b *boxes) back() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.down = false
	for _, x := range b.all {
		if len(x.holders) == 0 && !x.others {
			b.stop(x)
		}
	}
}

// relaunch begins another launch of Loop.
func (b *boxes) relaunch() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, x := range b.all {
		x.earlier = slices.Clone(x.holders)
	}
}

// halt ends a container's processes and links. The caller holds the lock.
func (b *boxes) halt(x *box, code int) {
	if !x.running {
		return
	}
	x.running, x.exit, x.c.Status = false, code, core.ContainerStopped
	for _, p := range x.procs {
		p.kill()
	}
	for l := range x.links {
		l.breakOff()
	}
}

// die ends a container as if by itself.
func (b *boxes) die(i, code int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.halt(b.all[i], code)
}

func (b *boxes) Facts(_ context.Context, id core.ContainerID) (core.ContainerFacts, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.down {
		return core.ContainerFacts{}, errEngine
	}
	x := b.find(id)
	if x == nil {
		return core.ContainerFacts{}, core.ErrNotFound
	}
	oom := b.oom && !x.running
	if oom && b.oomLate > 0 {
		b.oomLate--
		oom = false
	}
	return core.ContainerFacts{ID: id, Running: x.running, ExitCode: x.exit, OOMKilled: oom}, nil
}

func (b *boxes) List() (out []core.Container) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, x := range b.all {
		out = append(out, x.c)
	}
	return out
}

// planned reports of each container, in order, whether it was made for a plan.
func (b *boxes) planned() (out []bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, x := range b.all {
		out = append(out, x.plan)
	}
	return out
}

// breakLinks cuts every link. The containers go on.
func (b *boxes) breakLinks() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, x := range b.all {
		for l := range x.links {
			l.breakOff()
		}
	}
}

func (b *boxes) Open(ctx context.Context, c core.Container) (core.Link, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.opened++
	x := b.find(c.ID)
	if b.down || b.noHello || x == nil || !x.running || x.deaf {
		return nil, core.Fail(core.CodeNoLink, core.ErrLinkDown, "Nothing answered in the container.", "Run “loop doctor”.")
	}
	l := &fakeLink{b: b, x: x, done: make(chan struct{})}
	x.links[l] = true
	return l, ctx.Err()
}

type fakeLink struct {
	b    *boxes
	x    *box
	once sync.Once
	done chan struct{}
}

func (l *fakeLink) breakOff() { l.once.Do(func() { close(l.done) }) }

func (l *fakeLink) proc(id core.SpawnID) (*proc, error) {
	select {
	case <-l.done:
		return nil, fmt.Errorf("call: %w", core.ErrLinkDown)
	default:
	}
	l.b.mu.Lock()
	defer l.b.mu.Unlock()
	p := l.x.procs[id]
	if p == nil {
		return nil, core.ErrNotFound
	}
	return p, nil
}

func (l *fakeLink) Spawn(_ context.Context, req core.SpawnRequest) (core.SpawnInfo, error) {
	if p, err := l.proc(req.ID); err == nil || errors.Is(err, core.ErrLinkDown) {
		_ = p
		return core.SpawnInfo{ID: req.ID}, err
	}
	if l.b.spawning != nil {
		l.b.spawning(req)
	}
	p := &proc{req: req, b: l.b, in: req.Stdin, inOpen: req.OpenStdin, killed: make(chan struct{}), change: make(chan struct{})}
	l.b.mu.Lock()
	l.x.procs[req.ID] = p
	l.b.note("spawn in %s", l.x.c.ID)
	l.b.mu.Unlock()
	go l.b.cli(p)
	return core.SpawnInfo{ID: req.ID}, nil
}

func (l *fakeLink) Spawns(context.Context) (out []core.SpawnInfo, err error) {
	if _, err := l.proc(""); errors.Is(err, core.ErrLinkDown) {
		return nil, err
	}
	l.b.mu.Lock()
	defer l.b.mu.Unlock()
	for id, p := range l.x.procs {
		p.mu.Lock()
		out = append(out, core.SpawnInfo{ID: id, Exit: p.exit, OutEnd: int64(len(p.out)), ErrEnd: int64(len(p.err)), Paused: p.paused, Detached: p.detached,
			InEnd: int64(len(p.in)), InOpen: p.inOpen})
		p.mu.Unlock()
	}
	return out, nil
}

func (l *fakeLink) Read(_ context.Context, id core.SpawnID, stream string, offset int64) (io.ReadCloser, error) {
	p, err := l.proc(id)
	if err != nil {
		return nil, err
	}
	return &procReader{p: p, errs: stream == "err", off: offset, link: l.done, closed: make(chan struct{})}, nil
}

func (l *fakeLink) ReadHeld(ctx context.Context, id core.SpawnID, stream string, offset int64) (io.ReadCloser, error) {
	return l.Read(ctx, id, stream, offset)
}

func (l *fakeLink) Kill(_ context.Context, id core.SpawnID) error {
	p, err := l.proc(id)
	if err != nil {
		return err
	}
	l.b.mu.Lock()
	l.b.note("kill")
	l.b.mu.Unlock()
	p.kill()
	return nil
}

func (l *fakeLink) Wait(ctx context.Context, id core.SpawnID) (core.ExitStatus, error) {
	p, err := l.proc(id)
	for err == nil {
		p.mu.Lock()
		exit, change := p.exit, p.change
		p.mu.Unlock()
		if exit != nil {
			return *exit, nil
		}
		select {
		case <-change:
		case <-l.done:
			err = core.ErrLinkDown
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	return core.ExitStatus{}, err
}

func (l *fakeLink) Forget(_ context.Context, id core.SpawnID) error {
	if _, err := l.proc(id); err != nil {
		return err
	}
	l.b.mu.Lock()
	defer l.b.mu.Unlock()
	delete(l.x.procs, id)
	delete(l.x.admitted, id)
	l.x.dropped = append(l.x.dropped, id)
	l.b.note("forget")
	return nil
}

func (l *fakeLink) Feed(context.Context, core.SpawnID, int) (io.WriteCloser, error) {
	return nil, core.ErrNotFound
}

func (l *fakeLink) Dial(context.Context, uint16) (net.Conn, error)      { return nil, core.ErrNotFound }
func (l *fakeLink) Ports(context.Context) ([]core.ListeningPort, error) { return l.b.ports, nil }

func (l *fakeLink) Admit(spawn core.SpawnID, who core.Identity) {
	l.b.mu.Lock()
	defer l.b.mu.Unlock()
	l.x.admitted[spawn], l.x.was[spawn] = who, who
}

func (l *fakeLink) Stdin(_ context.Context, id core.SpawnID) (io.WriteCloser, error) {
	p, err := l.proc(id)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.inOpen || p.exit != nil {
		return nil, core.Fail(core.CodeConflict, core.ErrConflict, "The spawn has no open stdin.", "")
	}
	return &procInput{p: p, l: l}, nil
}

// procInput writes to an open stdin. As in a Link, there is no end mark after a write that
// failed.
type procInput struct {
	p      *proc
	l      *fakeLink
	failed error
}

func (w *procInput) Write(b []byte) (n int, err error) {
	if n = len(b); w.l.b.pour != nil {
		n, err = w.l.b.pour(w.l, b)
	}
	w.p.changed(func() { w.p.in = append(w.p.in, b[:n]...) })
	w.failed = err
	return n, err
}

func (w *procInput) Close() error {
	select {
	case <-w.l.done:
		return core.ErrLinkDown
	default:
	}
	if w.failed != nil {
		return w.failed
	}
	w.p.changed(func() { w.p.inOpen = false })
	return nil
}

func (l *fakeLink) Resize(context.Context, core.SpawnID, uint16, uint16) error { return nil }
func (l *fakeLink) Signal(context.Context, core.SpawnID, string) error         { return nil }
func (l *fakeLink) Ping(context.Context) (time.Duration, error)                { return 0, nil }
func (l *fakeLink) Done() <-chan struct{}                                      { return l.done }
func (l *fakeLink) Close() error                                               { l.breakOff(); return nil }

// procReader follows a stream. With a nil link it reads the present output, as from a
// file.
type procReader struct {
	p      *proc
	errs   bool
	off    int64
	link   <-chan struct{}
	file   bool
	once   sync.Once
	closed chan struct{}
}

func (r *procReader) Read(b []byte) (int, error) {
	for {
		select {
		case <-r.link:
			return 0, fmt.Errorf("read: %w", core.ErrLinkDown)
		case <-r.closed:
			return 0, io.ErrClosedPipe
		default:
		}
		r.p.mu.Lock()
		data := r.p.out
		if r.errs {
			data = r.p.err
		}
		exit, change := r.p.exit, r.p.change
		n := 0
		if r.off < int64(len(data)) {
			n = copy(b, data[r.off:])
			r.off += int64(n)
		}
		r.p.mu.Unlock()
		if n > 0 {
			return n, nil
		}
		if exit != nil || r.file {
			return 0, io.EOF
		}
		select {
		case <-change:
		case <-r.link:
		case <-r.closed:
		}
	}
}

func (r *procReader) Close() error { r.once.Do(func() { close(r.closed) }); return nil }

// spoolFiles shows the boxes' spools as files on the host.
type spoolFiles struct{ b *boxes }

func (s spoolFiles) find(id core.SpawnID) *proc {
	s.b.mu.Lock()
	defer s.b.mu.Unlock()
	for _, x := range s.b.all {
		if p := x.procs[id]; p != nil {
			return p
		}
	}
	return nil
}

func (s spoolFiles) Open(_ context.Context, _ core.ChannelID, id core.SpawnID, off int64) (io.ReadCloser, error) {
	p := s.find(id)
	if p == nil {
		return nil, core.ErrNotFound
	}
	return &procReader{p: p, off: off, file: true, closed: make(chan struct{})}, nil
}

func (s spoolFiles) Exit(_ context.Context, _ core.ChannelID, id core.SpawnID) (core.ExitStatus, bool) {
	return core.ExitStatus{}, false // loop init died with its container
}

func (s spoolFiles) Drop(_ context.Context, _ core.ChannelID, id core.SpawnID) error {
	s.b.mu.Lock()
	defer s.b.mu.Unlock()
	s.b.note("drop spool")
	return nil
}
