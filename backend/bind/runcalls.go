package bind

import (
	"context"
	"time"

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
	// Interrupt puts the prompt in front of the queue and stops the run under way.
	Interrupt    bool              `json:"interrupt,omitempty"`
	DelaySeconds int64             `json:"delay_seconds,omitempty"`
	Plan         bool              `json:"plan,omitempty"`       // plan first, and ask for approval
	Unattended   bool              `json:"unattended,omitempty"` // what the gate would ask is denied
	Session      core.SessionStart `json:"session,omitzero"`
	Model        string            `json:"model,omitempty"`  // for this prompt alone
	Effort       string            `json:"effort,omitempty"` // likewise: low, medium, high, xhigh or max
	// Attachments are pictures that Files.Attach has kept, at most 20; only their ids and
	// names count.
	Attachments []core.Attachment `json:"attachments,omitempty"`
}

// maxDelaySeconds keeps the number below from overflowing; the service has a
// bound of its own.
const maxDelaySeconds = 1 << 30

// Prompt stores the prompt and returns; the run starts when the channel is free.
// An interrupting one returns when the run in its way is proven gone.
func (r *Runs) Prompt(req PromptRequest) (core.Run, error) {
	run := core.Run{
		ID: core.RunID(req.ClientID), ChannelID: core.ChannelID(req.ChannelID), Prompt: req.Prompt,
		Demo: req.Demo, Script: req.Script, Plan: req.Plan, Unattended: req.Unattended, Session: req.Session,
		Attachments: req.Attachments, Model: req.Model, Effort: req.Effort,
		Delay: time.Duration(min(req.DelaySeconds, maxDelaySeconds)) * time.Second,
	}
	if req.Interrupt {
		return r.Service.Interrupt(r.Ctx, run)
	}
	return r.Service.Prompt(r.Ctx, run)
}

// Edit replaces the text of a queued prompt and ends its hold.
func (r *Runs) Edit(id, prompt string) (core.Run, error) {
	return r.Service.Edit(r.Ctx, core.RunID(id), prompt)
}

// Hold keeps a queued prompt, and what is behind it, from being started for five
// minutes; calling it again renews that.
func (r *Runs) Hold(id string) (core.Run, error) { return r.Service.Hold(r.Ctx, core.RunID(id)) }

// Release ends a hold.
func (r *Runs) Release(id string) error { return r.Service.Release(r.Ctx, core.RunID(id)) }

// Reorder puts a channel's queue into the order of ids, which are exactly the
// queued prompts.
func (r *Runs) Reorder(channelID string, ids []core.RunID) ([]core.Run, error) {
	return listed(r.Service.Reorder(r.Ctx, core.ChannelID(channelID), ids))
}

// Steer makes an interrupting message of a queued prompt.
func (r *Runs) Steer(id string) error { return r.Service.Steer(r.Ctx, core.RunID(id)) }

// Questions returns the open questions of agents in all channels.
func (r *Runs) Questions() ([]core.Question, error) {
	return listed(r.Service.Questions(r.Ctx, ""))
}

// Answer resolves a question, once.
func (r *Runs) Answer(id string, a core.Answer) (core.Question, error) {
	return r.Service.Answer(r.Ctx, id, a)
}

// Cancel ends a run and returns once its processes are proven gone.
func (r *Runs) Cancel(id string) error { return r.Service.Cancel(r.Ctx, core.RunID(id)) }

// Remove takes a prompt out of the queue.
func (r *Runs) Remove(id string) error { return r.Service.Remove(r.Ctx, core.RunID(id)) }

// Retry queues the prompt of an ended run again.
func (r *Runs) Retry(id string) (core.Run, error) { return r.Service.Retry(r.Ctx, core.RunID(id)) }
