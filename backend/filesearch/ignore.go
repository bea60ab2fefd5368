package filesearch

import (
	"bytes"
	"strings"
)

const (
	maxIgnoreBytes = 256 << 10
	maxRules       = 2000 // of one file
	maxPattern     = 1024
)

// rule is one line of a .gitignore file.
type rule struct {
	names    []string // between its slashes
	not      bool
	dirOnly  bool
	anywhere bool // without a slash: it is about the last name alone
}

// rules are those of one file, for paths below the folder that has it.
type rules struct {
	depth int // names of the folder's own path
	list  []rule
}

// parseRules reads lines as git does. It takes any bytes, and at most maxRules of the lines.
func parseRules(text []byte, depth int) rules {
	out := rules{depth: depth}
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	for line := range bytes.SplitSeq(text, []byte("\n")) {
		if r, ok := parseRule(string(bytes.TrimSuffix(line, []byte("\r")))); ok && len(out.list) < maxRules {
			out.list = append(out.list, r)
		}
	}
	return out
}

func parseRule(line string) (r rule, ok bool) {
	line = trimBlanks(line)
	if line == "" || line[0] == '#' || len(line) > maxPattern {
		return r, false
	}
	if line[0] == '!' {
		r.not, line = true, line[1:]
	}
	if strings.HasSuffix(line, "/") {
		r.dirOnly, line = true, line[:len(line)-1]
	}
	r.anywhere = !strings.Contains(line, "/")
	r.names = strings.Split(strings.TrimPrefix(line, "/"), "/")
	return r, line != "" && line != "/"
}

// trimBlanks takes blanks off the end, except one behind a backslash.
func trimBlanks(line string) string {
	cut := strings.TrimRight(line, " ")
	slashes := len(cut) - len(strings.TrimRight(cut, `\`))
	if len(cut) < len(line) && slashes%2 == 1 {
		return cut + " "
	}
	return cut
}

// ignored reports what the rules say of a path: the innermost file decides, and in it the
// last rule that fits.
func ignored(all []rules, names []string, dir bool) bool {
	for i := len(all) - 1; i >= 0; i-- {
		below := names[all[i].depth:]
		for j := len(all[i].list) - 1; j >= 0; j-- {
			r := &all[i].list[j]
			if r.dirOnly && !dir {
				continue
			}
			if r.anywhere && fits(r.names[0], below[len(below)-1]) || !r.anywhere && fitsPath(r.names, below) {
				return !r.not
			}
		}
	}
	return false
}

// fitsPath matches name by name; "**" stands for any number of them, at the end for at
// least one. Going back to the last "**" alone is enough, so the time is bounded.
func fitsPath(pattern, names []string) bool {
	p, n, star, mark := 0, 0, -1, 0
	for n < len(names) {
		switch {
		case p < len(pattern) && pattern[p] == "**":
			if p == len(pattern)-1 {
				return true
			}
			star, mark = p, n
			p++
		case p < len(pattern) && fits(pattern[p], names[n]):
			p, n = p+1, n+1
		case star >= 0:
			mark++
			p, n = star+1, mark
		default:
			return false
		}
	}
	return p == len(pattern)
}

// fits matches one name, byte by byte as git does.
func fits(pattern, name string) bool {
	p, n, star, mark := 0, 0, -1, 0
	for n < len(name) {
		if p < len(pattern) && pattern[p] == '*' {
			star, mark = p, n
			p++
			continue
		}
		if size, ok := one(pattern[p:], name[n]); ok {
			p, n = p+size, n+1
			continue
		}
		if star < 0 {
			return false
		}
		mark++
		p, n = star+1, mark
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// one matches the first piece of a pattern, which is size bytes long.
func one(pattern string, c byte) (size int, ok bool) {
	if pattern == "" {
		return 0, false
	}
	switch pattern[0] {
	case '?':
		return 1, true
	case '\\':
		return 2, len(pattern) > 1 && pattern[1] == c
	case '[':
		return class(pattern, c)
	}
	return 1, pattern[0] == c
}

// class matches "[a-z]" and its like. One without an end matches nothing.
func class(pattern string, c byte) (size int, ok bool) {
	i, not, in := 1, false, false
	if i < len(pattern) && (pattern[i] == '!' || pattern[i] == '^') {
		not, i = true, i+1
	}
	for first := true; i < len(pattern); first = false {
		if pattern[i] == ']' && !first {
			return i + 1, in != not
		}
		if name, end, found := named(pattern[i:]); found {
			in, i = in || name(c), i+end
			continue
		}
		low, next := letter(pattern, i)
		high := low
		if next+1 < len(pattern) && pattern[next] == '-' && pattern[next+1] != ']' {
			high, next = letter(pattern, next+1)
		}
		in, i = in || low <= c && c <= high, next
	}
	return 0, false
}

func letter(pattern string, i int) (c byte, next int) {
	if pattern[i] == '\\' && i+1 < len(pattern) {
		i++
	}
	return pattern[i], i + 1
}

var classes = map[string]func(byte) bool{
	"digit": func(c byte) bool { return '0' <= c && c <= '9' },
	"lower": func(c byte) bool { return 'a' <= c && c <= 'z' },
	"upper": func(c byte) bool { return 'A' <= c && c <= 'Z' },
	"alpha": func(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' },
	"alnum": func(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' },
	"space": func(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' },
}

// named is a class by its name, "[:digit:]".
func named(pattern string) (is func(byte) bool, size int, ok bool) {
	if !strings.HasPrefix(pattern, "[:") {
		return nil, 0, false
	}
	name, _, found := strings.Cut(pattern[2:], ":]")
	is, ok = classes[name]
	return is, len(name) + 4, found && ok
}
