package terminal

import (
	"context"

	"loop/backend/core"
)

// shellSays follows a shell's marks: whether it waits for a command or runs one.
// It is called while the screen is drawn.
func (s *session) shellSays(kind byte, arg string) {
	var state core.ShellState
	command := ""
	switch kind {
	case 'E':
		s.typed = core.CleanTitle(arg)
		return
	case 'C':
		state, command, s.typed = core.ShellRunning, s.typed, ""
	case 'D':
		state, s.typed = core.ShellPrompt, ""
	case 'A':
		state = core.ShellPrompt
		// A shell at its prompt wants neither mouse nor focus reports. A program that
		// was killed left them on, and the next snapshot would bring them back.
		s.screen.StopReports()
	default:
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.saved.Ran != "" || s.info.Shell != state || s.info.Command != command {
		s.info.Shell, s.info.Command, s.saved.Ran = state, command, ""
		s.dirty = true
	}
}

// runs is a title for what runs in the shell: the command, or the agent's name
// for the long line that was typed to start it.
func (s *session) runs() string {
	if s.info.Command != "" && s.info.Command == s.saved.Typed {
		return commandTitle(core.TerminalSpec{Target: s.info.Target})
	}
	return s.info.Command
}

// Clear empties a session's scrollback and its screen but for the line with the
// cursor, for every viewer and for the next launch. While a
// full-screen program draws, what it draws stays.
func (s *Service) Clear(_ context.Context, id core.TerminalID) error {
	t, err := s.session(id)
	if err != nil {
		return err
	}
	t.screenMu.Lock()
	t.screen.Clear()
	t.mu.Lock()
	for v := range t.viewers {
		v.snap = true
		v.poke()
	}
	t.mu.Unlock()
	t.screenMu.Unlock()
	t.pokePump()
	t.save()
	return nil
}
