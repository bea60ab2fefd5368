package terminal

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"loop/backend/core"
)

// restless is started again only when its container stays up for a while.
type restless struct {
	*program
	fails []error
}

func (p *restless) Relaunch(context.Context, int64) error {
	if len(p.fails) > 0 {
		err := p.fails[0]
		p.fails = p.fails[1:]
		return err
	}
	p.change(func() { p.gone = nil })
	return nil
}

func TestRelaunchInAContainerThatIsRestartedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		fails []error
		state core.TerminalState
	}{
		"again":      {[]error{fmt.Errorf("spawn: %w", core.ErrLinkDown), fmt.Errorf("container: %w", core.ErrNotRunning), core.Fail(core.CodeNoLink, nil, "No hello.", "")}, core.TerminalRunning},
		"for good":   {[]error{core.Fail(core.CodeNotFound, core.ErrNotFound, "It was removed.", "")}, core.TerminalEnded},
		"by mistake": {[]error{core.Fail(core.CodeConfig, nil, "The settings are wrong.", "")}, core.TerminalEnded},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &restless{newProgram(), c.fails}
				s, _, _ := rig(t, Options{Programs: &programs{next: func(Start) (Program, error) { return p, nil }}})
				create(t, s, core.TerminalSpec{})
				p.print("$ ")
				synctest.Wait()
				p.change(func() { p.gone = core.ErrNotFound })
				sleep(t.Context(), 2*relaunchTries*relaunchPause)
				synctest.Wait()
				if got := s.List("")[0].State; got != c.state {
					t.Errorf("%s, want %s", got, c.state)
				}
			})
		})
	}
}
