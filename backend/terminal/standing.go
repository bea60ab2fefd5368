package terminal

import (
	"slices"
	"strings"

	"loop/backend/core"
)

// Standing is what would be missed of a session if Loop ended now.
type Standing struct {
	core.TerminalInfo
	Outlives bool   // its program goes on without Loop
	Idle     bool   // its shell waits for a command, and nothing runs behind it
	Runs     string // else what runs, cleaned as titles are; empty where nobody knows
}

// Standing looks at every session, oldest first. It asks the system about those
// whose programs end with Loop, which takes some milliseconds each.
func (s *Service) Standing() []Standing {
	var out []Standing
	for _, t := range s.all() {
		out = append(out, t.standing())
	}
	return out
}

func (s *session) standing() Standing {
	s.mu.Lock()
	st := Standing{TerminalInfo: s.viewLocked(), Outlives: s.keep, Runs: s.runs()}
	s.mu.Unlock()
	over := st.State == core.TerminalEnded
	if len(st.Cmd) > 0 {
		st.Runs = core.CleanTitle(strings.Join(st.Cmd, " "))
	}
	if over {
		st.Runs = ""
	}
	if !over && (len(st.Cmd) > 0 || st.Shell == core.ShellRunning) {
		return st
	}
	i, known := s.program.(Inspector)
	if s.keep || !known {
		st.Idle = over || st.Shell == core.ShellPrompt
		return st
	}
	// Its marks know nothing of jobs in the background, and a program that has
	// ended may have left some.
	others := slices.Compact(slices.Sorted(slices.Values(i.Others())))
	st.Idle, st.Runs = len(others) == 0, core.CleanTitle(strings.Join(others, ", "))
	return st
}
