package transcript

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// clip shortens s to at most n bytes on a rune border and says whether it did.
func clip(s string, n int) (string, bool) {
	if len(s) <= n {
		return s, false
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n], true
}

// clipMarked is clip with a mark that says how much is missing.
func clipMarked(s string, n int) string {
	if head, cut := clip(s, n); cut {
		return fmt.Sprintf("%s\n[%d bytes left out]", head, len(s)-len(head))
	}
	return s
}

// shortened cuts long strings inside a decoded JSON value and bounds its lists.
func shortened(v any, depth int) any {
	const maxItems = 200
	if depth > 20 {
		return "[left out]"
	}
	switch v := v.(type) {
	case string:
		return clipMarked(v, maxField)
	case []any:
		if len(v) > maxItems {
			v = append(v[:maxItems:maxItems], fmt.Sprintf("[%d items left out]", len(v)-maxItems))
		}
		for i := range v {
			v[i] = shortened(v[i], depth+1)
		}
		return v
	case map[string]any:
		for k := range v {
			v[k] = shortened(v[k], depth+1)
		}
	}
	return v
}

// The original keeps as much for its error messages.
const (
	tailLines = 20
	tailBytes = 2000
)

// tailWith is a tail of output with one more line, as far as the bounds allow.
func tailWith(tail string, line []byte) string {
	s, _ := clip(string(repaired(line[:min(len(line), tailBytes)])), tailBytes)
	if strings.TrimSpace(s) == "" {
		return tail
	}
	tail = strings.TrimPrefix(tail+"\n"+s, "\n")
	for len(tail) > tailBytes || strings.Count(tail, "\n") >= tailLines {
		_, tail, _ = strings.Cut(tail, "\n")
	}
	return tail
}
