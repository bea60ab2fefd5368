//go:build unix

package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func drawOn(*os.File) (restore func()) { return func() {} }

func (c console) Resized(ctx context.Context, changed func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGWINCH)
	defer signal.Stop(signals)
	for {
		select {
		case <-signals:
			changed()
		case <-ctx.Done():
			return
		}
	}
}
