package dialog

import (
	"context"
	"errors"
	"strings"

	"loop/backend/bus"
)

// TellChanges has all look again whenever something happens to an approval, until ctx or
// the bus ends.
func TellChanges(ctx context.Context, sub *bus.Subscription, all ...interface{ Changed() }) {
	changed := func() {
		for _, one := range all {
			one.Changed()
		}
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-sub.Wake():
		}
		events, err := sub.Next(1024)
		if errors.Is(err, bus.ErrClosed) {
			return
		}
		for _, e := range events {
			if strings.HasPrefix(string(e.Type), "gate.") {
				changed()
				break
			}
		}
		if err != nil {
			changed() // some events were missed
		}
	}
}
