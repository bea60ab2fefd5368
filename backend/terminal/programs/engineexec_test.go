package programs

import (
	"context"
	"testing"
	"testing/synctest"

	"loop/backend/core"
)

// endedTTY is a program that the engine ran and that ended with a code.
type endedTTY struct {
	core.TTY
	code int
}

func (e endedTTY) Wait(context.Context) (core.TerminalExit, error) {
	return core.TerminalExit{Code: e.code}, nil
}

// TestExecEndsWithItsContainer: a program was killed with its container. Its exit says
// so, even when the engine notices the container's end a little later.
func TestExecEndsWithItsContainer(t *testing.T) {
	for name, tc := range map[string]struct {
		code   int
		states []any // an answer per question, the last one for all later ones: running, or an error
		reason bool
	}{
		"removed":         {137, []any{core.ErrNotFound}, true},
		"stopped":         {137, []any{false}, true},
		"noticed later":   {137, []any{true, true, true, true, false}, true},
		"killed by hand":  {137, []any{true}, false},
		"ended by itself": {0, nil, false},
		"engine away":     {137, []any{core.ErrConflict}, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked := 0
				p := &execProgram{TTY: endedTTY{code: tc.code}, running: func(context.Context) (bool, error) {
					s := tc.states[min(asked, len(tc.states)-1)]
					asked++
					if err, ok := s.(error); ok {
						return false, err
					}
					return s.(bool), nil
				}}
				exit, err := p.Wait(t.Context())
				if err != nil || exit.Code != tc.code || (exit.Reason != "") != tc.reason || asked < len(tc.states) {
					t.Errorf("%+v %v, asked %d times", exit, err, asked)
				}
			})
		})
	}
}
