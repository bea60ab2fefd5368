package settings

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
	asked map[string]asked // by path
}

// asked is what was asked for last, and the channel that met it last.
type asked struct {
	sum string
	ch  core.ChannelID
}

// Waits has the person asked, once for each text of a file, about what a run of a
// channel goes without.
func (s *Service) Waits(ch core.ChannelID, pending []config.Pending) { s.trust.meet(ch, pending) }

func (t *trustRequests) meet(ch core.ChannelID, pending []config.Pending) {
	for _, p := range t.unasked(ch, pending) {
		t.publish(core.NewEvent(core.EventTrustRequested, ch, "", t.now(),
			core.TrustRequested{ChannelID: ch, Path: p.Path, SHA256: p.SHA256, Fields: p.Fields}))
	}
}

// unasked notes what waits and returns what did not wait yet. What waits no
// longer, because it was approved or put right, is asked for when it does again.
func (t *trustRequests) unasked(ch core.ChannelID, pending []config.Pending) (out []config.Pending) {
	t.mu.Lock()
	defer t.mu.Unlock()
	waits := map[string]bool{}
	for _, p := range pending {
		waits[p.Path] = true
		if t.asked[p.Path].sum != p.SHA256 {
			out = append(out, p)
		}
		if t.asked == nil {
			t.asked = map[string]asked{}
		}
		t.asked[p.Path] = asked{p.SHA256, ch}
	}
	for path, a := range t.asked {
		if a.ch == ch && !waits[path] {
			delete(t.asked, path)
		}
	}
	return out
}
