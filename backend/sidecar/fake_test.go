package sidecar

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"loop/backend/core"
	"loop/backend/provision"
	"loop/backend/sandbox"
)

const (
	install = "install-1"
	channel = core.ChannelID("ch")
)

// world is everything around a Starter: an engine, its containers and what runs in them.
type world struct {
	t        *testing.T
	s        *Starter
	chromium func(p *program) // plays Chromium until its pipes end

	mu        sync.Mutex
	list      []core.Container
	programs  []*program
	calls     []string
	limits    []core.Limits
	volumes   map[string]map[string]string // labels by name
	used      map[string]bool              // volumes that a container has
	listening map[core.ContainerID][]core.ListeningPort
	fail      map[string]error // by call
	open      int              // links
	work      sync.WaitGroup
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{
		t: t, volumes: map[string]map[string]string{}, used: map[string]bool{}, fail: map[string]error{},
		listening: map[core.ContainerID][]core.ListeningPort{}, chromium: answering,
	}
	p := provision.New(provision.Options{
		Install: install, Settings: ports{w}, Browsers: ports{w}, Engine: ports{w}, Health: ports{w}, Computer: ports{w},
		Containers: w, Links: w, Log: slog.New(slog.DiscardHandler),
	})
	w.s = New(Options{
		Install: install, Provision: p, Containers: w, Links: w, Volumes: w, Log: slog.New(slog.DiscardHandler),
		Channel: func(_ context.Context, id core.ChannelID) (core.Channel, error) {
			if id != channel {
				return core.Channel{}, core.ErrNotFound
			}
			return core.Channel{ID: id, Kind: core.KindProject, Dir: "/srv/project"}, nil
		},
		CPUs: func(core.Channel) (alone, watched float64) { return 0.5, 2 },
	})
	return w
}

// call notes one, and says whether it fails.
func (w *world) call(name string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls = append(w.calls, name)
	return w.fail[name]
}

func (w *world) called() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.calls, ", ")
}

// left checks that nothing of a browser is left.
func (w *world) left() {
	w.t.Helper()
	w.work.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.list {
		if c.Type == core.TypeChrome {
			w.t.Errorf("%+v is left", c)
		}
	}
	if w.open != 0 {
		w.t.Errorf("%d links are open", w.open)
	}
}

// --- containers

func (w *world) List() []core.Container {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.list)
}

func (w *world) InScopes(...string) []core.Container { return nil }

func (w *world) Acquire(_ context.Context, spec core.Spec, _ string, by core.Holder) (core.Container, error) {
	if err := w.call("make"); err != nil {
		return core.Container{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if slices.ContainsFunc(w.list, func(c core.Container) bool { return c.Name == spec.Name }) {
		return core.Container{}, core.ErrConflict
	}
	if by != holder(channel) {
		w.t.Errorf("held by %+v", by)
	}
	c := core.Container{ID: "box", Name: spec.Name, Type: spec.Type, ChannelID: spec.ChannelID, Status: core.ContainerRunning}
	w.list = append(w.list, c)
	w.used[sandbox.ProfileVolume(channel, install)] = true
	return c, nil
}

func (w *world) Release(_ context.Context, h core.Holder, e core.Ending) error {
	if h != holder(channel) || !e.Now {
		w.t.Errorf("given back by %+v: %+v", h, e)
	}
	err := w.call("give back")
	w.drop(func(c core.Container) bool { return c.Type == core.TypeChrome })
	return err
}

func (w *world) Remove(_ context.Context, id core.ContainerID) error {
	if err := w.call("remove " + string(id)); err != nil {
		return err
	}
	w.drop(func(c core.Container) bool { return c.ID == id })
	return nil
}

func (w *world) drop(which func(core.Container) bool) {
	w.mu.Lock()
	w.list = slices.DeleteFunc(w.list, which)
	programs := slices.Clone(w.programs)
	clear(w.used)
	w.mu.Unlock()
	for _, p := range programs {
		p.end()
	}
}

func (w *world) Limit(_ context.Context, id core.ContainerID, by core.Holder, l core.Limits) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if by != holder(channel) || !slices.ContainsFunc(w.list, func(c core.Container) bool { return c.ID == id }) {
		return core.ErrNotFound
	}
	w.limits = append(w.limits, l)
	return nil
}

// --- volumes

func (w *world) Volumes(_ context.Context, labels map[string]string) (out []core.Volume, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for name, has := range w.volumes {
		if has[core.LabelInstall] == labels[core.LabelInstall] {
			out = append(out, core.Volume{Name: name, Labels: has})
		}
	}
	return out, nil
}

func (w *world) EnsureVolume(_ context.Context, name string, labels map[string]string) error {
	if err := w.call("volume"); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.volumes[name] = labels
	return nil
}

func (w *world) VolumeRemove(_ context.Context, name string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.volumes[name] == nil:
		return core.ErrNotFound
	case w.used[name]:
		return core.ErrConflict
	}
	delete(w.volumes, name)
	return nil
}

