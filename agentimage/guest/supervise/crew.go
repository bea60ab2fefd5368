//go:build linux

package supervise

import (
	"sync"
	"time"

	"loop/agentimage/guest/threads"
)

// side tells apart what may wait for each other, so that those who wait never keep out
// those for whom they wait.
type side int

const (
	resuming side = iota // does not wait for long
	readers              // open a FIFO for reading, or a device
	writers              // open a FIFO for writing
	placing              // one thread that may put files into place
	sides
)

// crewSize bounds the threads of a side; what is more waits for one.
var crewSize = [sides]int{resuming: 2, readers: 64, writers: 64, placing: 1}

// A runtime that cannot start a thread ends its process, and the supervisor's end is the
// container's. So a thread more is started by itself, one at a time, and only while the
// container's limit leaves roomFor others: programs that start threads meanwhile must not
// take the last one. The runtime keeps spareThreads idle besides.
const (
	spareThreads = 8
	roomFor      = 48
)

// poke is how often a thread is interrupted whose call must end.
const poke = 20 * time.Millisecond

// job is work for a call on a thread that may wait.
type job struct {
	c   *call
	run func() outcome
}

// crew is a bounded number of performing threads, which come with the work and stay: the
// runtime would lose one with each that ends, also of those that are held in reserve for a
// container that is full of processes. The first thread of a side is taken from those; more
// are started only where the container has room.
type crew struct {
	s     *Supervisor
	side  side
	mu    sync.Mutex
	queue []job
	more  chan struct{} // one token for each job in the queue that a waiting thread may take
	here  int           // threads
	rest  int           // of them without work
	busy  map[*thread]*call
	over  bool
}

func newCrew(s *Supervisor, side side) *crew {
	return &crew{s: s, side: side, more: make(chan struct{}, crewSize[side]), busy: make(map[*thread]*call)}
}

// do runs a job, at once where a thread is free or may be started.
func (w *crew) do(j job) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over {
		return // the listener closes, which answers the caller
	}
	w.queue = append(w.queue, j)
	switch {
	case w.rest > 0:
		w.rest--
		w.more <- struct{}{}
	case w.here == 0:
		w.start()
	case w.here < crewSize[w.side]:
		w.s.wg.Go(w.grow)
	}
}

// start has one more thread. The caller holds the lock.
func (w *crew) start() {
	w.here++
	w.s.wg.Go(w.work)
}

// grow has one more thread where jobs wait and there is room for it. Otherwise they wait
// for those that there are.
func (w *crew) grow() {
	w.s.growing.Lock()
	defer w.s.growing.Unlock()
	if !w.s.options.room() {
		return
	}
	threads.Warm(spareThreads + 1)
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.over && len(w.queue) > 0 && w.here < crewSize[w.side] {
		w.start()
	}
}

func (w *crew) work() {
	var extra uint64
	if w.side == placing {
		extra = capDACOverride
	}
	th, err := become(w.s.agent, extra)
	if err != nil {
		w.s.log.Error("start a performing thread", "err", err)
		w.s.end() // nothing may be performed as anybody else
		return
	}
	for w.next(th) {
	}
}

// next does one job, and waits for it; false at the end.
func (w *crew) next(th *thread) bool {
	w.mu.Lock()
	for len(w.queue) == 0 && !w.over {
		w.rest++
		w.mu.Unlock()
		<-w.more
		w.mu.Lock()
	}
	if w.over {
		w.mu.Unlock()
		return false
	}
	j := w.queue[0]
	w.queue = w.queue[1:]
	w.busy[th] = j.c
	w.mu.Unlock()

	j.c.th = th
	out := j.run()

	w.mu.Lock()
	delete(w.busy, th)
	w.mu.Unlock()
	w.s.finish(j.c, out)
	return true
}

// waiting returns the calls whose threads may have to be interrupted.
func (w *crew) waiting() map[*thread]*call {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := make(map[*thread]*call, len(w.busy))
	for th, c := range w.busy {
		out[th] = c
	}
	return out
}

func (w *crew) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	w.queue = nil
	for w.rest > 0 {
		w.rest--
		w.more <- struct{}{}
	}
}

// interruptUntil interrupts threads until what they do has ended.
func interruptUntil(gone <-chan struct{}, who <-chan *thread) {
	var all []*thread
	for th := range who {
		all = append(all, th)
	}
	tick := time.NewTicker(poke)
	defer tick.Stop()
	for {
		for _, th := range all {
			th.interrupt()
		}
		select {
		case <-gone:
			return
		case <-tick.C:
		}
	}
}
