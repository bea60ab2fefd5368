package runner

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"loop/backend/core"
	"loop/backend/runner/transcript"
)

// Secrets are looked for in what the CLI prints: an agent that lists its
// environment would put them into the timeline. Shorter texts occur by chance, in
// the CLI's own words too: eight characters are the least of a key, sixteen of
// any other value.
const (
	hiddenMark  = "•••hidden•••"
	minKey      = 8
	minOther    = 16
	mostSecrets = 200 // bounds what each line is searched for
)

// hider takes secrets out of text. The zero value finds none.
type hider struct {
	plain, inJSON [][]byte
}

func newHider(l Launch) hider {
	var h hider
	add := func(s string, least int) {
		if len(s) < least || len(h.plain) >= mostSecrets || strings.ContainsAny(s, "\n\r") {
			return
		}
		quoted, _ := jsontext.AppendQuote(nil, s) // as the CLI writes it
		h.plain = append(h.plain, []byte(s))
		h.inJSON = append(h.inJSON, quoted[1:len(quoted)-1])
	}
	add(l.OAuthToken, minKey)
	add(l.APIKey, minKey)
	for _, e := range l.Env {
		if e.Secret {
			add(e.Value, minOther)
		}
	}
	return h
}

func (h hider) line(l transcript.Line) transcript.Line {
	l.Data = replaced(l.Data, h.inJSON)
	if l.Cut > 0 { // a secret may lie where the line was cut
		l.Data = l.Data[:len(l.Data)-begun(l.Data, h.inJSON)]
	}
	return l
}

// begun is how many bytes at the text's end may be the beginning of a secret.
func begun(text []byte, secrets [][]byte) int {
	longest := 0
	for _, s := range secrets {
		for n := min(len(s)-1, len(text)); n > longest; n-- {
			if bytes.HasSuffix(text, s[:n]) {
				longest = n
			}
		}
	}
	return longest
}

func (h hider) text(s string) string { return string(replaced([]byte(s), h.plain)) }

func replaced(text []byte, secrets [][]byte) []byte {
	for _, s := range secrets {
		if bytes.Contains(text, s) {
			text = bytes.ReplaceAll(text, s, []byte(hiddenMark))
		}
	}
	return text
}

// Hide takes the secrets of a run under way out of what its agent says elsewhere.
func (s *Service) Hide(run core.RunID, text string) string {
	s.mu.Lock()
	w := s.active[run]
	s.mu.Unlock()
	if w == nil {
		return text
	}
	return w.hidden.Load().text(text)
}

// hide makes the hider of the run's own launch. The launch of a run whose container
// died while Loop was away may not be known; the rest of the output is read all the
// same, and its time limit begins when it is.
func (w *work) hide() {
	w.resolve(w.service)
	w.arm()
	h := newHider(w.launch)
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
func (p *pieces) hidden(h hider, items []transcript.Item) []transcript.Item {
	if len(h.plain) == 0 {
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
func (p *pieces) hide(h hider, it transcript.Item) (transcript.Item, bool) {
	d, ok := it.Data.(core.MessageStreaming)
	if !ok {
		return it, true
	}
	if d.MsgID != p.msgID || d.Block != p.block || d.Kind != p.kind || d.Offset == 0 {
		*p = pieces{msgID: d.MsgID, block: d.Block, kind: d.Kind, sent: d.Offset}
	}
	text := h.text(p.held + d.Delta)
	n := begun([]byte(text), h.plain)
	p.held, d.Delta = text[len(text)-n:], text[:len(text)-n]
	d.Offset = p.sent
	p.sent += len(d.Delta)
	it.Data = d
	return it, d.Delta != ""
}
