// Package redact takes secrets out of text that people read or pass on. It is pure, and
// everything that writes such text may import it.
package redact

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"loop/backend/core"
)

// Shorter texts occur by chance, also in what the agent's CLI itself says: eight
// characters are the least of a key, sixteen of any other value.
const (
	Mark     = "•••hidden•••" // stands where a secret was
	minKey   = 8
	minOther = 16
	most     = 200 // bounds what each text is searched for
)

// Secrets are looked for in text. The zero value finds none. Copies may be used from
// any goroutine once nothing is added any more.
type Secrets struct{ plain, inJSON [][]byte }

// AddKeys adds keys of models.
func (s *Secrets) AddKeys(keys ...string) {
	for _, k := range keys {
		s.add(k, minKey)
	}
}

// AddEnv adds the values of those variables that are secret.
func (s *Secrets) AddEnv(env []core.EnvVar) {
	for _, e := range env {
		if e.Secret {
			s.add(e.Value, minOther)
		}
	}
}

func (s *Secrets) add(secret string, least int) {
	if len(secret) < least || len(s.plain) >= most || strings.ContainsAny(secret, "\n\r") {
		return
	}
	quoted, _ := jsontext.AppendQuote(nil, secret) // as the agent's CLI writes it
	s.plain = append(s.plain, []byte(secret))
	s.inJSON = append(s.inJSON, quoted[1:len(quoted)-1])
}

// None says that there is nothing to look for.
func (s Secrets) None() bool { return len(s.plain) == 0 }

// Text is a text without secrets.
func (s Secrets) Text(text string) string { return string(replaced([]byte(text), s.plain)) }

// Line is a line of JSON, as the agent's CLI writes it, without secrets. Of a line that was
// cut it leaves out what may be the beginning of one.
func (s Secrets) Line(line []byte, cut bool) []byte {
	line = replaced(line, s.inJSON)
	if cut {
		line = line[:len(line)-begun(line, s.inJSON)]
	}
	return line
}

// Begun is how many bytes at a text's end may be the beginning of a secret.
func (s Secrets) Begun(text string) int { return begun([]byte(text), s.plain) }

// Value encodes a value as JSON without secrets, however their characters are escaped.
func (s Secrets) Value(v any) ([]byte, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	if s.None() {
		return raw, nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var tree any
	if err := d.Decode(&tree); err != nil {
		return nil, fmt.Errorf("decode: %w", err)
	}
	if raw, err = json.Marshal(s.walk(tree)); err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	return raw, nil
}

func (s Secrets) walk(v any) any {
	switch v := v.(type) {
	case string:
		return s.Text(v)
	case []any:
		for i := range v {
			v[i] = s.walk(v[i])
		}
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, x := range v {
			out[s.Text(k)] = s.walk(x)
		}
		return out
	}
	return v
}

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

func replaced(text []byte, secrets [][]byte) []byte {
	for _, s := range secrets {
		if bytes.Contains(text, s) {
			text = bytes.ReplaceAll(text, s, []byte(Mark))
		}
	}
	return text
}
