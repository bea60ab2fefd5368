package themes

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

var itermRoles = map[string]string{
	"Background Color": background, "Foreground Color": foreground, "Cursor Color": cursor, "Selection Color": selection,
}

// iterm reads a property list of colours, each a dict of parts from 0 to 1.
func (s *source) iterm(text []byte) error {
	s.format = "iTerm2"
	d := xml.NewDecoder(bytes.NewReader(text))
	var (
		depth, elements int
		key, colour     string
		inner           strings.Builder
		parts           = map[string]float64{}
		broken          = unreadable("The colours of iTerm2 are no whole property list.", "Export them again from iTerm2.")
	)
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return broken
		}
		switch t := token.(type) {
		case xml.StartElement:
			if depth++; depth > maxDepth {
				return broken
			}
			if elements++; elements > maxElements {
				return broken
			}
			if depth == 1 && t.Name.Local != "plist" {
				return unreadable("This is no theme that Loop can read.", forms)
			}
			inner.Reset()
			if t.Name.Local == "dict" {
				colour = key
				clear(parts)
			}
		case xml.CharData:
			if inner.Len()+len(t) > maxWord {
				return broken
			}
			inner.Write(t)
		case xml.EndElement:
			depth--
			switch t.Name.Local {
			case "key":
				key = strings.TrimSpace(inner.String())
			case "real", "integer":
				if x, err := strconv.ParseFloat(strings.TrimSpace(inner.String()), 64); err == nil {
					parts[key] = clamp(x)
				}
			case "dict":
				s.itermColour(colour, parts)
				clear(parts)
			}
			inner.Reset()
		}
	}
	if len(s.colours) == 0 {
		return unreadable("The property list has no colours of iTerm2.", forms)
	}
	return s.whole()
}

func (s *source) itermColour(called string, parts map[string]float64) {
	r, hasR := parts["Red Component"]
	g, hasG := parts["Green Component"]
	b, hasB := parts["Blue Component"]
	if !hasR || !hasG || !hasB {
		return
	}
	c := rgb{r, g, b}.rounded()
	if role, ok := itermRoles[called]; ok {
		s.set(role, called, c)
		return
	}
	var i int
	if n, err := fmt.Sscanf(called, "Ansi %d Color", &i); err == nil && n == 1 && i >= 0 && i < 16 && called == itermName(i) {
		s.set(ansi(i), called, c)
	}
}

func itermName(i int) string { return fmt.Sprintf("Ansi %d Color", i) }
