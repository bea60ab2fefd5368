package settings

import (
	"maps"
	"time"

	"loop/backend/core"
)

// asked is the text of a file that the person was asked about last, and the channel
// that met it last.
type asked struct {
	sum string
	ch  core.ChannelID
}

// Waits takes note of settings that a run of a channel goes without, because nobody
// approved them. The person is asked once for each text of a file. A text that was
// approved or put right meanwhile is asked for again when it waits again.
func (s *Service) Waits(ch core.ChannelID, pending []core.SettingsPending) {
	s.mu.Lock()
	defer s.mu.Unlock()
	waits := map[string]bool{}
	for _, p := range pending {
		waits[p.Path] = true
		if s.asked[p.Path].sum != p.SHA256 {
			s.o.Publish(core.NewEvent(core.EventTrustRequested, ch, "", time.Now(),
				core.TrustRequested{ChannelID: ch, Path: p.Path, SHA256: p.SHA256, Fields: p.Fields}))
		}
		s.asked[p.Path] = asked{p.SHA256, ch}
	}
	maps.DeleteFunc(s.asked, func(path string, a asked) bool { return a.ch == ch && !waits[path] })
}

// Undecided has the person asked to decide on what a project's own image is made of, if they
// have not done so. The answer is empty once the run, which is of the channel, knows its image;
// until then changed is closed when it may be another.
func (s *Service) Undecided(ch core.Channel, run core.Run) (path string, changed <-chan struct{}) {
	s.mu.Lock()
	changed = s.turn
	s.mu.Unlock()
	e := s.Effective(ch)
	if e.Err != nil || e.Undecided == "" || run.OnHost(e.OnHost(ch.Main())) {
		return "", changed
	}
	s.Waits(ch.ID, e.Pending)
	return e.Undecided, changed
}
