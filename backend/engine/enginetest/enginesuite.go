package enginetest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"loop/backend/core"
)

// Engine has the methods that the suite needs of an engine.
type Engine interface {
	Status(ctx context.Context) core.EngineStatus
	Create(ctx context.Context, s core.Spec) (core.ContainerID, []string, error)
	Start(ctx context.Context, id core.ContainerID) error
	Stop(ctx context.Context, id core.ContainerID, grace time.Duration) error
	Pause(ctx context.Context, id core.ContainerID) error
	Unpause(ctx context.Context, id core.ContainerID) error
	Remove(ctx context.Context, id core.ContainerID, force bool) error
	Update(ctx context.Context, id core.ContainerID, limits core.Limits) error
	Rename(ctx context.Context, id core.ContainerID, name string) error
	Wait(ctx context.Context, id core.ContainerID) (int, error)
	Inspect(ctx context.Context, id core.ContainerID) (core.ContainerFacts, error)
	List(ctx context.Context, labels map[string]string) ([]core.ContainerFacts, error)
	SetNetwork(ctx context.Context, id core.ContainerID, network string) error
	Logs(ctx context.Context, id core.ContainerID, n int) (string, error)
	DialExec(ctx context.Context, id core.ContainerID, user string, argv []string) (io.ReadWriteCloser, error)
	ExecTTY(ctx context.Context, id core.ContainerID, spec core.ExecSpec) (core.TTY, error)
	Events(ctx context.Context, labels map[string]string) <-chan core.ContainerEvent
	ImageInspect(ctx context.Context, ref string) (string, map[string]string, error)
	ImagesNamed(ctx context.Context, labels map[string]string) (byName map[string]map[string]string, err error)
	ImagesDangling(ctx context.Context, labels map[string]string) (made map[string]time.Time, err error)
	ImageTag(ctx context.Context, source, ref string) error
	ImageRemove(ctx context.Context, ref string) error
	EnsureVolume(ctx context.Context, name string, labels map[string]string) error
	Volumes(ctx context.Context, labels map[string]string) ([]core.Volume, error)
	VolumeFill(ctx context.Context, volume, image string, files []core.VolumeFile) error
	VolumeRead(ctx context.Context, volume, image, file string) ([]byte, error)
	VolumeRemove(ctx context.Context, name string) error
	GatewayIP(ctx context.Context) (string, error)
}

// ExecStream has the methods of DialExec's result.
type ExecStream interface {
	io.ReadWriteCloser
	Stderr() string
}

// limit bounds each case. A real engine on a busy machine takes seconds.
const limit = 3 * time.Minute

// Run puts an engine through the suite. The image must hold a POSIX shell, cat and
// sleep. Everything that the suite makes carries a label of its own and is removed.
func Run(t *testing.T, e Engine, image string) {
	s := &suite{e: e, image: image, mark: core.NewID()}
	for name, fn := range map[string]func(*testing.T, context.Context){
		"status": s.status, "lifecycle": s.lifecycle, "stop": s.stop, "pause": s.pause, "remove": s.remove,
		"update": s.update, "rename": s.rename, "network": s.network,
		"absent": s.absent, "create errors": s.createErrors, "list by label": s.listByLabel, "logs": s.logs,
		"exec": s.exec, "exec needs a running container": s.execNotRunning, "exec ends with the container": s.execDies,
		"events": s.events, "images": s.images, "volumes": s.volumes, "cancelled": s.cancelled,
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			fn(t, ctx)
		})
	}
}

type suite struct {
	e     Engine
	image string
	mark  string
}

func (s *suite) spec(script string) core.Spec {
	return core.Spec{
		Name: "loop-suite-" + core.NewID()[:8], Image: s.image,
		Entrypoint: []string{"/bin/sh", "-c", script},
		Labels:     map[string]string{"loop-test": "suite", "loop-suite": s.mark},
		Network:    "none", StopGraceSec: 1,
	}
}

