package daemon

import (
	"sync"
	"time"

	"loop/backend/bus"
	"loop/backend/core"
)

// batchWindow is how long events are gathered for a page: one frame at 60 Hz.
// A stream of small deltas then costs a page one message a frame.
const batchWindow = 16 * time.Millisecond

// maxBatch bounds one message to a page.
const maxBatch = 256

// batches turns a subscription into batches for one page. The goroutine ends
// when cancel is called or the bus lets the subscriber go; the channel is
// closed then.
func batches(sub *bus.Subscription, wg *sync.WaitGroup) (<-chan []core.Event, func()) {
	out := make(chan []core.Event)
	quit := make(chan struct{})
	var once sync.Once
	cancel := func() { once.Do(func() { close(quit); sub.Close() }) }
	wg.Go(func() {
		defer close(out)
		defer sub.Close()
		for {
			var batch []core.Event
			select {
			case e, ok := <-sub.C:
				if !ok {
					return
				}
				batch = append(batch, e)
			case <-quit:
				return
			}
			timer := time.NewTimer(batchWindow)
			open := true
			for gathering := true; gathering && len(batch) < maxBatch; {
				select {
				case e, ok := <-sub.C:
					if !ok {
						gathering, open = false, false
						break
					}
					batch = append(batch, e)
				case <-timer.C:
					gathering = false
				case <-quit:
					timer.Stop()
					return
				}
			}
			timer.Stop()
			select {
			case out <- batch:
			case <-quit:
				return
			}
			if !open {
				return
			}
		}
	})
	return out, cancel
}
