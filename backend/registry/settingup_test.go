package registry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"loop/backend/core"
	"loop/backend/engine/enginetest"
	"loop/backend/wire"
)

// setupWorld is an engine whose containers run what is staged for them, as loop init does,
// and end; with nothing staged they go on.
type setupWorld struct {
	*enginetest.Fake
	*world
	mu      sync.Mutex // guards all below
	staged  bool
	setups  int             // that were run
	code    int             // with which they end
	said    string          // by them
	slow    chan struct{}   // they wait for it, unless it is nil
	fail    map[string]bool // calls of the engine that fail
	astray  bool            // the engine does not leave the network of the set-up
	refused bool            // what was staged cannot be taken back
}

func (s *setupWorld) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

func (s *setupWorld) due() (is bool) {
	s.set(func() { is = s.staged })
	return is
}

func (s *setupWorld) ran() (n int) {
	s.set(func() { n = s.setups })
	return n
}

func (s *setupWorld) do(call string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail[call] {
		return errors.New("boom")
	}
	return nil
}

func (s *setupWorld) SetNetwork(ctx context.Context, id core.ContainerID, network string) error {
	astray := false
	s.set(func() { astray = s.astray && network == "none" })
	if astray {
		return nil
	}
	return errors.Join(s.do("network "+network), s.Fake.SetNetwork(ctx, id, network))
}

func (s *setupWorld) Wait(ctx context.Context, id core.ContainerID) (int, error) {
	code, err := s.Fake.Wait(ctx, id)
	return code, errors.Join(err, s.do("wait"))
}

func (s *setupWorld) Remove(ctx context.Context, id core.ContainerID, force bool) error {
	if err := s.do("remove"); err != nil {
		return err
	}
	return s.Fake.Remove(ctx, id, force)
}

func newSetupWorld(t *testing.T, store *rows) *setupWorld {
	t.Helper()
	s := &setupWorld{Fake: enginetest.NewFake(), code: wire.ExitSetUp, fail: map[string]bool{}}
	s.AddImage("img", "sha256:1", nil)
	s.Main = func(ctx context.Context, _ core.Spec, log io.Writer) int {
		s.mu.Lock()
		staged, slow, code := s.staged, s.slow, s.code
		_, _ = fmt.Fprint(log, s.said)
		if staged {
			s.setups++
		}
		s.mu.Unlock()
		if !staged {
			<-ctx.Done()
			return 143
		}
		if slow != nil {
			select {
			case <-slow:
			case <-ctx.Done():
				return wire.ExitSetupFailed
			}
		}
		return code
	}
	s.world = newWorldOn(t, store, s.Fake, s)
	s.reg.o.Setup = func(_ core.ContainerSetup, due bool) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		if !due && s.refused {
			return errors.New("boom")
		}
		s.staged = due
		return nil
	}
	return s
}

func withSetup(command string) core.Spec {
	s := scoped("box", "session:ch", command)
	s.Network, s.Setup = "none", core.ContainerSetup{Command: command, Network: "bridge", Dir: "/x"}
	return s
}

func (s *setupWorld) acquire(command, holder string) (core.Container, error) {
	return s.reg.Acquire(context.Background(), withSetup(command), "", core.Holder{Kind: core.HolderRun, ID: holder})
}

func (s *setupWorld) networks(id core.ContainerID) []string {
	f, _ := s.Inspect(context.Background(), id)
	return f.Networks
}

