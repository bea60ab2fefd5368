package core

import (
	"regexp"
	"strings"
	"unicode"
)

// titleLimit bounds a title, in runes: a row of the tree has room for some forty.
const titleLimit = 60

var (
	lineStart = regexp.MustCompile(`^\s*(?:(?:#{1,6}|>|[-*+]|\d{1,3}[.)])\s+)*(?:\[[ xX]\]\s+)?`)
	linked    = regexp.MustCompile(`!?\[([^\[\]]*)\]\([^()\s]*\)`)
	marked    = regexp.MustCompile("~~|`+|\\b_{1,3}\\B|\\B_{1,3}\\b")
	starred   = regexp.MustCompile(`([^\s*])\*{1,3}|\*{1,3}([^\s*])`)
	notWords  = regexp.MustCompile(`^[\s\pP\pS]*$`)
)

// Title is the first line of a text that has words, without Markdown, cut at a word.
func Title(text string) string {
	if len(text) > 8<<10 {
		text = text[:8<<10]
	}
	for line := range strings.Lines(strings.ToValidUTF8(text, "")) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			continue
		}
		line = lineStart.ReplaceAllString(line, "")
		line = starred.ReplaceAllString(marked.ReplaceAllString(linked.ReplaceAllString(line, "$1"), ""), "$1$2")
		line = strings.Join(strings.Fields(strings.Map(func(r rune) rune {
			if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
				return ' '
			}
			return r
		}, line)), " ")
		if !notWords.MatchString(line) {
			return cutAtWord(line)
		}
	}
	return ""
}

func cutAtWord(line string) string {
	r := []rune(line)
	if len(r) <= titleLimit {
		return line
	}
	cut := string(r[:titleLimit])
	if i := strings.LastIndexByte(cut, ' '); i > titleLimit/3 {
		cut = cut[:i]
	}
	return strings.TrimRight(cut, " ,;:–-") + "…"
}
