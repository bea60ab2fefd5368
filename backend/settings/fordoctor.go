package settings

import (
	"context"
	"log/slog"

	"loop/backend/config"
	"loop/backend/core"
)

// ForDoctor are the settings as package doctor asks for them.
type ForDoctor struct {
	*Service
	File *config.Source
	Log  *slog.Logger
}

// BaseURL implements doctor's port.
func (s ForDoctor) BaseURL() string { return s.Current().AnthropicBaseURL }

// ExtraCA implements doctor's port.
func (s ForDoctor) ExtraCA() []string { return s.Current().ExtraCAFiles }

// Credential implements doctor's port.
func (s ForDoctor) Credential(ctx context.Context) (kind, secret string) {
	kind, key, err := s.Keys.Choose(ctx, s.Current())
	if err != nil {
		s.Log.Warn("look for a key", "err", err)
	}
	return kind, key.Reveal()
}

// Problems implements doctor's port.
func (s ForDoctor) Problems() (list []core.SettingsProblem, usable bool) {
	read := s.File.Current()
	return read.Problems, read.Good
}
