package daemon

import (
	"context"
	"errors"
	"slices"

	"loop/backend/bus"
	"loop/backend/core"
)

// followRules has running programs go by rules that have changed, until the app ends. The
// settings, and what is approved of a project's, are rules as well as the remembered ones.
func (d *Daemon) followRules(ctx context.Context) error {
	sub, _ := d.bus.Resume("", 0)
	defer sub.Close()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-sub.Wake():
		}
		events, err := sub.Next(1024)
		if errors.Is(err, bus.ErrClosed) {
			return nil
		}
		if err != nil || slices.ContainsFunc(events, changesRules) { // what was missed may be a change
			d.links.RulesChanged()
		}
	}
}

func changesRules(e core.Event) bool {
	return e.Type == core.EventConfigChanged || e.Type == core.EventGateRules
}
