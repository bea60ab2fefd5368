// Package supportbundle packs what somebody needs who helps with Loop, without what is the
// person's own: keys, names of people, computers and projects, paths. It is pure.
//
// backend/cli and tests may import it.
package supportbundle

import (
	"archive/zip"
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"
)

// MaxPart bounds a part, in bytes; of a longer one the end is kept, where a log is newest.
const MaxPart = 2 << 20

// Part is one text of a bundle.
type Part struct {
	Name string
	Text string
}

// Project is a folder that people gave to Loop.
type Project struct{ Name, Dir string }

// Personal is what is the person's own, beside what looks like a secret by itself.
type Personal struct {
	Home, User, Host string
	Projects         []Project
	Secrets          []string
}

// Write writes a ZIP archive of the parts, without what is personal.
func Write(w io.Writer, parts []Part, p Personal, at time.Time) error {
	hide := p.hiding()
	z := zip.NewWriter(w)
	for _, part := range parts {
		f, err := z.CreateHeader(&zip.FileHeader{Name: part.Name, Method: zip.Deflate, Modified: at})
		if err == nil {
			_, err = io.WriteString(f, hide(end(part.Text)))
		}
		if err != nil {
			return fmt.Errorf("pack %s: %w", part.Name, err)
		}
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("pack: %w", err)
	}
	return nil
}

// end is the end of a text that is too long, from the beginning of a line.
func end(text string) string {
	if len(text) <= MaxPart {
		return text
	}
	_, rest, _ := strings.Cut(text[len(text)-MaxPart:], "\n")
	return "(The beginning is left out.)\n" + rest
}

const hidden = "<hidden>"

// looksSecret are texts that are secret whoever wrote them. What is in groups stays.
var looksSecret = []*regexp.Regexp{
	regexp.MustCompile(`(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)`),
	regexp.MustCompile(`\bsk-[A-Za-z0-9_-]{8,}`),
	regexp.MustCompile(`\b(?:gh[pousr]_|github_pat_|glpat-|xox[abeprs]-|npm_|hf_)[A-Za-z0-9_-]{10,}`),
	regexp.MustCompile(`\b(?:AKIA|ASIA)[0-9A-Z]{16}\b`),
	regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.?[A-Za-z0-9_-]*`),
	regexp.MustCompile(`(?i)(\b(?:bearer|basic)\s+)[A-Za-z0-9+/=._~-]{8,}`),
	regexp.MustCompile(`([a-z][a-z0-9+.-]*://)[^\s/@"']+(@)`),
	regexp.MustCompile(`(?i)([\w-]*(?:passw(?:or)?d|secret|token|api[_-]?key|credential)[\w-]*\\?["']?\s*[:=]\s*\\?["']?)[^\s"'\\,;}]{4,}`),
	regexp.MustCompile(`\b[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+\b`),
}

// hiding replaces what is personal.
func (p Personal) hiding() func(string) string {
	type pair struct{ from, to string }
	var all []pair
	put := func(from, to string, least int) {
		if len(from) >= least {
			// As it is in a Go or JSON string as well, where Windows' paths have two.
			all = append(all, pair{from, to}, pair{strings.ReplaceAll(from, `\`, `\\`), to})
		}
	}
	for _, s := range p.Secrets {
		put(s, hidden, 6)
	}
	for i, pr := range p.Projects {
		put(pr.Dir, fmt.Sprintf("<project %d>", i+1), 2)
	}
	put(p.Home, "~", 2)
	slices.SortStableFunc(all, func(a, b pair) int { return cmp.Compare(len(b.from), len(a.from)) })
	var words []pair // only where they stand alone
	word := func(text, to string) {
		if len(text) >= 3 {
			words = append(words, pair{text, to})
		}
	}
	for i, pr := range p.Projects {
		word(pr.Name, fmt.Sprintf("<project %d>", i+1))
	}
	word(p.User, "<user>")
	word(p.Host, "<computer>")
	slices.SortStableFunc(words, func(a, b pair) int { return cmp.Compare(len(b.from), len(a.from)) })
	return func(text string) string {
		for _, r := range all {
			text = strings.ReplaceAll(text, r.from, r.to)
		}
		for _, r := range looksSecret {
			text = r.ReplaceAllString(text, "${1}"+hidden+"${2}") // a group that there is not is empty
		}
		for _, r := range words {
			text = alone(text, r.from, r.to)
		}
		return text
	}
}

// alone replaces a word where no letter or digit is beside it.
func alone(text, word, with string) string {
	var b strings.Builder
	for {
		i := strings.Index(text, word)
		if i < 0 {
			b.WriteString(text)
			return b.String()
		}
		after := i + len(word)
		b.WriteString(text[:i])
		if i > 0 && letter(text[i-1]) || after < len(text) && letter(text[after]) {
			b.WriteString(word)
		} else {
			b.WriteString(with)
		}
		text = text[after:]
	}
}

func letter(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c >= 0x80
}