// TestSetupRunsOnce: before the first lease, on its own network, which is gone by then, and
// once for the container, whoever comes next and however often it starts.
func TestSetupRunsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSetupWorld(t, newRows())
		defer s.end()
		s.slow = make(chan struct{})
		done := make(chan core.Container)
		go func() {
			c, err := s.acquire("one", "a")
			if err != nil {
				t.Error(err)
			}
			done <- c
		}()
		synctest.Wait()
		if list := s.reg.List(); len(list) != 1 || list[0].Scope != "" || list[0].Status != core.ContainerReserved ||
			!slices.Equal(s.networks(list[0].ID), []string{"bridge"}) {
			t.Fatalf("while it is set up: %+v", list)
		}
		close(s.slow)
		c := <-done
		if c.Scope != "session:ch" || c.Status != core.ContainerRunning || s.due() || !slices.Equal(s.networks(c.ID), []string{"none"}) {
			t.Fatalf("set up: %+v on %q", c, s.networks(c.ID))
		}
		if again, err := s.acquire("one", "b"); err != nil || again.ID != c.ID || s.ran() != 1 {
			t.Fatalf("the next got %+v, %v; %d set-ups", again, err, s.ran())
		}
		s.EndMain(c.ID, 0, false)
		synctest.Wait()
		if again, err := s.acquire("one", "c"); err != nil || again.ID != c.ID || s.ran() != 1 || !s.runs(c.ID) {
			t.Fatalf("started again: %+v, %v; %d set-ups", again, err, s.ran())
		}
		synctest.Wait() // until it has looked for a set-up, and found none
		if other, err := s.acquire("two", "d"); err != nil || other.ID == c.ID || s.ran() != 2 {
			t.Fatalf("with another command: %+v, %v; %d set-ups", other, err, s.ran())
		}
	})
}

// TestSetupThatFails leaves nothing that anybody is given, also where the engine does not
// remove it at first.
func TestSetupThatFails(t *testing.T) {
	for name, c := range map[string]struct {
		breakIt func(*setupWorld)
		want    string
	}{
		"the command": {func(s *setupWorld) {
			s.code, s.said = wire.ExitSetupFailed, "E: \x1b[1mno package\n\nsetupCommand: exit status 100\n"
		}, "setupCommand failed: “setupCommand: exit status 100”"},
		"loop init is killed":     {func(s *setupWorld) { s.code = 137 }, "the container ended with code 137"},
		"it ends by itself":       {func(s *setupWorld) { s.code = 0 }, "the container ended with code 0"},
		"onto the network":        {func(s *setupWorld) { s.fail["network bridge"] = true }, "network “bridge”"},
		"off the network":         {func(s *setupWorld) { s.fail["network none"] = true }, "network “none”"},
		"not off the network":     {func(s *setupWorld) { s.astray = true }, "network “none”"},
		"the wait":                {func(s *setupWorld) { s.fail["wait"] = true }, "boom"},
		"it cannot be taken back": {func(s *setupWorld) { s.refused = true }, "boom"},
		"and is not removed": {func(s *setupWorld) { s.code, s.fail["remove"] = wire.ExitSetupFailed, true },
			"the container ended with code 91"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSetupWorld(t, newRows())
				defer s.end()
				s.set(func() { c.breakIt(s) })
				_, err := s.acquire("one", "a")
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Fatalf("got %v, want %q", err, c.want)
				}
				if f := core.AsFailure(err); c.want != "boom" && (f.Code != core.CodeSetup || f.Remedy == "") {
					t.Fatalf("got %+v", f)
				}
				if strings.Contains(core.AsFailure(err).Detail, "\x1b") {
					t.Fatalf("raw output in %q", core.AsFailure(err).Detail)
				}
				before := s.reg.List()
				if kept := len(before); kept != 0 && !s.fail["remove"] || kept == 1 && before[0].Scope != "" {
					t.Fatalf("left: %+v", before)
				}
				s.set(func() {
					s.code, s.fail, s.astray, s.refused, s.setups = wire.ExitSetUp, map[string]bool{}, false, false, 0
				})
				got, err := s.acquire("one", "b")
				if err != nil || s.ran() != 1 || len(before) == 1 && before[0].ID == got.ID {
					t.Fatalf("the next got %+v, %v after %d set-ups", got, err, s.ran())
				}
				pass(keptFor + time.Minute)
				if list := s.reg.List(); len(list) != 1 || list[0].ID != got.ID {
					t.Fatalf("left in the end: %+v", list)
				}
			})
		})
	}
}

// whenReady is a store that something happens in when a container is its scope's.
type whenReady struct {
	Store
	do func(core.ContainerID)
}

func (s *whenReady) UpdateContainer(ctx context.Context, c core.Container) error {
	err := s.Store.UpdateContainer(ctx, c)
	if c.Scope != "" && c.Status == core.ContainerRunning {
		s.do(c.ID)
	}
	return err
}

