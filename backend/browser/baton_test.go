package browser

import (
	"testing"
	"time"

	"loop/backend/core"
)

// TestBaton tells the story of an afternoon at one page.
func TestBaton(t *testing.T) {
	var b baton
	now := time.Unix(1_000_000, 0)
	later := func(d time.Duration) { now = now.Add(d) }
	drives := func(want core.BrowserDriver) {
		t.Helper()
		b.settle(now)
		if got := b.driver; got != want && !(got == "" && want == core.DriverNobody) {
			t.Fatalf("%q drives, not %q", got, want)
		}
	}
	drives(core.DriverNobody)
	if given, told := b.begin(now); given != nil || told {
		t.Fatal("the first act of the agent did not begin")
	}
	drives(core.DriverAgent)
	later(time.Hour)
	drives(core.DriverAgent) // a long act is one
	b.done(now)
	later(agentRest - time.Nanosecond)
	drives(core.DriverAgent)
	later(time.Nanosecond)
	drives(core.DriverNobody)

	b.take(now)
	drives(core.DriverPerson)
	given, _ := b.begin(now)
	if given == nil {
		t.Fatal("the agent acts while the person drives")
	}
	b.wait(now)
	later(20 * time.Second)
	b.take(now) // the pause begins anew with each act
	later(20 * time.Second)
	drives(core.DriverPerson)
	select {
	case <-given:
		t.Fatal("given back though the person has acted")
	default:
	}
	if b.since != now.Add(-40*time.Second) {
		t.Errorf("waits since %v", b.since)
	}
	later(10 * time.Second)
	drives(core.DriverNobody)
	<-given
	b.stopped()
	if !b.since.IsZero() {
		t.Error("still waits")
	}
	if given, told := b.begin(now); given != nil || !told {
		t.Error("the agent was not told that the person drove in between")
	}
	b.take(now) // in the middle of an act
	b.done(now)
	drives(core.DriverPerson)
	b.give()
	b.give() // twice is fine
	drives(core.DriverNobody)
	if given, told := b.begin(now); given != nil || !told {
		t.Error("a turn that was taken in the middle of an act was not told of")
	}
	if _, told := b.begin(now); told {
		t.Error("told twice")
	}
}
