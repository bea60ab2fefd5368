//go:build unix

package cli

import (
	"os"
	"os/signal"
	"sync"
	"syscall"
)

func drawOn(*os.File) (restore func()) { return func() {} }

func (c console) Resized() (changed <-chan struct{}, stop func()) {
	out := make(chan struct{}, 1)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGWINCH)
	done := make(chan struct{})
	var work sync.WaitGroup
	work.Go(func() {
		for {
			select {
			case <-signals:
				select {
				case out <- struct{}{}:
				default:
				}
			case <-done:
				return
			}
		}
	})
	return out, func() {
		signal.Stop(signals)
		close(done)
		work.Wait()
	}
}