func (w *world) profiles() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Sorted(maps.Keys(w.volumes))
}

// --- links

func (w *world) Open(_ context.Context, c core.Container) (core.Link, error) {
	if err := w.call("link to " + string(c.ID)); err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open++
	return &link{w: w, id: c.ID, leave: sync.OnceFunc(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.open--
	})}, nil
}

// link leads to programs in memory.
type link struct {
	core.Link
	w     *world
	id    core.ContainerID
	leave func()
	mu    sync.Mutex
	who   map[core.SpawnID]core.Identity
}

func (l *link) Close() error { l.leave(); return nil }

func (l *link) Admit(id core.SpawnID, who core.Identity) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.who == nil {
		l.who = map[core.SpawnID]core.Identity{}
	}
	l.who[id] = who
}

func (l *link) Spawn(_ context.Context, req core.SpawnRequest) (core.SpawnInfo, error) {
	if err := l.w.call("spawn"); err != nil {
		return core.SpawnInfo{}, err
	}
	p := &program{w: l.w, link: l, req: req, ended: make(chan struct{})}
	p.in, p.commands = io.Pipe()
	p.answers, p.out = io.Pipe()
	l.w.mu.Lock()
	l.w.programs = append(l.w.programs, p)
	l.w.mu.Unlock()
	l.w.work.Go(func() { l.w.chromium(p); p.end() })
	return core.SpawnInfo{ID: req.ID}, nil
}

func (l *link) program(id core.SpawnID) *program {
	l.w.mu.Lock()
	defer l.w.mu.Unlock()
	for _, p := range l.w.programs {
		if p.req.ID == id {
			return p
		}
	}
	l.w.t.Errorf("no program %s", id)
	return nil
}

func (l *link) Feed(ctx context.Context, id core.SpawnID, fd int) (io.WriteCloser, error) {
	p := l.program(id)
	if fd != commandsFD {
		l.w.t.Errorf("descriptor %d is fed", fd)
	}
	context.AfterFunc(ctx, func() { _ = p.in.CloseWithError(context.Canceled) })
	return p.commands, l.w.call("feed")
}

func (l *link) ReadHeld(ctx context.Context, id core.SpawnID, stream string, _ int64) (io.ReadCloser, error) {
	p := l.program(id)
	if stream != strconv.Itoa(answersFD) {
		l.w.t.Errorf("stream %q is read", stream)
	}
	context.AfterFunc(ctx, func() { _ = p.out.CloseWithError(context.Canceled) })
	return p.answers, l.w.call("read")
}

func (l *link) Read(_ context.Context, id core.SpawnID, stream string, _ int64) (io.ReadCloser, error) {
	if stream != "err" {
		l.w.t.Errorf("stream %q is read", stream)
	}
	return io.NopCloser(strings.NewReader(l.program(id).words)), nil
}

func (l *link) Kill(_ context.Context, id core.SpawnID) error { l.program(id).end(); return nil }

func (l *link) Forget(context.Context, core.SpawnID) error { return nil }

func (l *link) Wait(ctx context.Context, id core.SpawnID) (core.ExitStatus, error) {
	select {
	case <-l.program(id).ended:
		return core.ExitStatus{}, nil
	case <-ctx.Done():
		return core.ExitStatus{}, ctx.Err()
	}
}

