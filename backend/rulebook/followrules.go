package rulebook

import (
	"context"
	"errors"
	"slices"

	"loop/backend/bus"
	"loop/backend/core"
)

// Follow calls changed when rules may have changed, until ctx ends. The settings, and what is
// approved of a project's, are rules as well as the remembered ones.
func Follow(ctx context.Context, events *bus.Bus, changed func()) error {
	sub, _ := events.Resume("", 0)
	defer sub.Close()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-sub.Wake():
		}
		news, err := sub.Next(1024)
		if errors.Is(err, bus.ErrClosed) {
			return nil
		}
		if err != nil || slices.ContainsFunc(news, changesRules) { // what was missed may be a change
			changed()
		}
	}
}

func changesRules(e core.Event) bool {
	return e.Type == core.EventConfigChanged || e.Type == core.EventGateRules
}
