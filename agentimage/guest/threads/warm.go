//go:build linux

package threads

import (
	"runtime"
	"sync"
)

// MaxProcs bounds how many threads of loop init run Go code at a time; it moves
// bytes and needs no more on a large host.
const MaxProcs = 4

// Warm makes n threads exist besides those that are taken, and leaves them idle; the
// runtime never gives an idle thread back. The callers' blocking calls at any moment must
// stay below n. One Warm runs at a time; of two, each would make its own.
func Warm(n int) {
	runtime.GOMAXPROCS(min(MaxProcs, runtime.GOMAXPROCS(0)))
	var all, done sync.WaitGroup
	all.Add(n)
	release := make(chan struct{})
	for range n {
		done.Go(func() {
			// A locked goroutine has a thread to itself for as long as it waits.
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			all.Done()
			<-release
		})
	}
	all.Wait()
	close(release)
	done.Wait()
}
