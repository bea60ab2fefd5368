package enginetest

import (
	"context"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"loop/backend/core"
)

// Fake is an engine in memory for tests of everything above this package. It keeps
// containers, images and volumes, moves them through the states of the real engine,
// reports events and passes the same suite. Hooks play the processes. Tests set the
// exported fields before the first call. Any goroutine may call the methods. Close ends
// and awaits the hooks that run.
type Fake struct {
	// Main plays PID 1: it runs from Start until it returns the exit code. ctx
	// ends on Stop (give 143) and on a forced Remove. nil idles.
	Main func(ctx context.Context, spec core.Spec, log io.Writer) int
	// Exec plays an exec'd process: stdio is its stdin and stdout; returning ends
	// it. ctx ends with the container. nil ends at once.
	Exec func(ctx context.Context, call FakeExec, stdio io.ReadWriter, stderr io.Writer)
	// TTY plays a program on a terminal; returning ends it. ctx ends when it is to
	// end: with its container, or when it is closed. nil ends at once with code 0.
	TTY func(ctx context.Context, term FakeTTY) core.TerminalExit
	// SourceExists says whether a bind source is there; nil means every one is.
	SourceExists func(path string) bool
	Now          func() time.Time // nil is time.Now

	mu      sync.Mutex
	down    *core.Failure
	nextID  int
	images  map[string]fakeImage // by reference
	boxes   map[core.ContainerID]*fakeBox
	volumes map[string]*fakeVolume
	subs    map[*fakeSub]struct{}
	wg      sync.WaitGroup
	calls   []string
}

// FakeExec is the request for an exec.
type FakeExec struct {
	ID   core.ContainerID
	Spec core.Spec
	User string
	Argv []string
}

type fakeImage struct {
	id     string
	labels map[string]string
	made   time.Time // zero: long ago
}

type fakeBox struct {
	facts   core.ContainerFacts
	spec    core.Spec
	started bool
	stop    context.CancelFunc // while running
	killed  bool
	done    chan struct{} // closed when PID 1 has ended; new for each start
	log     *text
}

type fakeSub struct {
	labels map[string]string
	ch     chan core.ContainerEvent
	wake   chan struct{}
	queue  []core.ContainerEvent
}

// NewFake returns an engine without any images.
func NewFake() *Fake {
	return &Fake{
		images: map[string]fakeImage{}, boxes: map[core.ContainerID]*fakeBox{},
		volumes: map[string]*fakeVolume{}, subs: map[*fakeSub]struct{}{},
	}
}

// AddImage adds an image.
func (f *Fake) AddImage(ref, id string, labels map[string]string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.images[ref] = fakeImage{id: id, labels: maps.Clone(labels)}
}

// SetDown makes every call fail as if the engine had gone away; nil brings it back.
// Event subscribers then get a resync. Containers go on meanwhile.
func (f *Fake) SetDown(why *core.Failure) {
	f.mu.Lock()
	defer f.mu.Unlock()
	back := f.down != nil && why == nil
	f.down = why
	if back {
		for s := range f.subs {
			s.push(core.ContainerEvent{Kind: core.ContainerResync, At: f.now()})
		}
	}
}

// Vanish drops a container without an event, as when somebody removes it while the
// event stream is broken.
func (f *Fake) Vanish(id core.ContainerID) {
	f.mu.Lock()
	b := f.boxes[id]
	delete(f.boxes, id)
	f.mu.Unlock()
	if b != nil && b.stop != nil {
		b.stop()
	}
}

// EndMain ends PID 1 of a running container from outside. With oom set it does so as
// the kernel's out-of-memory killer.
func (f *Fake) EndMain(id core.ContainerID, code int, oom bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if b := f.boxes[id]; b != nil && b.facts.Running {
		if oom {
			b.facts.OOMKilled = true
			f.emit(core.ContainerOOM, b)
		}
		f.ended(b, code)
	}
}

// Spec returns the spec of which a container was created.
func (f *Fake) Spec(id core.ContainerID) (core.Spec, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	b := f.boxes[id]
	if b == nil {
		return core.Spec{}, false
	}
	return b.spec, true
}