func (l *link) Ports(context.Context) ([]core.ListeningPort, error) {
	l.w.mu.Lock()
	defer l.w.mu.Unlock()
	return l.w.listening[l.id], l.w.fail["ports of "+string(l.id)]
}

// Dial leads to what says on which container and port it is.
func (l *link) Dial(_ context.Context, port uint16) (net.Conn, error) {
	list, _ := l.Ports(context.Background())
	if !slices.ContainsFunc(list, func(p core.ListeningPort) bool { return p.Port == port }) {
		return nil, core.ErrNotFound
	}
	here, there := net.Pipe()
	l.w.work.Go(func() {
		_, _ = io.WriteString(there, string(l.id))
		_ = there.Close()
	})
	return here, nil
}

// --- programs

// program is a Chromium in memory.
type program struct {
	w        *world
	link     *link
	req      core.SpawnRequest
	in       *io.PipeReader // its descriptor 3
	commands *io.PipeWriter
	out      *io.PipeWriter // its descriptor 4
	answers  *io.PipeReader
	words    string // on stderr
	once     sync.Once
	ended    chan struct{}
}

func (p *program) end() {
	p.once.Do(func() {
		close(p.ended)
		_, _ = p.in.CloseWithError(io.EOF), p.out.CloseWithError(io.EOF)
	})
}

func (p *program) script() string { return p.req.Argv[2] }

func (p *program) identity() core.Identity {
	p.link.mu.Lock()
	defer p.link.mu.Unlock()
	return p.link.who[p.req.ID]
}

// answering is a Chromium that works.
func answering(p *program) {
	in := bufio.NewReader(p.in)
	for {
		command, err := in.ReadString(0)
		if err != nil {
			return
		}
		if !strings.Contains(command, `"id":1`) {
			continue
		}
		if _, err := io.WriteString(p.out, `{"id":1,"result":{}}`+"\x00"); err != nil {
			return
		}
	}
}

// heard returns when the first command has come.
func heard(p *program) { _, _ = bufio.NewReader(p.in).ReadString(0) }

// dumb reads and never answers.
func dumb(p *program) { _, _ = io.Copy(io.Discard, p.in) }

// ports are those of provision.
type ports struct{ w *world }

func (p ports) ForChannel(context.Context, core.Channel) (provision.Values, error) {
	return provision.Values{Browser: provision.Browser{Image: "loop-chrome", Container: sandbox.BrowserSettings{
		MemoryMB: sandbox.Setting[int]{Value: 2048}, CPUs: sandbox.Setting[float64]{Value: 0.5}, Seccomp: "{}",
	}}}, p.w.call("settings")
}
func (p ports) Ensure(context.Context, string) error { return p.w.call("image") }
func (p ports) GuestVolume(context.Context, string) (string, error) {
	return sandbox.GuestVolumePrefix + "0123", nil
}
func (p ports) ForgetGuestVolume() {}
func (p ports) ImageInspect(context.Context, string) (string, map[string]string, error) {
	return "sha256:abc", nil, nil
}
func (p ports) Status(context.Context) core.EngineStatus {
	return core.EngineStatus{OK: true, OS: "linux", Arch: "amd64", Traits: core.EngineTraits{Seccomp: true}}
}
func (p ports) Host(_ context.Context, st core.EngineStatus) (sandbox.Host, error) {
	return sandbox.Host{
		OS: "linux", User: "mira", UID: 1000, GID: 1000, Home: "/home/mira", LoopHome: "/home/mira/.loop",
		EngineOS: st.OS, EngineArch: st.Arch, Look: func(string) sandbox.PathFact { return sandbox.PathFact{Kind: sandbox.PathDir} },
	}, nil
}
func (p ports) Places(core.Spec) string { return "" }

func (p ports) Prepare(core.Spec, sandbox.Host) ([]string, error) { return nil, nil }
func (p ports) PrepareOnHost(core.Spec) ([]string, error)         { return nil, nil }

var errOwn = errors.New("its own words")

// agent is a container of the channel's agents.
func agent(id string, made time.Time) core.Container {
	return core.Container{ID: core.ContainerID(id), Name: id, Type: core.TypeAgent, ChannelID: channel, Status: core.ContainerRunning, CreatedAt: made}
}
