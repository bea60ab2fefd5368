//go:build unix

package hostpty

import (
	"os"
	"os/signal"
	"syscall"
)

// hearSignals lets programs begin with the signals that a terminal sends. A program
// begins with those ignored that Loop itself was started with ignored, by nohup or
// from a script in the background: a hang-up would end no shell then. One that is
// caught, be it by nobody, is not handed on, and does as little to Loop.
func hearSignals() {
	for _, s := range []os.Signal{syscall.SIGHUP, syscall.SIGINT} {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
}
