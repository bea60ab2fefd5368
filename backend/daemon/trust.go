package daemon

import (
	"sync"
	"time"

	"loop/backend/config"
	"loop/backend/core"
)

// trustRequests tells the pages, once for each text of a file, that a run left
// settings of its project out because nobody approved them.
type trustRequests struct {
	publish func(...core.Event)
	now     func() time.Time

	mu    sync.Mutex
	asked map[string]string // SHA-256 by path
}

func (t *trustRequests) meet(ch core.ChannelID, pending []config.Pending) {
	for _, p := range pending {
		t.mu.Lock()
		again := t.asked[p.Path] == p.SHA256
		if t.asked == nil {
			t.asked = map[string]string{}
		}
		t.asked[p.Path] = p.SHA256
		t.mu.Unlock()
		if !again {
			t.publish(core.NewEvent(core.EventTrustRequested, ch, "", t.now(), core.TrustRequested{ChannelID: ch, Path: p.Path, SHA256: p.SHA256, Fields: p.Fields}))
		}
	}
}