const forever = "trap 'exit 143' TERM; echo up; sleep 6000 & wait"

func (s *suite) create(t *testing.T, ctx context.Context, script string) core.ContainerID {
	t.Helper()
	id, _, err := s.e.Create(ctx, s.spec(script))
	must(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		if err := s.e.Remove(ctx, id, true); err != nil && !errors.Is(err, core.ErrNotFound) {
			t.Errorf("clean up: %v", err)
		}
	})
	return id
}

func (s *suite) started(t *testing.T, ctx context.Context, script string) core.ContainerID {
	t.Helper()
	id := s.create(t, ctx, script)
	must(t, s.e.Start(ctx, id))
	return id
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantIs(t *testing.T, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Fatalf("got error %v, want %v", err, target)
	}
}

func wantCode(t *testing.T, err error, code core.Code) {
	t.Helper()
	if f, ok := errors.AsType[*core.Failure](err); !ok || f.Code != code || f.Cause == "" || f.Remedy == "" {
		t.Fatalf("got error %#v, want a failure with code %s, cause and remedy", err, code)
	}
}

func (s *suite) status(t *testing.T, ctx context.Context) {
	st := s.e.Status(ctx)
	if !st.OK || st.Host == "" || st.Source == "" || st.APIVersion == "" || st.OS != "linux" {
		t.Fatalf("status %+v", st)
	}
}

func (s *suite) lifecycle(t *testing.T, ctx context.Context) {
	sp := s.spec("echo hello; exit 3")
	id, _, err := s.e.Create(ctx, sp)
	must(t, err)
	defer func() { _ = s.e.Remove(context.WithoutCancel(ctx), id, true) }()
	f, err := s.e.Inspect(ctx, id)
	must(t, err)
	if f.Running || f.Name != sp.Name || f.ID != id || f.Labels["loop-suite"] != s.mark || f.ImageID == "" || f.CreatedAt.IsZero() {
		t.Fatalf("created: %+v", f)
	}
	must(t, s.e.Start(ctx, id))
	code, err := s.e.Wait(ctx, id)
	must(t, err)
	if code != 3 {
		t.Fatalf("exit code %d, want 3", code)
	}
	f, err = s.e.Inspect(ctx, id)
	must(t, err)
	if f.Running || f.ExitCode != 3 || f.OOMKilled {
		t.Fatalf("ended: %+v", f)
	}
}

func (s *suite) stop(t *testing.T, ctx context.Context) {
	id := s.started(t, ctx, forever)
	must(t, s.e.Start(ctx, id))  // a second start is no error
	s.poll(t, ctx, func() bool { // before that, its shell ignores the stop
		log, err := s.e.Logs(ctx, id, 1)
		return err == nil && log == "up\n"
	})
	must(t, s.e.Stop(ctx, id, 5*time.Second))
	f, err := s.e.Inspect(ctx, id)
	must(t, err)
	if f.Running || f.ExitCode != 143 {
		t.Fatalf("stopped: %+v", f)
	}
	must(t, s.e.Stop(ctx, id, time.Second)) // a second stop is no error
}

func (s *suite) pause(t *testing.T, ctx context.Context) {
	id := s.started(t, ctx, forever)
	paused := func(want bool) {
		t.Helper()
		f, err := s.e.Inspect(ctx, id)
		must(t, err)
		list, err := s.e.List(ctx, map[string]string{"loop-suite": s.mark})
		must(t, err)
		i := slices.IndexFunc(list, func(f core.ContainerFacts) bool { return f.ID == id })
		if i < 0 || f.Paused != want || list[i].Paused != want || !f.Running || !list[i].Running {
			t.Fatalf("want paused %v: %+v, %+v", want, f, list)
		}
	}
	paused(false)
	wantIs(t, s.e.Unpause(ctx, id), core.ErrConflict)
	must(t, s.e.Pause(ctx, id))
	paused(true)
	wantIs(t, s.e.Pause(ctx, id), core.ErrConflict)
	must(t, s.e.Unpause(ctx, id))
	// A real engine may be late to record the end of a pause.
	s.poll(t, ctx, func() bool { return s.e.Pause(ctx, id) == nil })
	must(t, s.e.Stop(ctx, id, 5*time.Second)) // a stop reaches a paused container
	wantIs(t, s.e.Pause(ctx, id), core.ErrNotRunning)
	absent := core.ContainerID(strings.Repeat("f", 64))
	wantIs(t, s.e.Pause(ctx, absent), core.ErrNotFound)
	wantIs(t, s.e.Unpause(ctx, absent), core.ErrNotFound)
}

