//go:build linux

package supervise

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"loop/backend/policy"
	"loop/backend/wire"
)

// tallied is a supervisor that only counts, and what it tells.
func tallied(t *testing.T) (s *Supervisor, told *[]wire.Decisions) {
	t.Helper()
	told = &[]wire.Decisions{}
	s = &Supervisor{stop: make(chan struct{}), options: Options{Tell: func(d wire.Decisions) {
		if err := d.Validate(); err != nil {
			t.Error(err)
		}
		*told = append(*told, d)
	}}}
	s.view.Store(&view{Judge: &rules{}, version: 7})
	s.tally = newTally(s)
	return s, told
}

func (s *Supervisor) decided(v policy.Verdict, target string) {
	c := &call{s: s, tid: os.Getpid(), name: "openat"}
	c.ruled(v, func() *question { return &question{kind: wire.KindFile, op: policy.Read, target: target} })
	s.tally.count(c)
}

func TestDecisionsAreToldTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, told := tallied(t)
		for range 1000 {
			s.decided(policy.Verdict{Decision: policy.Allow}, "/x")
		}
		s.decided(policy.Verdict{Decision: policy.Allow, Rule: "granted"}, "/x")
		<-time.After(wire.TellEvery * time.Millisecond * 3 / 2)
		if len(*told) != 0 {
			t.Error("told of allowed calls at once")
		}
		deny := policy.Verdict{Decision: policy.Deny, Rule: "keys", Category: policy.Credential, Message: "no"}
		for range 3 {
			s.decided(deny, "/key")
		}
		s.decided(deny, "/other\xff")
		<-time.After(wire.TellEvery * time.Millisecond)
		if len(*told) != 1 {
			t.Fatalf("told %d times", len(*told))
		}
		d := (*told)[0]
		if d.Policy != 7 || d.Unruled != 1000 || len(d.Allowed) != 1 || d.Allowed[0] != (wire.RuleCount{Rule: "granted", Operation: "read", Calls: 1}) {
			t.Errorf("allowed: %+v", d)
		}
		if len(d.Denied) != 2 || d.Denied[0].Calls != 3 || d.Denied[0].Target != "/key" || d.Denied[0].Rule != "keys" ||
			d.Denied[0].Category != "credential" || d.Denied[0].Call != "openat" || d.Denied[1].Target != "/other?" {
			t.Errorf("denied: %+v", d.Denied)
		}
		close(s.stop)
		s.wg.Wait()
		if len(*told) != 1 {
			t.Error("told of nothing at the end")
		}
	})
}

// TestAFloodOfDenialsIsBounded: what is not named is counted, and nothing is told twice.
func TestAFloodOfDenialsIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, told := tallied(t)
		deny := policy.Verdict{Decision: policy.Deny, Rule: strings.Repeat("r", 4000), Message: strings.Repeat("\xff\x01", 4000)}
		for i := range 500 {
			s.decided(deny, fmt.Sprint("/", strings.Repeat("\x01", 4000), i))
			s.decided(deny, fmt.Sprint(i, "/", strings.Repeat("\x01", 4000)))
			s.decided(policy.Verdict{Decision: policy.Allow, Rule: fmt.Sprint("rule", i)}, "/x")
		}
		close(s.stop)
		s.wg.Wait()
		var denied, allowed int64
		for _, d := range *told {
			denied += d.Uncounted
			allowed += d.AllowedMore
			for _, one := range d.Denied {
				denied += one.Calls
			}
			for _, one := range d.Allowed {
				allowed += one.Calls
			}
		}
		if denied != 1000 || allowed != 500 || len(*told) < 2 {
			t.Errorf("%d denied, %d allowed in %d reports", denied, allowed, len(*told))
		}
	})
}

// TestWhatARuleWouldHaveDoneIsNamed: in the mode that only watches, with half of the room
// left to denials.
func TestWhatARuleWouldHaveDoneIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, told := tallied(t)
		would := policy.Verdict{Decision: policy.Allow, Rule: policy.WouldAsk + "startup.shell", Category: policy.Startup}
		for range 3 {
			s.decided(would, "/home/u/.bashrc")
		}
		for i := range 100 {
			s.decided(would, fmt.Sprint("/home/u/.config/fish/conf.d/", i))
		}
		s.decided(policy.Verdict{Decision: policy.Deny, Rule: "keys"}, "/key")
		close(s.stop)
		s.wg.Wait()
		var named, denied, counted int64
		for _, d := range *told {
			for _, one := range d.Denied {
				if one.Allowed {
					named += one.Calls
				} else {
					denied += one.Calls
				}
			}
			for _, one := range d.Allowed {
				counted += one.Calls
			}
			if d.Uncounted+d.AllowedMore > 0 {
				t.Errorf("%+v", d)
			}
		}
		if first := (*told)[0].Denied[0]; first.Target != "/home/u/.bashrc" || first.Calls != 3 || !first.Allowed || first.Rule != would.Rule {
			t.Errorf("%+v", first)
		}
		if named < wire.MaxDenials/2 || named+counted != 103 || denied != 1 {
			t.Errorf("%d named, %d counted, %d denied", named, counted, denied)
		}
	})
}
