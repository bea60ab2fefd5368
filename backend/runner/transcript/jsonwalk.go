package transcript

import (
	"bytes"
	"errors"
	"slices"
	"unicode/utf8"
)

// Tool results are the long lines, and most of a long line is not shown. The
// functions here walk JSON by its brackets and quotes only, some ten times
// faster than a decoder; what is used is decoded afterwards.

var errShape = errors.New("not the expected JSON")

// skipString returns the index after the string that begins at b[i].
func skipString(b []byte, i int) int {
	for j := i + 1; ; {
		k := bytes.IndexByte(b[j:], '"')
		if k < 0 {
			return -1
		}
		k += j
		slashes := 0
		for k-1-slashes > i && b[k-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return k + 1
		}
		j = k + 1
	}
}

// structural marks the bytes at which skipValue has to stop.
var structural = [256]bool{'"': true, '{': true, '}': true, '[': true, ']': true}

// skipValue returns the index after the value that begins at b[i], -1 if it
// does not end.
func skipValue(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		depth := 0
		for i < len(b) {
			c := b[i]
			if !structural[c] {
				i++
				continue
			}
			switch c {
			case '"':
				if i = skipString(b, i); i < 0 {
					return -1
				}
				continue
			case '{', '[':
				depth++
			default:
				depth--
			}
			i++
			if depth == 0 {
				return i
			}
		}
		return -1
	}
	start := i
	for i < len(b) && b[i] != ',' && b[i] != '}' && b[i] != ']' && !space(b[i]) {
		i++
	}
	if i == start {
		return -1
	}
	return i
}

func space(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

func skipSpace(b []byte, i int) int {
	for i < len(b) && space(b[i]) {
		i++
	}
	return i
}

// members calls f with every member of an object; keys are as written, without
// their quotes.
func members(b []byte, f func(key, val []byte) error) error {
	return each(b, '{', '}', func(i int) (int, error) {
		if i >= len(b) || b[i] != '"' {
			return 0, errShape
		}
		end := skipString(b, i)
		if end < 0 {
			return 0, errShape
		}
		key := b[i+1 : end-1]
		if i = skipSpace(b, end); i >= len(b) || b[i] != ':' {
			return 0, errShape
		}
		i = skipSpace(b, i+1)
		end = skipValue(b, i)
		if end < 0 {
			return 0, errShape
		}
		return end, f(key, b[i:end])
	})
}

// pick returns the values of some members of an object, in the order of names; nil
// stands for one that is not there.
func pick(b []byte, names ...string) ([][]byte, error) {
	values := make([][]byte, len(names))
	err := members(b, func(key, val []byte) error {
		if i := slices.Index(names, string(key)); i >= 0 {
			values[i] = val
		}
		return nil
	})
	return values, err
}

// elements calls f with every element of an array.
func elements(b []byte, f func(val []byte) error) error {
	return each(b, '[', ']', func(i int) (int, error) {
		end := skipValue(b, i)
		if end < 0 {
			return 0, errShape
		}
		return end, f(b[i:end])
	})
}

// each walks a bracketed list; item reads one entry at i and returns its end.
func each(b []byte, begin, end byte, item func(i int) (int, error)) error {
	i := skipSpace(b, 0)
	if i >= len(b) || b[i] != begin {
		return errShape
	}
	if i = skipSpace(b, i+1); i < len(b) && b[i] == end {
		return nil
	}
	for {
		next, err := item(i)
		if err != nil {
			return err
		}
		if i = skipSpace(b, next); i >= len(b) {
			return errShape
		}
		switch b[i] {
		case ',':
			i = skipSpace(b, i+1)
		case end:
			return nil
		default:
			return errShape
		}
	}
}

// firstOf decodes a JSON string up to n bytes of its text and says whether
// there is more.
func firstOf(v []byte, n int) (string, bool) {
	var s string
	for _, most := range []int{2 * n, 6 * (n + utf8.UTFMax)} { // an escape is six bytes for one at most
		if len(v) <= most || v[0] != '"' {
			break
		}
		front := append(v[:most:most], '"')
		for half := 1; half < 12 && decode(front, &s) != nil; half++ { // an escape at the end
			front = append(front[:most-half], '"')
		}
		if len(s) > n {
			s, _ = clip(s, n)
			return s, true
		}
	}
	if decode(v, &s) != nil {
		return "", false
	}
	return clip(s, n)
}
