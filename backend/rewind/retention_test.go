package rewind

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"loop/backend/checkpoints"
	"loop/backend/core"
)

// watchedRows are rows, of which a test sees when they are dropped and stored.
type watchedRows struct {
	Rows
	dropped func()
	stored  atomic.Bool
}

func (w *watchedRows) DropCheckpoints(ctx context.Context, ids []string) error {
	err := w.Rows.DropCheckpoints(ctx, ids)
	w.dropped()
	return err
}

func (w *watchedRows) PutCheckpoint(ctx context.Context, c core.Checkpoint, talk *core.TalkChange, e ...core.Event) ([]core.Event, error) {
	out, err := w.Rows.PutCheckpoint(ctx, c, talk, e...)
	w.stored.Store(true)
	return out, err
}

// TestARunDoesNotWaitForTidyingUp: a checkpoint is taken while old ones are tidied away, and
// loses nothing by it.
func TestARunDoesNotWaitForTidyingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &watchedRows{}
		r := newRig(t, func(o *Options) { w.Rows, o.Rows = o.Rows, w })
		r.day()
		r.now = r.now.Add(24 * 365 * 50 * time.Hour) // files have the real times, and are all old by then
		r.o.Keep = 24 * 365 * 100 * time.Hour
		r.o.Bytes = 1
		run, ch := r.begin("late", fresh, nil)
		said := make(chan string, 1)
		w.dropped = func() {
			w.dropped = func() {}
			w.stored.Store(false)
			r.put(map[string]string{"docs/old.md": "old\n"}) // as the first checkpoint had it
			go func() { said <- r.Before(context.WithoutCancel(t.Context()), run, ch, fresh) }()
			synctest.Wait() // it waits for the turn
		}
		if err := r.tidy(t.Context(), "c"); err != nil {
			t.Fatal(err)
		}
		if !w.stored.Load() {
			t.Error("it waited until all was tidy")
		}
		if why := <-said; why != "" {
			t.Error(why)
		}
		c, err := r.db.Checkpoint(t.Context(), "late.before")
		if err != nil || c.Note != "" {
			t.Fatalf("%+v %v", c, err)
		}
		tree, _, err := r.tree("c", c.Tree)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range tree.Entries {
			if _, err := r.store("c").Content(e.Sum); e.Kind == checkpoints.File && err != nil {
				t.Errorf("%s: %v", e.Path, err)
			}
		}
	})
}
