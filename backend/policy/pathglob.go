package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Bounds of one pattern: no path that Linux takes is longer, and braces may not make
// a policy of one line larger than one of two thousand.
const (
	maxPattern      = 4096
	maxAlternatives = 256
)

// segment is one part of a pattern between two slashes.
type segment struct {
	deep bool   // **: any number of folders, none included
	fold bool   // the case of ASCII letters does not count
	lit  string // the name, where nothing in it is special; lower case if fold
	glob []item // else
	key  string // the text, for finding the segment again
}

// anyCase are names of a project that are the same in any case, with what is below them:
// on the file systems of a Mac and of Windows they are the file that runs later.
var anyCase = []string{".git", ".claude", ".mcp.json", ".loop", ".envrc", ".npmrc", ".yarnrc", ".yarnrc.yml"}

// item is one step of a glob within a name.
type item struct {
	kind   byte // 'l' a literal, '?' one character, '*' any number, '[' one of a class
	lit    string
	ranges [][2]rune
	not    bool
}

// parsePattern reads an absolute pattern into its alternatives.
func parsePattern(pattern string) ([][]segment, error) {
	if !strings.HasPrefix(pattern, "/") {
		return nil, errors.New("a pattern begins with “/”; “/**/name” is a name anywhere")
	}
	return parseBelow(pattern, true)
}

// parseBelow reads a pattern that begins with a slash or, for abstract sockets, with
// anything; names tells whether “.” and “..” are no names.
func parseBelow(pattern string, names bool) ([][]segment, error) {
	switch {
	case len(pattern) > maxPattern:
		return nil, fmt.Errorf("a pattern has at most %d bytes", maxPattern)
	case strings.ContainsRune(pattern, 0):
		return nil, errors.New("a pattern has no NUL")
	case !utf8.ValidString(pattern):
		return nil, errors.New("a pattern is UTF-8; “?” and “*” match other bytes")
	}
	texts, err := alternatives(pattern)
	if err != nil {
		return nil, err
	}
	all := make([][]segment, 0, len(texts))
	for _, text := range texts {
		segments, err := parseSegments(text, names)
		if err != nil {
			return nil, err
		}
		all = append(all, segments)
	}
	return all, nil
}

func parseSegments(text string, names bool) ([]segment, error) {
	if names {
		if text = strings.TrimPrefix(text, "/"); text == "" {
			return nil, nil // the root
		}
	}
	var all []segment
	fold := false
	for name := range strings.SplitSeq(text, "/") {
		if names && (name == "" || name == "." || name == "..") {
			return nil, errors.New("it has “//”, “/./”, “/../” or a slash at its end, which no path has that the kernel resolved")
		}
		if name == "**" {
			// Two of them say what one says.
			if n := len(all); n == 0 || !all[n-1].deep {
				all = append(all, segment{deep: true, key: "**"})
			}
			continue
		}
		// Where the file system takes .GIT for .git, so does whoever reads it.
		fold = fold || names && slices.Contains(anyCase, lowerASCII(name))
		s, err := parseName(name, fold)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

func parseName(name string, fold bool) (segment, error) {
	if strings.Contains(name, "**") {
		return segment{}, errors.New("“**” stands alone between slashes")
	}
	if fold {
		name = lowerASCII(name)
	}
	s := segment{fold: fold, key: name}
	if fold {
		s.key = "\x00" + name
	}
	var lit strings.Builder
	flush := func() {
		if lit.Len() > 0 {
			s.glob = append(s.glob, item{kind: 'l', lit: lit.String()})
			lit.Reset()
		}
	}
	for i := 0; i < len(name); i++ {
		switch c := name[i]; c {
		case '\\':
			if i++; i == len(name) {
				return s, errors.New("“\\” has nothing after it")
			}
			lit.WriteByte(name[i])
		case '*', '?':
			flush()
			s.glob = append(s.glob, item{kind: c})
		case '[':
			flush()
			class, n, err := parseClass(name[i:])
			if err != nil {
				return s, err
			}
			s.glob = append(s.glob, class)
			i += n - 1
		default:
			lit.WriteByte(c)
		}
	}
	if len(s.glob) == 0 {
		s.lit = lit.String()
		return s, nil
	}
	flush()
	return s, nil
}

// parseClass reads “[a-z]” at the beginning of text and says how long it is.
func parseClass(text string) (class item, n int, err error) {
	class, n = item{kind: '['}, 1
	if n < len(text) && (text[n] == '!' || text[n] == '^') {
		class.not = true
		n++
	}
	next := func() (r rune, ok bool) {
		if n < len(text) && text[n] == '\\' {
			n++
		}
		if n >= len(text) {
			return 0, false
		}
		r, size := utf8.DecodeRuneInString(text[n:])
		n += size
		return r, true
	}
	for n < len(text) && text[n] != ']' {
		lo, ok := next()
		hi := lo
		if ok && n < len(text) && text[n] == '-' && !strings.HasPrefix(text[n:], "-]") {
			n++
			hi, ok = next()
		}
		switch {
		case !ok:
			return class, n, errors.New("“[” has no “]” after it; write “\\[” for the character")
		case hi < lo:
			return class, n, fmt.Errorf("the range %c-%c is empty", lo, hi)
		}
		class.ranges = append(class.ranges, [2]rune{lo, hi})
	}
	switch {
	case n >= len(text):
		return class, n, errors.New("“[” has no “]” after it; write “\\[” for the character")
	case len(class.ranges) == 0:
		return class, n, errors.New("“[]” has nothing in it")
	}
	return class, n + 1, nil
}

// matches tells whether a glob covers a whole name. A character that is not UTF-8 is
// one byte. It goes back to the last star only, so the time is at most the product of
// both lengths.
func matches(glob []item, name string) bool {
	g, n := 0, 0
	starG, starN := -1, 0
	for {
		switch {
		case g < len(glob) && glob[g].kind == '*':
			starG, starN = g, n
			g++
			continue
		case g == len(glob) && n == len(name):
			return true
		case g < len(glob):
			if size := glob[g].take(name[n:]); size > 0 {
				g, n = g+1, n+size
				continue
			}
		}
		if starG < 0 || starN >= len(name) {
			return false
		}
		_, size := utf8.DecodeRuneInString(name[starN:])
		starN += size
		g, n = starG+1, starN
	}
}

// take is how many bytes at the beginning of rest the item covers; 0 is none.
func (it *item) take(rest string) int {
	if it.kind == 'l' {
		if strings.HasPrefix(rest, it.lit) {
			return len(it.lit)
		}
		return 0
	}
	if rest == "" {
		return 0
	}
	r, size := utf8.DecodeRuneInString(rest)
	if it.kind == '?' {
		return size
	}
	in := false
	for _, lohi := range it.ranges {
		in = in || lohi[0] <= r && r <= lohi[1]
	}
	if in == it.not {
		return 0
	}
	return size
}

// lowerASCII leaves everything but A to Z as it is, whether it is UTF-8 or not.
func lowerASCII(s string) string {
	for i := 0; i < len(s); i++ {
		if 'A' <= s[i] && s[i] <= 'Z' {
			b := []byte(s)
			for ; i < len(b); i++ {
				if 'A' <= b[i] && b[i] <= 'Z' {
					b[i] += 'a' - 'A'
				}
			}
			return string(b)
		}
	}
	return s
}

// Quote writes a name or path as the pattern that matches it and nothing else.
func Quote(path string) string {
	var b strings.Builder
	for i := 0; i < len(path); i++ {
		if strings.IndexByte(`\*?[]{},`, path[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(path[i])
	}
	return b.String()
}
