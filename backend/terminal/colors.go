package terminal

import (
	"context"

	"loop/backend/core"
	"loop/backend/terminal/vt"
)

// Colors says what a session is drawn with from now on.
func (s *Service) Colors(_ context.Context, id core.TerminalID, c core.TerminalColors) error {
	t, err := s.session(id)
	if err != nil {
		return err
	}
	t.colors(c)
	return nil
}

func themeOf(c core.TerminalColors) vt.Theme {
	return vt.Theme{Fg: c.Foreground, Bg: c.Background, Cursor: c.Cursor}
}

// colors are what programs are told from now on: those of the viewer that spoke
// last.
func (s *session) colors(c core.TerminalColors) {
	s.screenMu.Lock()
	defer s.screenMu.Unlock()
	s.screen.SetTheme(themeOf(c))
}