func (s *suite) remove(t *testing.T, ctx context.Context) {
	id := s.started(t, ctx, forever)
	wantIs(t, s.e.Remove(ctx, id, false), core.ErrConflict)
	must(t, s.e.Remove(ctx, id, true))
	_, err := s.e.Inspect(ctx, id)
	wantIs(t, err, core.ErrNotFound)
	wantIs(t, s.e.Remove(ctx, id, true), core.ErrNotFound)
}

func (s *suite) absent(t *testing.T, ctx context.Context) {
	id := core.ContainerID(strings.Repeat("f", 64))
	_, err := s.e.Inspect(ctx, id)
	wantIs(t, err, core.ErrNotFound)
	wantIs(t, s.e.Start(ctx, id), core.ErrNotFound)
	wantIs(t, s.e.Stop(ctx, id, time.Second), core.ErrNotFound)
	_, err = s.e.Wait(ctx, id)
	wantIs(t, err, core.ErrNotFound)
	_, err = s.e.Logs(ctx, id, 10)
	wantIs(t, err, core.ErrNotFound)
	_, err = s.e.DialExec(ctx, id, "0:0", []string{"cat"})
	wantIs(t, err, core.ErrNotFound)
}

func (s *suite) createErrors(t *testing.T, ctx context.Context) {
	sp := s.spec("true")
	sp.Image = "loop-suite-no-such-image:" + s.mark
	_, _, err := s.e.Create(ctx, sp)
	wantIs(t, err, core.ErrNoImage)
	wantCode(t, err, core.CodeNoImage)

	id := s.create(t, ctx, "true")
	f, err := s.e.Inspect(ctx, id)
	must(t, err)
	sp = s.spec("true")
	sp.Name = f.Name
	_, _, err = s.e.Create(ctx, sp)
	wantIs(t, err, core.ErrConflict)

	sp = s.spec("true")
	sp.Mounts = []core.Mount{{Kind: core.MountExtra, Source: "/no/such/place/" + s.mark, Target: "/mnt"}}
	_, _, err = s.e.Create(ctx, sp)
	wantCode(t, err, core.CodeMount)
}

func (s *suite) listByLabel(t *testing.T, ctx context.Context) {
	a, b := s.started(t, ctx, forever), s.create(t, ctx, "true")
	list, err := s.e.List(ctx, map[string]string{"loop-suite": s.mark, "loop-test": "suite"})
	must(t, err)
	running := map[core.ContainerID]bool{}
	for _, f := range list {
		if f.Labels["loop-suite"] != s.mark || f.Name == "" || strings.HasPrefix(f.Name, "/") {
			t.Errorf("listed: %+v", f)
		}
		running[f.ID] = f.Running
	}
	if r, ok := running[a]; !ok || !r {
		t.Errorf("running container listed %v, running %v", ok, r)
	}
	if r, ok := running[b]; !ok || r {
		t.Errorf("created container listed %v, running %v", ok, r)
	}
	list, err = s.e.List(ctx, map[string]string{"loop-suite": "another" + s.mark})
	must(t, err)
	if len(list) != 0 {
		t.Errorf("a foreign label lists %v", list)
	}
}

func (s *suite) logs(t *testing.T, ctx context.Context) {
	id := s.started(t, ctx, "echo one; echo two; echo three")
	_, err := s.e.Wait(ctx, id)
	must(t, err)
	got, err := s.e.Logs(ctx, id, 2)
	must(t, err)
	if got != "two\nthree\n" {
		t.Fatalf("log tail %q", got)
	}
}

