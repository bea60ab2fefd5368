package browser

import (
	"time"

	"loop/backend/core"
)

const (
	// agentRest is how long the agent still drives after its last act: the pane shows it
	// for as long.
	agentRest = 8 * time.Second
	// personRest is the pause after which a person who drove has given back.
	personRest = 30 * time.Second
)

// baton says who drives. It is pure: times are handed in, and its owner guards it.
type baton struct {
	driver core.BrowserDriver
	acts   int       // of the agent, under way
	last   time.Time // act of whoever drives
	since  time.Time // the agent has waited for the person; zero when it does not
	waits  int       // acts of the agent that wait
	given  chan struct{}
	drove  bool // the person has driven since the agent's last act
}

// settle lets time pass: whoever has not acted for long enough drives no more.
func (b *baton) settle(now time.Time) {
	switch {
	case b.driver == core.DriverPerson && now.Sub(b.last) >= personRest:
		b.give()
	case b.driver == core.DriverAgent && b.acts == 0 && now.Sub(b.last) >= agentRest:
		b.driver = core.DriverNobody
	}
}

// next is when settle has something to do; zero for never.
func (b *baton) next() time.Time {
	switch {
	case b.driver == core.DriverPerson:
		return b.last.Add(personRest)
	case b.driver == core.DriverAgent && b.acts == 0:
		return b.last.Add(agentRest)
	}
	return time.Time{}
}

// take is an act of the person.
func (b *baton) take(now time.Time) {
	if b.driver != core.DriverPerson {
		b.driver, b.given = core.DriverPerson, make(chan struct{})
	}
	b.last, b.drove = now, true
}

// give ends the person's turn.
func (b *baton) give() {
	if b.driver == core.DriverPerson {
		b.driver = core.DriverNobody
		close(b.given)
	}
}

// begin is an act of the agent. While the person drives it does not begin: given is
// closed when the person has given back. told says that the person drove in between.
func (b *baton) begin(now time.Time) (given <-chan struct{}, told bool) {
	b.settle(now)
	if b.driver == core.DriverPerson {
		return b.given, false
	}
	told, b.drove = b.drove, false
	b.driver, b.last = core.DriverAgent, now
	b.acts++
	return nil, told
}

// done ends an act of the agent. The person may have taken over meanwhile.
func (b *baton) done(now time.Time) {
	b.acts--
	if b.driver == core.DriverAgent {
		b.last = now
	}
}

// wait and stopped enclose the waiting of one act.
func (b *baton) wait(now time.Time) {
	if b.waits++; b.waits == 1 {
		b.since = now
	}
}

func (b *baton) stopped() {
	if b.waits--; b.waits == 0 {
		b.since = time.Time{}
	}
}