// TestSetupInterrupted: cancelled, removed by a person, and by the end of Loop.
func TestSetupInterrupted(t *testing.T) {
	begin := func(t *testing.T, ctx context.Context, store *rows) (*setupWorld, chan error) {
		s := newSetupWorld(t, store)
		s.slow = make(chan struct{})
		done := make(chan error, 1)
		go func() {
			_, err := s.reg.Acquire(ctx, withSetup("one"), "", run)
			done <- err
		}()
		synctest.Wait()
		if len(s.reg.List()) != 1 || s.ran() != 1 {
			t.Fatalf("not begun: %+v", s.reg.List())
		}
		return s, done
	}
	t.Run("cancelled", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			s, done := begin(t, ctx, newRows())
			defer s.end()
			cancel()
			if err := <-done; !errors.Is(err, context.Canceled) || len(s.reg.List()) != 0 {
				t.Fatalf("ended with %v; left %+v", err, s.reg.List())
			}
		})
	})
	for name, end := range map[string]func(*setupWorld, context.CancelFunc, core.ContainerID){
		"cancelled when it is ready": func(_ *setupWorld, cancel context.CancelFunc, _ core.ContainerID) { cancel() },
		"removed when it is ready": func(s *setupWorld, _ context.CancelFunc, id core.ContainerID) {
			if w := s.reg.of(id); w.abandon != nil { // as abandonSetup, which waits for the lock
				w.abandon(errors.New("removed"))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				s, done := begin(t, ctx, newRows())
				defer s.end()
				s.reg.o.Store = &whenReady{s.reg.o.Store, func(id core.ContainerID) { end(s, cancel, id) }}
				close(s.slow)
				err, list := <-done, s.reg.InScopes("session:ch")
				if kept := ctx.Err() != nil; (err == nil) != kept || (len(list) == 1) != kept {
					t.Fatalf("ended with %v; in the scope %+v", err, list)
				}
				cancel()
			})
		})
	}
	t.Run("removed", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s, done := begin(t, t.Context(), newRows())
			defer s.end()
			id := s.reg.List()[0].ID
			if err := s.reg.Remove(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			if err := <-done; core.AsFailure(err).Code != core.CodeCancelled || len(s.reg.List()) != 0 {
				t.Fatalf("ended with %v; left %+v", err, s.reg.List())
			}
			s.gone(id)
		})
	})
	t.Run("never ends", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s, done := begin(t, t.Context(), newRows())
			defer s.end()
			pass(setupTime + time.Second)
			if err := <-done; core.AsFailure(err).Code != core.CodeSetup || len(s.reg.List()) != 0 {
				t.Fatalf("ended with %v; left %+v", err, s.reg.List())
			}
		})
	})
	for _, ended := range []bool{false, true} {
		t.Run(fmt.Sprintf("Loop dies, the set-up ended %v", ended), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := newRows()
				ctx, cancel := context.WithCancel(t.Context())
				s, done := begin(t, ctx, store)
				defer s.end()
				old := s.reg.List()[0].ID
				kept := newRows() // what the disk has at that moment
				for _, c := range store.m {
					kept.m[c.Key] = c
					kept.leases[core.Lease{Container: c.Key, Holder: run}] = true
				}
				slow := s.slow
				s.set(func() { s.staged, s.slow = false, nil })
				s.set(func() { s.fail["remove"] = true }) // the dead cannot
				cancel()
				<-done
				if ended {
					close(slow)
					synctest.Wait()
				}
				next := newRegistry(kept, s.Fake)
				next.o.Setup = s.reg.o.Setup
				if err := next.Restore(t.Context()); err != nil {
					t.Fatal(err)
				}
				c, err := next.Acquire(t.Context(), withSetup("one"), "", run)
				if err != nil || c.ID == old || s.ran() != 2 {
					t.Fatalf("got %+v, %v after %d set-ups", c, err, s.ran())
				}
				if err := next.Reconcile(t.Context()); err != nil {
					t.Fatal(err)
				}
				if list := next.InScopes("session:ch"); len(list) != 1 || list[0].ID != c.ID {
					t.Fatalf("in the scope: %+v", list)
				}
			})
		})
	}
}
