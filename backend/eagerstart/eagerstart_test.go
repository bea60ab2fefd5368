package eagerstart

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"loop/backend/core"
	"loop/backend/leaktest"
	"loop/backend/provision"
	"loop/backend/sandbox"
	"loop/backend/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(leaktest.Patient(m)) }

// world makes containers and keeps them for their holders.
type world struct {
	mu      sync.Mutex
	scope   sandbox.Setting[string]
	fail    error
	made    int
	held    map[core.Holder]bool
	boxes   []core.Container
	agents  []string // what was done of CLIs that wait
	visited []string // names of the containers that were linked to
	fresh   []string // scopes whose container is made anew
}

func (w *world) ForChannel(context.Context, core.Channel) (provision.Values, error) {
	v := provision.Values{Container: sandbox.Settings{
		Scope: w.scope, Access: sandbox.Setting[string]{Value: sandbox.AccessRW}, Image: sandbox.Setting[string]{Value: "img"},
		Network: sandbox.Setting[string]{Value: "bridge"}, MemoryMB: sandbox.Setting[int]{Value: 512},
		CPUs: sandbox.Setting[float64]{Value: 1}, Pids: sandbox.Setting[int64]{Value: 100},
	}}
	return v, w.fail
}
func (w *world) Ensure(context.Context, string) error { panic("an image is built for a prompt") }
func (w *world) GuestVolume(context.Context, string) (string, error) {
	return sandbox.GuestVolumePrefix + "0", nil
}
func (w *world) ForgetGuestVolume() {}
func (w *world) ImageInspect(context.Context, string) (string, map[string]string, error) {
	return "sha256:1", nil, nil
}
func (w *world) Status(context.Context) core.EngineStatus { return core.EngineStatus{} }
func (w *world) Host(context.Context, core.EngineStatus) (sandbox.Host, error) {
	return sandbox.Host{OS: "linux", User: "mira", UID: 1000, GID: 1000, Home: "/home/mira", LoopHome: "/home/mira/.loop",
		Look: func(string) sandbox.PathFact { return sandbox.PathFact{Kind: sandbox.PathDir} }}, nil
}
func (w *world) Places(core.Spec) string { return "" }

func (w *world) Prepare(core.Spec, sandbox.Host) ([]string, error) { return nil, nil }
func (w *world) PrepareOnHost(core.Spec) ([]string, error)         { return nil, nil }
func (w *world) InScopes(...string) []core.Container               { return nil }

func (w *world) Acquire(_ context.Context, s core.Spec, _ string, h core.Holder) (core.Container, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.made++
	w.held[h] = true
	return core.Container{ID: "box", Hash: s.Hash}, nil
}
func (w *world) Release(_ context.Context, h core.Holder, e core.Ending) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if e != (core.Ending{}) {
		return errors.New("a prompt ends nothing")
	}
	delete(w.held, h)
	return nil
}
func (w *world) Open(_ context.Context, c core.Container) (core.Link, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.visited = append(w.visited, c.Name)
	return closedLink{}, w.fail
}
func (w *world) List() []core.Container {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.boxes
}
func (w *world) Facts(_ context.Context, id core.ContainerID) (core.ContainerFacts, error) {
	return core.ContainerFacts{ID: id, Running: id != "ended", Paused: id == "paused"}, nil
}

type closedLink struct{ core.Link }

func (closedLink) Close() error { return nil }
func (w *world) Channel(_ context.Context, id core.ChannelID) (core.Channel, error) {
	if id == "gone" {
		return core.Channel{}, core.ErrNotFound
	}
	return core.Channel{ID: id, Kind: core.KindProject, Dir: "/srv/project"}, nil
}
func (w *world) Recreate(_ context.Context, scope string) (bool, error) {
	w.fresh = append(w.fresh, scope)
	return strings.HasPrefix(scope, "session:"), w.fail
}

func (w *world) StartAhead(_ context.Context, ch core.ChannelID, c core.Container) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.agents = append(w.agents, "start "+string(ch)+" in "+string(c.ID))
	return w.fail
}
func (w *world) EndAhead(_ context.Context, ch core.ChannelID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	held := w.held[core.Holder{Kind: core.HolderPrompt, ID: string(ch)}]
	w.agents = append(w.agents, fmt.Sprint("end ", ch, " held ", held))
}

func (w *world) holds(t *testing.T, want bool, when string) {
	t.Helper()
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.held[core.Holder{Kind: core.HolderPrompt, ID: "c"}] != want {
		t.Errorf("%s: held: %v", when, !want)
	}
}

