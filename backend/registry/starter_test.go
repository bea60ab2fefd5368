package registry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"loop/backend/core"
)

// stage plays registry and engine. A start takes a second, and every step is noted.
type stage struct {
	mu       sync.Mutex
	list     []core.Container
	paused   map[core.ContainerID]bool
	busy     map[string]bool // names of containers that are being started
	together int
	notes    []string
	late     int // how often the engine still reports that nothing is paused
	pause    map[core.ContainerID]error
	ends     map[core.ContainerID]int // looks at a container until its end shows
	mounts   map[core.ContainerID][]core.Mount
	lost     bool // a pause is missing from the record; the next one corrects it
	startErr error
	unsaid   error // the error of a look at a container
}

func (s *stage) note(format string, args ...any) {
	s.notes = append(s.notes, fmt.Sprintf(format, args...))
}

func (s *stage) start(spec core.Spec) (core.Container, error) {
	s.mu.Lock()
	s.busy[spec.Name] = true
	s.together = max(s.together, len(s.busy))
	s.note("start %s", spec.Name)
	s.mu.Unlock()
	<-time.After(time.Second) // the bubble's clock, not real time
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.busy, spec.Name)
	s.note("started %s", spec.Name)
	if s.startErr != nil {
		return core.Container{}, s.startErr
	}
	c := core.Container{ID: core.ContainerID(spec.Name), Name: spec.Name, Status: core.ContainerRunning}
	s.list = append(s.list, c)
	return c, nil
}

func (s *stage) List() []core.Container {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.list)
}

func (s *stage) Pause(_ context.Context, id core.ContainerID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.pause[id]; err != nil {
		return err
	}
	if s.lost {
		s.note("pause %s again", id)
		s.lost = false
		return nil
	}
	if s.paused[id] {
		return core.ErrConflict
	}
	s.paused[id] = true
	s.note("pause %s", id)
	return nil
}

func (s *stage) Unpause(_ context.Context, id core.ContainerID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note("unpause %s", id)
	if !s.paused[id] || s.late > 0 || s.lost {
		s.late--
		return core.ErrConflict
	}
	s.paused[id] = false
	return nil
}

func (s *stage) Inspect(_ context.Context, id core.ContainerID) (core.ContainerFacts, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	running := true
	if n, ok := s.ends[id]; ok {
		running = n > 0
		s.ends[id]--
	}
	return core.ContainerFacts{ID: id, Running: running, Paused: s.paused[id] && !s.lost, Mounts: s.mounts[id]}, s.unsaid
}

// in is a container with a writable workspace and mounts below it.
func in(name, dir string, below ...string) core.Spec {
	spec := core.Spec{Name: name, Mounts: []core.Mount{{Kind: core.MountWorkspace, Source: dir, Target: dir}}}
	for _, b := range below {
		spec.Mounts = append(spec.Mounts, core.Mount{Kind: core.MountSurface, Source: b, Target: b, ReadOnly: true})
	}
	return spec
}

func onStage(t *testing.T, fn func(*testing.T, *stage, *starter)) {
	synctest.Test(t, func(t *testing.T) {
		st := &stage{paused: map[core.ContainerID]bool{}, busy: map[string]bool{}, pause: map[core.ContainerID]error{}, ends: map[core.ContainerID]int{}}
		st.mounts = map[core.ContainerID][]core.Mount{"old": in("old", "/p").Mounts, "bad": in("bad", "/p").Mounts, "far": in("far", "/q").Mounts, "desktop": in("desktop", "/host_mnt/q").Mounts}
		s := newStarter(st.List, st, func(core.Spec) error { return nil }, slog.New(slog.DiscardHandler))
		fn(t, st, s)
		if len(s.under) != 0 || len(s.turn) != 0 {
			t.Errorf("left over: %v, turn %v", s.under, len(s.turn))
		}
		for id, p := range st.paused {
			if p {
				t.Errorf("%s was left paused", id)
			}
		}
	})
}

