package filesearch

import (
	"strings"
	"unicode/utf8"
)

// Points of a match. A name's own letters outweigh those of its folders.
const (
	ptLetter    = 16
	ptNext      = 12 // right behind the letter before
	ptWordStart = 10
	ptNameStart = 24
	ptInName    = 200
	ptWhole     = 300 // the name without its ending
)

// score says how well lowered letters fit a path, and where. Higher is better; a shorter
// path wins between equals. lower and orig are the same path, byte for byte as long.
func score(query, orig, lower string, at []int) (points int, marks []int, ok bool) {
	bare := strings.TrimSuffix(lower, "/")
	name := strings.LastIndexByte(bare, '/') + 1
	if !strings.Contains(query, "/") {
		if marks, ok = place(query, orig, lower, name, at[:0]); ok {
			points = ptInName
			if stem, _, _ := strings.Cut(bare[name:], "."); stem == query || bare[name:] == query {
				points += ptWhole
			}
		}
	}
	if !ok {
		if marks, ok = place(query, orig, lower, 0, at[:0]); !ok {
			return 0, nil, false
		}
	}
	for i, m := range marks {
		points += ptLetter
		switch {
		case m == name:
			points += ptNameStart
		case wordStart(orig, m):
			points += ptWordStart
		}
		if i > 0 && m == marks[i-1]+1 {
			points += ptNext
		} else if i > 0 {
			points -= min(m-marks[i-1], 8)
		}
	}
	return points - min(len(orig), 160)/2, marks, true
}

// place finds the letters of query from a byte on: together at a word's start, together, or
// one by one, as near to each other as a way back from the end makes them.
func place(query, orig, lower string, from int, marks []int) ([]int, bool) {
	best := -1
	for at := from; ; at++ {
		i := strings.Index(lower[at:], query)
		if i < 0 {
			break
		}
		if at += i; best < 0 {
			best = at
		}
		if wordStart(orig, at) {
			best = at
			break
		}
	}
	if best >= 0 {
		for i := range len(query) {
			marks = append(marks, best+i)
		}
		return marks, true
	}
	end := from
	for i := range len(query) {
		at := strings.IndexByte(lower[end:], query[i])
		if at < 0 {
			return marks, false
		}
		end += at + 1
		marks = append(marks, end-1)
	}
	for i := len(query) - 1; i >= 0; i-- {
		end = strings.LastIndexByte(lower[:end], query[i])
		marks[i] = end
	}
	return marks, true
}

func wordStart(path string, at int) bool {
	if at == 0 {
		return true
	}
	before, here := path[at-1], path[at]
	switch {
	case strings.IndexByte("/_-. ", before) >= 0:
		return true
	case 'A' <= here && here <= 'Z':
		return before < 'A' || before > 'Z'
	}
	return '0' <= here && here <= '9' && (before < '0' || before > '9')
}

// letters is a set of bytes that a text has; what misses one of a query's cannot match.
func letters(lower string) (set uint64) {
	for i := range len(lower) {
		set |= 1 << (lower[i] & 63)
	}
	return set
}

// lowered is a text in small letters, as many bytes long: letters beyond ASCII stay.
func lowered(s string) string {
	for i := range len(s) {
		if c := s[i]; 'A' <= c && c <= 'Z' {
			b := []byte(s)
			for ; i < len(b); i++ {
				if c := b[i]; 'A' <= c && c <= 'Z' {
					b[i] = c + 'a' - 'A'
				}
			}
			return string(b)
		}
	}
	return s
}

// inRunes turns places in bytes into places in code points.
func inRunes(s string, marks []int) []int {
	out := make([]int, 0, len(marks))
	for _, m := range marks {
		if utf8.RuneStart(s[m]) {
			out = append(out, utf8.RuneCountInString(s[:m]))
		}
	}
	return out
}
