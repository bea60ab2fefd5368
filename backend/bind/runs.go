package bind

import (
	"context"

	"loop/backend/core"
)

// Runs is bound as window.go.bind.Runs.
type Runs struct {
	Ctx     context.Context `json:"-"`
	Service RunService      `json:"-"`
}

// PromptRequest is one prompt. ClientID is made by the page and becomes the
// run's id, so that sending again after a lost answer is harmless.
type PromptRequest struct {
	ClientID  string `json:"client_id"`
	ChannelID string `json:"channel_id"`
	Prompt    string `json:"prompt"`
	Demo      bool   `json:"demo,omitempty"`
	Script    string `json:"script,omitempty"`
}

// Prompt stores the prompt and returns; the run starts when the channel is free.
func (r *Runs) Prompt(req PromptRequest) (core.Run, error) {
	return r.Service.Prompt(r.Ctx, core.Run{
		ID: core.RunID(req.ClientID), ChannelID: core.ChannelID(req.ChannelID), Prompt: req.Prompt,
		Demo: req.Demo, Script: req.Script,
	})
}

// Cancel ends a run and returns once its processes are proven gone.
func (r *Runs) Cancel(id string) error { return r.Service.Cancel(r.Ctx, core.RunID(id)) }

// Remove takes a prompt out of the queue.
func (r *Runs) Remove(id string) error { return r.Service.Remove(r.Ctx, core.RunID(id)) }

// Retry queues the prompt of an ended run again.
func (r *Runs) Retry(id string) (core.Run, error) { return r.Service.Retry(r.Ctx, core.RunID(id)) }