// Calls lists the calls made so far by method name, in order.
func (f *Fake) Calls() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.calls)
}

// Close ends every process and waits for it.
func (f *Fake) Close() error {
	f.mu.Lock()
	for _, b := range f.boxes {
		if b.stop != nil {
			b.stop()
		}
	}
	f.mu.Unlock()
	f.wg.Wait()
	return nil
}

func (f *Fake) now() time.Time {
	if f.Now != nil {
		return f.Now()
	}
	return time.Now()
}

// enter locks the fake for one call, or reports that the engine is down.
func (f *Fake) enter(ctx context.Context, call string) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s: %w", call, err)
	}
	f.mu.Lock()
	f.calls = append(f.calls, call)
	if f.down != nil {
		f.mu.Unlock()
		return f.down
	}
	return nil
}

func (f *Fake) box(id core.ContainerID) (*fakeBox, error) {
	if b := f.boxes[id]; b != nil {
		return b, nil
	}
	return nil, fmt.Errorf("container %s: %w", id, core.ErrNotFound)
}

func (f *Fake) Status(ctx context.Context) core.EngineStatus {
	if err := f.enter(ctx, "Status"); err != nil {
		return core.EngineStatus{Failure: core.AsFailure(err)}
	}
	defer f.mu.Unlock()
	return core.EngineStatus{OK: true, Host: "fake://", Source: "test", Name: "Fake", Version: "1", APIVersion: "1.41", OS: "linux",
		Arch: "amd64"}
}

func (f *Fake) Create(ctx context.Context, s core.Spec) (core.ContainerID, []string, error) {
	if err := f.enter(ctx, "Create"); err != nil {
		return "", nil, err
	}
	defer f.mu.Unlock()
	img, ok := f.findImage(s.Image)
	if !ok {
		return "", nil, noImage("create container", s.Image)
	}
	for _, b := range f.boxes {
		if b.facts.Name == s.Name {
			return "", nil, fmt.Errorf("create the container: name %s is in use: %w", s.Name, core.ErrConflict)
		}
	}
	for _, m := range s.Mounts {
		if !m.Volume && f.SourceExists != nil && !f.SourceExists(m.Source) {
			return "", nil, noSource(m.Source)
		}
		if m.Volume && f.volumes[m.Source] == nil {
			f.volumes[m.Source] = newVolume(nil)
		}
	}
	f.nextID++
	id := core.ContainerID(fmt.Sprintf("%064x", f.nextID))
	b := &fakeBox{spec: s, log: &text{}}
	b.facts = core.ContainerFacts{ID: id, Name: s.Name, Labels: maps.Clone(s.Labels), ImageID: img.id, CreatedAt: f.now(), Limits: s.Limits,
		Networks: []string{s.Network}}
	for _, m := range s.Mounts {
		b.facts.Mounts = append(b.facts.Mounts, core.Mount{Source: m.Source, Target: m.Target, ReadOnly: m.ReadOnly, Volume: m.Volume})
	}
	f.boxes[id] = b
	f.emit(core.ContainerCreated, b)
	return id, nil, nil
}

