package settings

import (
	"context"

	"loop/backend/core"
	"loop/backend/redact"
	"loop/backend/sandbox"
)

// Secrets are what the programs of a run may be given that people must not read. Settings
// or keys that cannot be read are an error, because nothing of them could be left out; a
// demo is given no key.
func (s *Service) Secrets(ctx context.Context, run core.Run) (out redact.Secrets, err error) {
	ch, err := s.find(ctx, run.ChannelID)
	if err != nil {
		return out, err
	}
	e := s.Effective(ch)
	if e.Err != nil {
		return out, e.Err
	}
	cfg, err := s.Keys.Add(ctx, e.Config)
	if err != nil && !run.Demo {
		return out, err
	}
	out.AddKeys(cfg.ClaudeCodeOAuthToken.Reveal(), cfg.AnthropicAPIKey.Reveal())
	env, err := sandbox.SpawnEnv(e.Container(), sandbox.Host{}, ch.ID)
	out.AddEnv(env)
	return out, err
}