func startAll(t *testing.T, st *stage, s *starter, specs ...core.Spec) {
	t.Helper()
	var wg sync.WaitGroup
	for _, spec := range specs {
		wg.Go(func() {
			if _, err := s.start(t.Context(), spec, func() (core.Container, error) { return st.start(spec) }); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// TestThreadsOfAProjectStartOneByOne: during each start the other threads are paused.
// Other projects do not wait.
func TestThreadsOfAProjectStartOneByOne(t *testing.T) {
	onStage(t, func(t *testing.T, st *stage, s *starter) {
		began := time.Now()
		startAll(t, st, s, in("a", "/p", "/p/.git/hooks"), in("b", "/p", "/p/.git/hooks"), in("c", "/p", "/p/.git/hooks"))
		if st.together != 1 || time.Since(began) != 3*time.Second {
			t.Errorf("%d at once, after %v: %q", st.together, time.Since(began), st.notes)
		}
		// The second start pauses the first container, the third pauses both.
		var pauses int
		held := map[string]bool{}
		for _, n := range st.notes {
			var verb, who string
			if _, err := fmt.Sscan(n, &verb, &who); err != nil {
				t.Fatal(err)
			}
			switch verb {
			case "pause":
				pauses++
				held[who] = true
			case "unpause":
				delete(held, who)
			case "started":
				for _, c := range st.list {
					if c.Name != who && !held[c.Name] && slices.Index(st.notes, "started "+c.Name) < slices.Index(st.notes, n) {
						t.Errorf("%s went on while %s was started: %q", c.Name, who, st.notes)
					}
				}
			}
		}
		if pauses != 3 {
			t.Errorf("%d pauses: %q", pauses, st.notes)
		}
	})
	onStage(t, func(t *testing.T, st *stage, s *starter) {
		began := time.Now()
		startAll(t, st, s, in("a", "/p", "/p/.git/hooks"), in("b", "/q", "/q/.git/hooks"), in("c", "/p"))
		if time.Since(began) > 2*time.Second || st.together < 2 {
			t.Errorf("%d at once, after %v: %q", st.together, time.Since(began), st.notes)
		}
	})
}

// TestStartsThatHoldTakeTurns: no start resumes a container that another start needs
// paused.
func TestStartsThatHoldTakeTurns(t *testing.T) {
	onStage(t, func(t *testing.T, st *stage, s *starter) {
		startAll(t, st, s, in("a", "/p"))
		var wg sync.WaitGroup
		wg.Go(func() { startAll(t, st, s, in("b", "/q", "/p/x")) })
		wg.Go(func() {
			<-time.After(500 * time.Millisecond)
			startAll(t, st, s, in("c", "/r", "/p/y"))
		})
		wg.Wait()
		want := []string{"start a", "started a", "pause a", "start b", "started b", "unpause a", "pause a", "start c", "started c", "unpause a"}
		if !slices.Equal(st.notes, want) {
			t.Errorf("%q", st.notes)
		}
	})
}

func TestWhoIsHeld(t *testing.T) {
	boom, far := errors.New("no freezer"), []string{"start b", "started b"}
	if runtime.GOOS != "linux" { // the engine runs in a virtual machine
		far = []string{"pause far", "start b", "started b", "unpause far"}
	}
	for name, tc := range map[string]struct {
		prepare func(*stage, *starter)
		fails   bool
		notes   []string
	}{
		"a container of an earlier process": {func(st *stage, _ *starter) {
			st.list = []core.Container{{ID: "old", Status: core.ContainerRunning}, {ID: "done", Status: core.ContainerStopped}, {Status: core.ContainerReserved}}
		}, false, []string{"pause old", "start b", "started b", "unpause old"}},
		"one of an earlier process that cannot disturb": {func(st *stage, _ *starter) {
			st.list = []core.Container{{ID: "far", Status: core.ContainerRunning}}
		}, false, far},
		"one in a virtual machine of the engine's": {func(st *stage, _ *starter) {
			st.list = []core.Container{{ID: "desktop", Status: core.ContainerRunning}, {ID: "unheard-of", Status: core.ContainerRunning}}
		}, false, []string{"pause desktop", "pause unheard-of", "start b", "started b", "unpause desktop", "unpause unheard-of"}},
		"one that nothing can be said of": {func(st *stage, _ *starter) {
			st.list, st.unsaid = []core.Container{{ID: "old", Status: core.ContainerRunning}}, boom
		}, true, nil},
		"one that is gone": {func(st *stage, _ *starter) {
			st.list, st.unsaid = []core.Container{{ID: "old", Status: core.ContainerRunning}}, core.ErrNotFound
		}, false, []string{"start b", "started b"}},
		"one that ended": {func(st *stage, _ *starter) {
			st.list, st.pause["old"] = []core.Container{{ID: "old", Status: core.ContainerRunning}}, core.ErrNotRunning
		}, false, []string{"start b", "started b"}},
		"one that somebody else paused": {func(st *stage, _ *starter) {
			st.list, st.paused["old"] = []core.Container{{ID: "old", Status: core.ContainerRunning}}, true
		}, false, []string{"unpause old", "pause old", "start b", "started b", "unpause old"}},
		"one that is said to be paused for ever": {func(st *stage, _ *starter) {
			st.list, st.pause["old"] = []core.Container{{ID: "old", Status: core.ContainerRunning}}, fmt.Errorf("%w: %w", boom, core.ErrConflict)
		}, true, slices.Repeat([]string{"unpause old"}, int(settleTime/settleTick))},
		"one whose end the engine does not know yet": {func(st *stage, _ *starter) {
			st.list = []core.Container{{ID: "old", Status: core.ContainerRunning}}
			st.pause["old"], st.ends["old"] = errors.New("cannot pause a stopped container"), 100
		}, false, []string{"start b", "started b"}},
		"one that ends while it is held": {func(st *stage, s *starter) {
			st.list, st.late = []core.Container{{ID: "old", Status: core.ContainerRunning}}, 1000
			s.lastLook = func(core.Spec) error {
				st.ends["old"], st.paused["old"] = 0, false
				return nil
			}
		}, false, []string{"pause old", "start b", "started b", "unpause old"}},
		"one whose pause the engine forgot": {func(st *stage, s *starter) {
			st.list = []core.Container{{ID: "old", Status: core.ContainerRunning}}
			s.lastLook = func(core.Spec) error {
				st.lost = true
				return nil
			}
		}, false, slices.Concat([]string{"pause old", "start b", "started b"},
			slices.Repeat([]string{"unpause old"}, wakeLooks), []string{"pause old again", "unpause old"})},
		"one whose waking is refused for a while": {func(st *stage, _ *starter) {
			st.list, st.late = []core.Container{{ID: "old", Status: core.ContainerRunning}}, 2
		}, false, []string{"pause old", "start b", "started b", "unpause old", "unpause old", "unpause old"}},
		"one that cannot be held": {func(st *stage, _ *starter) {
			st.list, st.pause["bad"] = []core.Container{{ID: "old", Status: core.ContainerRunning}, {ID: "bad", Status: core.ContainerRunning}}, boom
		}, true, []string{"pause old", "unpause old"}},
		"something moved": {func(st *stage, s *starter) {
			st.list = []core.Container{{ID: "old", Status: core.ContainerRunning}}
			s.lastLook = func(core.Spec) error { return boom }
		}, true, []string{"pause old", "unpause old"}},
		"the engine refuses": {func(st *stage, _ *starter) {
			st.list, st.startErr = []core.Container{{ID: "old", Status: core.ContainerRunning}}, boom
		}, true, []string{"pause old", "start b", "started b", "unpause old"}},
	} {
		t.Run(name, func(t *testing.T) {
			onStage(t, func(t *testing.T, st *stage, s *starter) {
				tc.prepare(st, s)
				b := in("b", "/p", "/p/x")
				if _, err := s.start(t.Context(), b, func() (core.Container, error) { return st.start(b) }); (err != nil) != tc.fails || tc.fails && !errors.Is(err, boom) {
					t.Error(err)
				}
				if !slices.Equal(st.notes, tc.notes) {
					t.Errorf("%q", st.notes)
				}
			})
		})
	}
}

// TestAwake: a caller that opens a link waits for a start that has paused the
// container. It resumes a container that an earlier process left paused.
func TestAwake(t *testing.T) {
	onStage(t, func(t *testing.T, st *stage, s *starter) {
		startAll(t, st, s, in("a", "/p"))
		began := time.Now()
		var wg sync.WaitGroup
		wg.Go(func() { startAll(t, st, s, in("b", "/q", "/p/x")) })
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if err := (&Registry{starter: s}).Awake(ctx, "a"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("woken under a start: %v", err)
		}
		if err := (&Registry{starter: s}).Awake(t.Context(), "a"); err != nil || time.Since(began) != time.Second || st.paused["a"] {
			t.Errorf("after %v: %v, paused %v", time.Since(began), err, st.paused["a"])
		}
		wg.Wait()
	})
	onStage(t, func(t *testing.T, st *stage, s *starter) {
		st.paused["old"] = true
		if err := (&Registry{starter: s}).Awake(t.Context(), "old"); err != nil || st.paused["old"] {
			t.Errorf("%v, paused %v", err, st.paused["old"])
		}
	})
}

func TestStartWaitsNoLongerThanItsCaller(t *testing.T) {
	onStage(t, func(t *testing.T, st *stage, s *starter) {
		var wg sync.WaitGroup
		wg.Go(func() { startAll(t, st, s, in("a", "/p", "/p/x")) })
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if _, err := s.start(ctx, in("b", "/p", "/p/x"), nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		wg.Wait()
	})
}
