package runner

import (
	"loop/backend/core"
	"loop/backend/redact"
	"loop/backend/runner/transcript"
)

// newSecrets are those of a launch. They are looked for in what the CLI prints: an agent
// that lists its environment would put them into the timeline.
func newSecrets(l Launch) (s redact.Secrets) {
	s.AddKeys(l.OAuthToken, l.APIKey)
	if l.Host != nil {
		s.AddKeys(l.Host.Token.Reveal())
	}
	s.AddEnv(l.Env)
	return s
}

func hiddenLine(s redact.Secrets, l transcript.Line) transcript.Line {
	l.Data = s.Line(l.Data, l.Cut > 0)
	return l
}

// Hide takes the secrets of a run under way out of what its agent says elsewhere.
func (s *Service) Hide(run core.RunID, text string) string {
	s.mu.Lock()
	w := s.active[run]
	s.mu.Unlock()
	if w == nil {
		return text
	}
	return w.hidden.Load().Text(text)
}

// hide takes the secrets of the run's own launch. The launch of a run whose container
// died while Loop was away may not be known; the rest of the output is read all the
// same, and its time limit begins when it is.
func (w *work) hide() {
	w.resolve(w.service)
	w.arm()
	h := newSecrets(w.launch)
	w.hidden.Store(&h)
}

// pieces takes secrets out of a message that comes piece by piece, where no
// single piece may hold the whole of one: what could be a secret's beginning is
// held until the next piece shows what it is. What is still held when a block
// ends comes with the whole message. Use it from one goroutine.
type pieces struct {
	msgID string
	block int
	kind  string
	held  string
	sent  int // bytes of the block handed out, as a viewer counts them
}

// hidden gives the items as they may be shown.
func (p *pieces) hidden(h redact.Secrets, items []transcript.Item) []transcript.Item {
	if h.None() {
		return items
	}
	shown := items[:0]
	for _, it := range items {
		if it, ok := p.hide(h, it); ok {
			shown = append(shown, it)
		}
	}
	return shown
}

// hide gives the item as it may be shown, and false if there is nothing to show yet.
func (p *pieces) hide(h redact.Secrets, it transcript.Item) (transcript.Item, bool) {
	d, ok := it.Data.(core.MessageStreaming)
	if !ok {
		return it, true
	}
	if d.MsgID != p.msgID || d.Block != p.block || d.Kind != p.kind || d.Offset == 0 {
		*p = pieces{msgID: d.MsgID, block: d.Block, kind: d.Kind, sent: d.Offset}
	}
	text := h.Text(p.held + d.Delta)
	n := h.Begun(text)
	p.held, d.Delta = text[len(text)-n:], text[:len(text)-n]
	d.Offset = p.sent
	p.sent += len(d.Delta)
	it.Data = d
	return it, d.Delta != ""
}
