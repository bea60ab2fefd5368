package daemon

import (
	"context"
	"log/slog"

	"loop/backend/config"
	"loop/backend/core"
	"loop/backend/gate"
	"loop/backend/settings"
)

// doctorSettings are the settings as package doctor asks for them.
type doctorSettings struct {
	*settings.Service
	file *config.Source
	log  *slog.Logger
}

func (s doctorSettings) BaseURL() string   { return s.Current().AnthropicBaseURL }
func (s doctorSettings) ExtraCA() []string { return s.Current().ExtraCAFiles }

func (s doctorSettings) Credential(ctx context.Context) (kind, secret string) {
	kind, key, err := s.Keys.Choose(ctx, s.Current())
	if err != nil {
		s.log.Warn("look for a key", "err", err)
	}
	return kind, key.Reveal()
}

func (s doctorSettings) Problems() (list []core.SettingsProblem, usable bool) {
	read := s.file.Current()
	return read.Problems, read.Good
}

// doctorGate is the gate as package doctor sees it.
type doctorGate struct {
	*gate.Service
	settings *settings.Service
}

func (g doctorGate) Enabled() bool { return g.settings.Current().Gates.AgentGate.Enabled }
