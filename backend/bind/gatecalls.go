package bind

import (
	"context"

	"loop/backend/core"
)

// GateService is the queue of what agents may not do without a person's word.
type GateService interface {
	Pending() []core.Approval
	Answer(ctx context.Context, id string, a core.ApprovalAnswer) (core.Approval, error)
	Extend(id string) (core.Approval, error)
	Status() core.GateStatus
}

// Gate is bound as window.go.bind.Gate.
type Gate struct {
	Ctx     context.Context `json:"-"`
	Service GateService     `json:"-"`
}

// Pending returns the approvals that wait in all channels, oldest first.
func (g *Gate) Pending() ([]core.Approval, error) { return orEmpty(g.Service.Pending()), nil }

// Answer resolves an approval, once. The answer names the digest that was shown.
func (g *Gate) Answer(id string, a core.ApprovalAnswer) (core.Approval, error) {
	return g.Service.Answer(g.Ctx, id, a)
}

// Extend gives an approval five minutes more.
func (g *Gate) Extend(id string) (core.Approval, error) { return g.Service.Extend(id) }

// Status is how the gate was found when it was probed last.
func (g *Gate) Status() core.GateStatus { return g.Service.Status() }
