//go:build !linux && !darwin && !windows

package dialog

import "context"

// NewNotifier returns a notifier whose every Notify fails with ErrNever.
func NewNotifier(System, func()) Notifier { return noNotifier{} }

type noNotifier struct{}

func (noNotifier) Notify(context.Context, Notice) (Choice, error) { return Deny, ErrNever }

func (noNotifier) Ready(context.Context) error { return ErrNever }