func (f *Fake) Start(ctx context.Context, id core.ContainerID) error {
	if err := f.enter(ctx, "Start"); err != nil {
		return err
	}
	defer f.mu.Unlock()
	b, err := f.box(id)
	if err != nil || b.facts.Running {
		return err
	}
	run, stop := context.WithCancel(context.Background())
	b.stop, b.done, b.killed, b.started = stop, make(chan struct{}), false, true
	b.facts.Running, b.facts.ExitCode, b.facts.OOMKilled = true, 0, false
	f.emit(core.ContainerStarted, b)
	done := b.done
	f.wg.Go(func() {
		code := 143
		if f.Main != nil {
			code = f.Main(run, b.spec, b.log)
		} else {
			<-run.Done()
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		if b.done == done && b.facts.Running {
			if b.killed {
				code = 137
			}
			f.ended(b, code)
		}
	})
	return nil
}

// ended records that PID 1 has ended. The caller holds the lock.
func (f *Fake) ended(b *fakeBox, code int) {
	b.facts.Running, b.facts.Paused, b.facts.ExitCode = false, false, code
	b.stop()
	close(b.done)
	f.emit(core.ContainerDied, b)
}

// halt ends a running container and waits for it. With killed, PID 1 gets no time to
// finish.
func (f *Fake) halt(ctx context.Context, b *fakeBox, killed bool, grace time.Duration) error {
	f.mu.Lock()
	done := b.done
	b.killed = killed
	b.stop()
	f.mu.Unlock()
	t := time.NewTimer(grace)
	defer t.Stop()
	select {
	case <-done:
		return nil
	case <-t.C:
	case <-ctx.Done():
		return fmt.Errorf("stop the container: %w", ctx.Err())
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if b.done == done && b.facts.Running {
		f.ended(b, 137)
	}
	return nil
}

func (f *Fake) Stop(ctx context.Context, id core.ContainerID, grace time.Duration) error {
	if err := f.enter(ctx, "Stop"); err != nil {
		return err
	}
	b, err := f.box(id)
	running := err == nil && b.facts.Running
	f.mu.Unlock()
	if err != nil || !running {
		return err
	}
	return f.halt(ctx, b, false, grace)
}

func (f *Fake) Remove(ctx context.Context, id core.ContainerID, force bool) error {
	if err := f.enter(ctx, "Remove"); err != nil {
		return err
	}
	b, err := f.box(id)
	running := err == nil && b.facts.Running
	f.mu.Unlock()
	if err != nil {
		return err
	}
	if running {
		if !force {
			return fmt.Errorf("remove the container: it is running: %w", core.ErrConflict)
		}
		if err := f.halt(ctx, b, true, 0); err != nil {
			return err
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.boxes[id] != nil {
		delete(f.boxes, id)
		f.emit(core.ContainerDestroyed, b)
	}
	return nil
}

func (f *Fake) Wait(ctx context.Context, id core.ContainerID) (int, error) {
	if err := f.enter(ctx, "Wait"); err != nil {
		return 0, err
	}
	b, err := f.box(id)
	if err != nil {
		f.mu.Unlock()
		return 0, err
	}
	done, running, code := b.done, b.facts.Running, b.facts.ExitCode
	f.mu.Unlock()
	if !running {
		return code, nil
	}
	select {
	case <-done:
	case <-ctx.Done():
		return 0, fmt.Errorf("wait for the container: %w", ctx.Err())
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return b.facts.ExitCode, nil
}

func (f *Fake) Inspect(ctx context.Context, id core.ContainerID) (core.ContainerFacts, error) {
	if err := f.enter(ctx, "Inspect"); err != nil {
		return core.ContainerFacts{}, err
	}
	defer f.mu.Unlock()
	b, err := f.box(id)
	if err != nil {
		return core.ContainerFacts{}, err
	}
	return b.copyFacts(), nil
}

func (b *fakeBox) copyFacts() core.ContainerFacts {
	c := b.facts
	c.Labels = maps.Clone(c.Labels)
	return c
}

func (f *Fake) List(ctx context.Context, labels map[string]string) ([]core.ContainerFacts, error) {
	if err := f.enter(ctx, "List"); err != nil {
		return nil, err
	}
	defer f.mu.Unlock()
	out := []core.ContainerFacts{}
	for _, b := range f.boxes {
		if hasLabels(b.facts.Labels, labels) {
			c := b.copyFacts()
			c.OOMKilled, c.Error, c.Limits, c.Networks = false, "", core.Limits{}, nil // a list does not have these
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b core.ContainerFacts) int { return strings.Compare(string(b.ID), string(a.ID)) })
	return out, nil
}

func hasLabels(have, want map[string]string) bool {
	for k, v := range want {
		if have[k] != v {
			return false
		}
	}
	return true
}

func (f *Fake) Logs(ctx context.Context, id core.ContainerID, n int) (string, error) {
	if err := f.enter(ctx, "Logs"); err != nil {
		return "", err
	}
	defer f.mu.Unlock()
	b, err := f.box(id)
	if err != nil {
		return "", err
	}
	return b.log.last(n), nil
}

// fakeVolume is a volume in memory.
type fakeVolume struct {
	labels map[string]string
	files  map[string]core.VolumeFile
}

func newVolume(labels map[string]string) *fakeVolume {
	return &fakeVolume{maps.Clone(labels), map[string]core.VolumeFile{}}
}

func (f *Fake) Volumes(ctx context.Context, labels map[string]string) (out []core.Volume, err error) {
	if err := f.enter(ctx, "Volumes"); err != nil {
		return nil, err
	}
	defer f.mu.Unlock()
	for name, v := range f.volumes {
		if hasLabels(v.labels, labels) {
			out = append(out, core.Volume{Name: name, Labels: maps.Clone(v.labels)})
		}
	}
	return out, nil
}

func (f *Fake) EnsureVolume(ctx context.Context, name string, labels map[string]string) error {
	if err := f.enter(ctx, "EnsureVolume"); err != nil {
		return err
	}
	defer f.mu.Unlock()
	if f.volumes[name] == nil {
		f.volumes[name] = newVolume(labels)
	}
	return nil
}

func (f *Fake) VolumeRemove(ctx context.Context, name string) error {
	if err := f.enter(ctx, "VolumeRemove"); err != nil {
		return err
	}
	defer f.mu.Unlock()
	if f.volumes[name] == nil {
		return fmt.Errorf("remove the volume: %w", core.ErrNotFound)
	}
	for _, b := range f.boxes {
		if slices.ContainsFunc(b.spec.Mounts, func(m core.Mount) bool { return m.Volume && m.Source == name }) {
			return fmt.Errorf("remove the volume: %w", core.ErrConflict)
		}
	}
	delete(f.volumes, name)
	return nil
}

func (f *Fake) VolumeFill(ctx context.Context, vol, image string, files []core.VolumeFile) error {
	if err := f.enter(ctx, "VolumeFill"); err != nil {
		return err
	}
	defer f.mu.Unlock()
	if _, ok := f.findImage(image); !ok {
		return noImage("create helper container", image)
	}
	if f.volumes[vol] == nil {
		f.volumes[vol] = newVolume(nil)
	}
	for _, v := range files {
		v.Data = slices.Clone(v.Data)
		f.volumes[vol].files[path.Clean("/"+v.Path)] = v
	}
	return nil
}

func (f *Fake) VolumeRead(ctx context.Context, vol, image, file string) ([]byte, error) {
	if err := f.enter(ctx, "VolumeRead"); err != nil {
		return nil, err
	}
	defer f.mu.Unlock()
	if _, ok := f.findImage(image); !ok {
		return nil, noImage("create helper container", image)
	}
	if v := f.volumes[vol]; v != nil {
		if file, ok := v.files[path.Clean("/"+file)]; ok {
			return slices.Clone(file.Data), nil
		}
	}
	return nil, fmt.Errorf("read from the volume: %w", core.ErrNotFound)
}

func (f *Fake) GatewayIP(ctx context.Context) (string, error) {
	if err := f.enter(ctx, "GatewayIP"); err != nil {
		return "", err
	}
	defer f.mu.Unlock()
	return "172.17.0.1", nil
}

// Pause marks the container as paused. The hook that plays PID 1 goes on.
func (f *Fake) Pause(ctx context.Context, id core.ContainerID) error {
	if err := f.enter(ctx, "Pause"); err != nil {
		return err
	}
	defer f.mu.Unlock()
	b, err := f.box(id)
	switch {
	case err != nil:
		return err
	case !b.facts.Running:
		return fmt.Errorf("pause the container: %w", core.ErrNotRunning)
	case b.facts.Paused:
		return fmt.Errorf("pause the container: %w", core.ErrConflict)
	}
	b.facts.Paused = true
	return nil
}

// Unpause ends a pause, with the errors of Docker.
func (f *Fake) Unpause(ctx context.Context, id core.ContainerID) error {
	if err := f.enter(ctx, "Unpause"); err != nil {
		return err
	}
	defer f.mu.Unlock()
	b, err := f.box(id)
	switch {
	case err != nil:
		return err
	case !b.facts.Paused:
		return fmt.Errorf("unpause the container: %w", core.ErrConflict)
	}
	b.facts.Paused = false
	return nil
}
