package settings

import (
	"fmt"

	"loop/backend/bind"
	"loop/backend/core"
)

// ClaudeSetup is the person's own Claude set-up, and what the global settings say of it.
func (s *Service) ClaudeSetup() (bind.ClaudeSetupView, error) {
	c := s.Current()
	found, err := s.o.Survey(c.ClaudeSetupAllow)
	if err != nil {
		return bind.ClaudeSetupView{}, core.Fail(core.CodeDir, fmt.Errorf("read the Claude set-up: %w", err),
			"Your own Claude set-up could not be read.", "Check who may read "+found.Folder+".")
	}
	return bind.ClaudeSetupView{Setup: found, Grant: c.ClaudeSetup}, nil
}