// rig is a service that runs until the returned function is called.
func rig(t *testing.T) (*world, *Service, func()) {
	w := &world{scope: sandbox.Setting[string]{Value: sandbox.ScopeSession}, held: map[core.Holder]bool{}}
	log := slog.New(slog.DiscardHandler)
	s := New(Options{Provision: provision.New(provision.Options{
		Install: "i", Settings: w, Images: w, Engine: w, Health: w, Computer: w, Containers: w, Links: w, Log: log,
	}), Channels: w, Containers: w, Links: w, Agents: w, Settings: w, Log: log})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	synctest.Wait()
	return w, s, func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// TestAPromptHoldsAContainer while somebody writes, and not much longer.
func TestAPromptHoldsAContainer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, s, end := rig(t)
		defer end()
		s.Warm("c")
		w.holds(t, true, "the first word")
		for range 10 {
			<-time.After(time.Minute)
			s.Warm("c")
		}
		w.holds(t, true, "somebody goes on writing")
		if w.made != 1 {
			t.Errorf("asked for %d containers", w.made)
		}
		<-time.After(lapse + time.Second)
		w.holds(t, false, "nobody writes any more")
		s.Warm("c")
		w.holds(t, true, "the next prompt")
	})
}

// TestAPromptStartsTheAgent: each word sees to the CLI, also where it could not be started
// before, and it ends before its container is given back.
func TestAPromptStartsTheAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, s, end := rig(t)
		s.Warm("c")
		synctest.Wait()
		w.mu.Lock()
		w.fail = errors.New("no room")
		w.mu.Unlock()
		s.Warm("c")
		synctest.Wait()
		end()
		want := "start c in box, start c in box, end c held true"
		if got := strings.Join(w.agents, ", "); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	})
}

// TestWhatAPromptDoesNotStart: a container that no run would share, one of a channel that
// is gone or whose settings are broken. Each is left to the run to say.
func TestWhatAPromptDoesNotStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, s, end := rig(t)
		s.Warm("gone")
		w.scope.Value = sandbox.ScopeRun
		s.Warm("c")
		w.holds(t, false, "each run has its own")
		w.scope.Value, w.fail = sandbox.ScopeSession, errors.New("broken settings")
		s.Warm("c")
		w.holds(t, false, "broken settings")
		w.fail = nil
		s.Warm("c")
		w.holds(t, true, "mended settings")
		end()
		w.holds(t, false, "Loop ends")
		s.Warm("c")
		w.holds(t, false, "after the end")
		if w.made != 1 {
			t.Errorf("asked for %d containers", w.made)
		}
	})
}

func TestRecreate(t *testing.T) {
	w := &world{scope: sandbox.Setting[string]{Value: sandbox.ScopeSession}}
	log := slog.New(slog.DiscardHandler)
	s := New(Options{Provision: provision.New(provision.Options{Settings: w, Log: log}), Channels: w, Containers: w, Log: log})
	if was, err := s.Recreate(t.Context(), "c"); !was || err != nil || strings.Join(w.fresh, " ") != "session:c shell:c" {
		t.Errorf("%v, %v, %v", was, err, w.fresh)
	}
	if _, err := s.Recreate(t.Context(), "gone"); core.AsFailure(err).Code != core.CodeNotFound {
		t.Error(err)
	}
	w.fail = errors.New("the store does not answer")
	if _, err := s.Recreate(t.Context(), "c"); !errors.Is(err, w.fail) {
		t.Error(err)
	}
}

// TestVisits: every ten minutes, each container that others may join is linked to, except one
// that is paused. What fails is tried again.
func TestVisits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _, end := rig(t)
		defer end()
		w.mu.Lock()
		w.boxes = []core.Container{
			{ID: "1", Name: "warm", Scope: "session:c", Status: core.ContainerRunning}, {ID: "2", Name: "own", Status: core.ContainerRunning},
			{ID: "paused", Name: "paused", Scope: "session:d", Status: core.ContainerRunning},
			{ID: "ended", Name: "ended", Scope: "session:e", Status: core.ContainerRunning},
			{ID: "3", Name: "stopped", Scope: "session:f", Status: core.ContainerStopped},
			{ID: "4", Name: "shell", Scope: "shell:c", Status: core.ContainerRunning},
		}
		w.mu.Unlock()
		for n := 1; n <= 4; n++ {
			w.mu.Lock()
			w.fail = nil
			if n == 2 {
				w.fail = errors.New("the engine is busy")
			}
			w.mu.Unlock()
			<-time.After(wire.MaxUnvisited / 3)
			synctest.Wait()
			if got, want := strings.Join(w.visited, " "), strings.TrimSpace(strings.Repeat("warm shell ", n)); got != want {
				t.Errorf("after %d times ten minutes: %s", n, got)
			}
		}
	})
}
