package registry

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"loop/backend/core"
	"loop/backend/engine/enginetest"
)

// browser holds the container that a channel's browser runs in. Its name is the channel's.
var browser = core.Holder{Kind: core.HolderBrowser, ID: "ch"}

func chrome() core.Spec {
	s := spec("loop-chrome-ch-0a1b2c")
	s.Type = core.TypeChrome
	return s
}

// TestOneContainerOfAName: of fifty that start a channel's browser at once, one has it. The
// engine is asked for one container.
func TestOneContainerOfAName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, newRows(), nil)
		defer w.end()
		var wg sync.WaitGroup
		got := make([]error, 50)
		for i := range got {
			wg.Go(func() { _, got[i] = w.reg.Acquire(t.Context(), chrome(), "", browser) })
		}
		wg.Wait()
		made := slices.DeleteFunc(slices.Clone(got), func(err error) bool { return err != nil })
		refused := slices.DeleteFunc(slices.Clone(got), func(err error) bool { return !errors.Is(err, core.ErrConflict) })
		if len(made) != 1 || len(refused) != len(got)-1 {
			t.Errorf("%d were made, %d refused: %v", len(made), len(refused), got)
		}
		creates := slices.DeleteFunc(w.fake.Calls(), func(call string) bool { return call != "Create" })
		if list := w.reg.List(); len(creates) != 1 || len(list) != 1 || list[0].Status != core.ContainerRunning {
			t.Errorf("%d made, rows %+v", len(creates), list)
		}
	})
}

// slowRemoval is an engine that takes its time to remove a container.
type slowRemoval struct {
	*enginetest.Fake
	asked chan struct{}
	free  chan struct{}
}

func newSlowRemoval() *slowRemoval {
	e := &slowRemoval{Fake: enginetest.NewFake(), asked: make(chan struct{}, 10), free: make(chan struct{})}
	e.AddImage("img", "sha256:1", nil)
	return e
}

func (e *slowRemoval) Remove(ctx context.Context, id core.ContainerID, force bool) error {
	e.asked <- struct{}{}
	<-e.free
	return e.Fake.Remove(ctx, id, force)
}

// TestBrowserOfAnEarlierLoop: after a Loop that was killed, the next one removes the browser's
// container. A browser that starts meanwhile waits for that, gets the name, and keeps its
// container.
func TestBrowserOfAnEarlierLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, store := newSlowRemoval(), newRows()
		w := newWorldOn(t, store, e.Fake, e)
		old, err := w.reg.Acquire(t.Context(), chrome(), "", browser)
		if err != nil {
			t.Fatal(err)
		}
		w.stop() // and nothing is given back

		w = newWorldOn(t, store, e.Fake, e)
		defer w.end()
		<-e.asked // Run has begun to remove it
		started := make(chan core.Container, 1)
		go func() {
			if err := w.reg.Remove(t.Context(), old.ID); err != nil {
				t.Errorf("remove what is left: %v", err)
			}
			c, err := w.reg.Acquire(t.Context(), chrome(), "", browser)
			if err != nil {
				t.Errorf("start anew: %v", err)
			}
			started <- c
		}()
		pass(time.Second)
		select {
		case c := <-started:
			t.Fatalf("started before the name was free: %+v", c)
		default:
		}
		close(e.free)
		c := <-started
		pass(2 * reconcileEvery)
		w.gone(old.ID)
		if got := w.want(c.Name, core.ContainerRunning); got.ID != c.ID || c.ID == old.ID {
			t.Errorf("%+v runs, not %+v", got, c)
		}
	})
}

// TestRemoveThatIsNotWaitedFor: whoever gives up learns it, and the removal goes on.
func TestRemoveThatIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newSlowRemoval()
		w := newWorldOn(t, newRows(), e.Fake, e)
		defer w.end()
		c := w.start("a")
		first := make(chan error, 1)
		go func() { first <- w.reg.Remove(t.Context(), c.ID) }()
		<-e.asked
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := w.reg.Remove(ctx, c.ID); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("given up: %v", err)
		}
		close(e.free)
		if err := <-first; err != nil {
			t.Error(err)
		}
		w.want("a", "")
	})
}
