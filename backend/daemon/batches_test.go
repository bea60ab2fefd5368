package daemon

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"loop/backend/bus"
	"loop/backend/core"
)

func TestBatchesKeepOrderAndGatherAFrame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := bus.New(nil)
		var wg sync.WaitGroup
		out, cancel := batches(b.Subscribe(), &wg)
		for range 3 {
			b.Publish(core.Event{Type: core.EventNotice})
		}
		began := time.Now()
		got := <-out
		if len(got) != 3 || got[0].Seq != 1 || got[2].Seq != 3 {
			t.Errorf("%+v", got)
		}
		if took := time.Since(began); took != batchWindow {
			t.Errorf("gathered for %v", took)
		}
		for range maxBatch + 1 {
			b.Publish(core.Event{Type: core.EventNotice})
		}
		if got = <-out; len(got) != maxBatch {
			t.Errorf("%d in a batch", len(got))
		}
		<-out
		cancel()
		wg.Wait()
		if _, ok := <-out; ok {
			t.Error("open after cancel")
		}
	})
}

func TestBatchesEndWithTheSubscription(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := bus.New(nil)
		var wg sync.WaitGroup
		out, cancel := batches(b.Subscribe(), &wg)
		defer cancel()
		b.Publish(core.Event{Type: core.EventNotice})
		b.Close()
		if got := <-out; len(got) != 1 {
			t.Errorf("%+v", got)
		}
		if _, ok := <-out; ok {
			t.Error("open after the bus closed")
		}
		wg.Wait()
	})
}