func (s *suite) dial(t *testing.T, ctx context.Context, id core.ContainerID, argv ...string) ExecStream {
	t.Helper()
	rw, err := s.e.DialExec(ctx, id, "0:0", argv)
	must(t, err)
	t.Cleanup(func() { _ = rw.Close() })
	stream, ok := rw.(ExecStream)
	if !ok {
		t.Fatalf("the exec is a %T without Stderr", rw)
	}
	return stream
}

func (s *suite) exec(t *testing.T, ctx context.Context) {
	id := s.started(t, ctx, forever)
	c := s.dial(t, ctx, id, "cat")
	// This is more than a pipe holds, so both directions must move at once.
	want := bytes.Repeat([]byte("0123456789abcdef\n"), 64<<10)
	go func() { _, _ = c.Write(want) }()
	got := make([]byte, len(want))
	_, err := io.ReadFull(c, got)
	must(t, err)
	if !bytes.Equal(got, want) {
		t.Fatalf("echo of %d bytes gave %d", len(want), len(got))
	}

	c = s.dial(t, ctx, id, "sh", "-c", "echo out; echo err >&2")
	got, err = io.ReadAll(c)
	must(t, err)
	if string(got) != "out\n" || c.Stderr() != "err\n" {
		t.Fatalf("stdout %q, stderr %q", got, c.Stderr())
	}
	must(t, c.Close())
	_ = c.Close() // a second close does not panic
}

func (s *suite) execNotRunning(t *testing.T, ctx context.Context) {
	id := s.create(t, ctx, "true")
	_, err := s.e.DialExec(ctx, id, "0:0", []string{"cat"})
	wantIs(t, err, core.ErrNotRunning)
}

func (s *suite) execDies(t *testing.T, ctx context.Context) {
	id := s.started(t, ctx, forever)
	c := s.dial(t, ctx, id, "cat")
	_, err := c.Write([]byte("x"))
	must(t, err)
	var b [1]byte
	_, err = io.ReadFull(c, b[:])
	must(t, err)
	must(t, s.e.Stop(ctx, id, 0))
	if _, err := c.Read(b[:]); err == nil {
		t.Fatal("read after the container's end succeeded")
	}
}

func (s *suite) events(t *testing.T, ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	ch := s.e.Events(ctx, map[string]string{"loop-suite": s.mark})
	next := func() core.ContainerEvent {
		select {
		case ev := <-ch:
			return ev
		case <-ctx.Done():
			t.Fatal("no event")
			return core.ContainerEvent{}
		}
	}
	if ev := next(); ev.Kind != core.ContainerResync {
		t.Fatalf("first event %+v, want resync", ev)
	}
	id := s.create(t, ctx, "exit 7")
	must(t, s.e.Start(ctx, id))
	_, err := s.e.Wait(ctx, id)
	must(t, err)
	must(t, s.e.Remove(ctx, id, true))
	for _, kind := range []string{core.ContainerCreated, core.ContainerStarted, core.ContainerDied, core.ContainerDestroyed} {
		ev := next()
		for ev.ID != id { // skips another case's container
			ev = next()
		}
		if ev.Kind != kind || ev.At.IsZero() || ev.Labels["loop-suite"] != s.mark {
			t.Fatalf("event %+v, want %s", ev, kind)
		}
		if kind == core.ContainerDied && ev.ExitCode != 7 {
			t.Fatalf("die event with code %d, want 7", ev.ExitCode)
		}
	}
	cancel()
	for range ch { //nolint:revive // until the channel is closed
	}
}

