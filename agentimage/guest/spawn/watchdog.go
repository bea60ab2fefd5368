//go:build linux

package spawn

import (
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A supervisor that somebody has stopped answers no call, and its program waits for ever.
// Nothing in the container is able to do that to it, but whoever may use the engine is. It
// is looked at this often, and ended when it was stopped at so many looks in a row: together
// half a minute, after which a person who stopped it by mistake has seen what it does.
//
// Looks are counted, not time. A computer that sleeps and a container that is paused stop
// loop init as well, which then looks at nothing; what freezes a process does not make its
// state “stopped” either.
const (
	keeperLook = 5 * time.Second
	maxStopped = 6
)

// awaitKeeper waits until the keeper has ended.
func (p *proc) awaitKeeper(k *keeperEnd) syscall.WaitStatus {
	if !p.supervised {
		return <-k.ended
	}
	tick := time.NewTicker(keeperLook)
	defer tick.Stop()
	for stopped := 0; ; {
		select {
		case ws := <-k.ended:
			return ws
		case <-tick.C:
			stopped = p.look(stopped)
		}
	}
}

// look counts the looks in a row at which the keeper was stopped, and ends a keeper at the
// last of them. What it supervised ends with it.
func (p *proc) look(stopped int) int {
	q, ok := readProcess(p.keeper)
	if !ok || q.state != 'T' || q.ppid != os.Getpid() {
		return 0
	}
	if stopped++; stopped < maxStopped {
		return stopped
	}
	p.tab.cfg.Log.Error("supervisor is stopped: it is ended", "id", p.id, "for", keeperLook*maxStopped)
	if err := signalProcess(q, unix.SIGKILL); err != nil {
		p.tab.cfg.Log.Error("end a stopped supervisor", "id", p.id, "err", err)
	}
	return 0
}
