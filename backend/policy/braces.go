package policy

import (
	"errors"
	"fmt"
)

// alternatives writes out the braces: {a,b} stands for a and for b.
func alternatives(pattern string) ([]string, error) {
	whole, class, open := []string{""}, false, -1
	var parts []string // of the open brace, done
	begin := 0         // of the text that is not taken over yet
	flush := func(end int) {
		text := pattern[begin:end]
		for i := range whole {
			whole[i] += text
		}
	}
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '\\':
			i++
		case class:
			class = c != ']'
		case c == '[':
			class = true
		case c == '{':
			if open >= 0 {
				return nil, errors.New("braces do not stand within braces")
			}
			flush(i)
			open, begin, parts = i, i+1, nil
		case c == ',' && open >= 0:
			parts, begin = append(parts, pattern[begin:i]), i+1
		case c == '}':
			if open < 0 {
				return nil, errors.New("“}” has no “{” before it; write “\\}” for the character")
			}
			parts = append(parts, pattern[begin:i])
			if len(whole)*len(parts) > maxAlternatives {
				return nil, fmt.Errorf("the braces make more than %d patterns", maxAlternatives)
			}
			next := make([]string, 0, len(whole)*len(parts))
			for _, w := range whole {
				for _, p := range parts {
					next = append(next, w+p)
				}
			}
			whole, open, begin = next, -1, i+1
		}
	}
	if open >= 0 {
		return nil, errors.New("“{” has no “}” after it; write “\\{” for the character")
	}
	flush(len(pattern))
	return whole, nil
}