func (s *suite) images(t *testing.T, ctx context.Context) {
	id, _, err := s.e.ImageInspect(ctx, s.image)
	must(t, err)
	ref := "loop-suite:" + s.mark
	must(t, s.e.ImageTag(ctx, s.image, ref))
	same, _, err := s.e.ImageInspect(ctx, ref)
	must(t, err)
	if same != id {
		t.Fatalf("tag names %s, want %s", same, id)
	}
	wantIs(t, s.e.ImageRemove(ctx, id), core.ErrConflict) // names point to it
	must(t, s.e.ImageRemove(ctx, ref))
	_, _, err = s.e.ImageInspect(ctx, ref)
	wantIs(t, err, core.ErrNoImage)
	wantIs(t, s.e.ImageRemove(ctx, ref), core.ErrNoImage)
	named, err := s.e.ImagesNamed(ctx, map[string]string{"loop-suite": s.mark})
	if err != nil || len(named) != 0 {
		t.Fatalf("images with the label %v, %v", named, err)
	}
	none, err := s.e.ImagesDangling(ctx, map[string]string{"loop-suite": s.mark})
	if err != nil || len(none) != 0 {
		t.Fatalf("dangling images %v, %v", none, err)
	}
	wantIs(t, s.e.ImageTag(ctx, ref, ref+"x"), core.ErrNoImage)
	_, _, err = s.e.ImageInspect(ctx, s.image)
	must(t, err)
}

func (s *suite) volumes(t *testing.T, ctx context.Context) {
	vol := "loop-suite-" + s.mark
	must(t, s.e.EnsureVolume(ctx, vol, map[string]string{"loop-test": "suite-" + s.mark}))
	must(t, s.e.EnsureVolume(ctx, vol, nil)) // a second call is no error
	defer func() { _ = s.e.VolumeRemove(context.WithoutCancel(ctx), vol) }()
	list, err := s.e.Volumes(ctx, map[string]string{"loop-test": "suite-" + s.mark})
	if err != nil || len(list) != 1 || list[0].Name != vol || list[0].Labels["loop-test"] != "suite-"+s.mark {
		t.Fatalf("volumes with the label: %+v %v", list, err)
	}
	_, err = s.e.VolumeRead(ctx, vol, s.image, "done")
	wantIs(t, err, core.ErrNotFound)
	must(t, s.e.VolumeFill(ctx, vol, s.image, []core.VolumeFile{
		{Path: "bin/tool", Mode: 0o755, Data: []byte("#!/bin/sh\necho hello\n")},
		{Path: "done", Mode: 0o644, Data: []byte("yes")},
	}))
	got, err := s.e.VolumeRead(ctx, vol, s.image, "done")
	must(t, err)
	if string(got) != "yes" {
		t.Fatalf("read back %q", got)
	}
	wantIs(t, s.e.VolumeFill(ctx, vol, "loop-suite-no-such-image:x", nil), core.ErrNoImage)
	sp := s.spec("true")
	sp.Mounts = append(sp.Mounts, core.Mount{Kind: core.MountVolume, Source: vol, Target: "/profile", Volume: true})
	id, _, err := s.e.Create(ctx, sp)
	must(t, err)
	wantIs(t, s.e.VolumeRemove(ctx, vol), core.ErrConflict) // a container has it, which does not run
	must(t, s.e.Remove(ctx, id, true))
	must(t, s.e.VolumeRemove(ctx, vol))
	wantIs(t, s.e.VolumeRemove(ctx, vol), core.ErrNotFound)
	if ip, err := s.e.GatewayIP(ctx); err != nil || ip == "" {
		t.Fatalf("gateway %q, %v", ip, err)
	}
}

func (s *suite) cancelled(t *testing.T, ctx context.Context) {
	id := s.started(t, ctx, forever)
	ctx, cancel := context.WithCancel(ctx)
	time.AfterFunc(50*time.Millisecond, cancel)
	_, err := s.e.Wait(ctx, id)
	wantIs(t, err, context.Canceled)
	_, err = s.e.Inspect(ctx, id)
	wantIs(t, err, context.Canceled)
}

func (s *suite) poll(t *testing.T, ctx context.Context, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatal("condition not met in time")
		}
	}
}
