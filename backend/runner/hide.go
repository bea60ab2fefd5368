package runner

import (
	"bytes"
	"encoding/json"
	"strings"

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
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false) // as the CLI writes it
		if enc.Encode(s) != nil {
			return
		}
		h.plain = append(h.plain, []byte(s))
		h.inJSON = append(h.inJSON, bytes.Trim(bytes.TrimSpace(b.Bytes()), `"`))
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
	l.Data, l.Tail = replaced(l.Data, h.inJSON), replaced(l.Tail, h.inJSON)
	if len(l.Tail) > 0 { // an over-long line; a secret may lie where it was cut
		l.Data = l.Data[:len(l.Data)-begun(l.Data, h.inJSON)]
		l.Tail = l.Tail[ended(l.Tail, h.inJSON):]
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

// ended is how many bytes at the text's beginning may be the end of a secret.
func ended(text []byte, secrets [][]byte) int {
	longest := 0
	for _, s := range secrets {
		for n := min(len(s)-1, len(text)); n > longest; n-- {
			if bytes.HasPrefix(text, s[len(s)-n:]) {
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
	return w.hider().text(text)
}

// hider is the one that hide made last.
func (w *work) hider() hider {
	if h := w.hidden.Load(); h != nil {
		return *h
	}
	return hider{}
}

// hide is of the run's own launch. That of a run whose container died while Loop
// was away is not known yet; the rest of the output is read all the same.
func (w *work) hide() hider {
	l := w.launch
	if w.resumed && !w.launched && l.OAuthToken == "" && l.APIKey == "" {
		if r, err := w.s.p.Provision.Resolve(w.service, w.run, w.ch); err == nil || r.Launch.APIKey != "" || r.Launch.OAuthToken != "" {
			l = r.Launch
		}
	}
	h := newHider(l)
	w.hidden.Store(&h)
	return h
}
