//go:build unix

package hostpty

import (
	"os"
	"os/signal"
	"syscall"
)

// hearSignals lets programs begin with the signals that a terminal sends. Signals that
// Loop ignores are ignored in its children too. Loop ignores some if it was started by
// nohup or in the background of a script, and then no hang-up would end a shell. A
// signal that is caught is not handed on, and catching it into a channel that nobody
// reads changes nothing for Loop.
func hearSignals() {
	for _, s := range []os.Signal{syscall.SIGHUP, syscall.SIGINT} {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
}
