package runner

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"loop/backend/core"
)

const (
	// portsWait bounds the question for ports, which is answered in some milliseconds.
	portsWait = 2 * time.Second
	maxPorts  = 10 // named in one notice
)

// tellPorts says which ports are taken when the agent starts, by programs that others
// have started in the container: a server of the agent's cannot have them. The CLI needs
// tenths of a second before it can start one, so that the run does not wait for this. It is
// said once for a run. What cannot be found out is no reason to stop.
func (w *work) tellPorts(ctx context.Context) {
	l := w.currentLink()
	if l == nil || w.fresh || w.run.Attempt.Number > 1 {
		return
	}
	pctx, cancel := context.WithTimeout(ctx, portsWait)
	defer cancel()
	ports, err := l.Ports(pctx)
	if err != nil {
		w.log.Debug("list ports", "error", err)
	}
	if len(ports) == 0 {
		return
	}
	if err := w.say(ctx, "info", takenPorts(ports)); err != nil {
		w.log.Warn("store notice", "error", err)
	}
}

// takenPorts names ports and what listens on them, as far as the container says.
func takenPorts(ports []core.ListeningPort) string {
	var names []string
	for _, p := range ports[:min(len(ports), maxPorts)] {
		names = append(names, fmt.Sprintf("%d (%s)", p.Port, cmp.Or(core.CleanTitle(p.Process), "not known which program")))
	}
	if n := len(ports) - maxPorts; n > 0 {
		names = append(names, fmt.Sprintf("and %d more", n))
	}
	return "In this container other programs listen already: " + strings.Join(names, ", ") +
		". A server that the agent starts there needs another port."
}
