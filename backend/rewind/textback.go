package rewind

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"
)

const (
	// maxText bounds a text of which lines are compared, and maxPatch what is shown of it.
	maxText  = 2 << 20
	maxPatch = 256 << 10
)

// isText reports whether lines of a content can be compared.
func isText(data []byte) bool {
	return len(data) <= maxText && utf8.Valid(data) && bytes.IndexByte(data, 0) < 0
}

// counts are the lines that come and go between two texts.
func counts(from, to string) (added, removed int) {
	for _, e := range udiff.Lines(from, to) {
		added += lines(e.New)
		removed += lines(from[e.Start:e.End])
	}
	return added, removed
}

func lines(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

// version is a text that a person found, and what they made of it.
type version struct{ found, made string }

// merged is a text with the person's edits of other versions of it; ok is false where they
// touch what differs.
func merged(text string, edits []version) (out string, ok bool) {
	for _, v := range edits {
		both, ok := udiff.Merge(udiff.Lines(v.found, v.made), udiff.Lines(v.found, text))
		if !ok {
			return "", false
		}
		next, err := udiff.Apply(v.found, both)
		if err != nil {
			return "", false
		}
		text = next
	}
	return text, true
}

// patch is what makes then of now, as unified hunks, and which lines of now that go are the
// person's.
func patch(now, then string, edits []version) (text string, own []int, why string) {
	text = udiff.Unified("now", "then", now, then)
	if len(text) > maxPatch {
		text = text[:strings.LastIndexByte(text[:maxPatch], '\n')+1]
		why = "The end of the change is left out here."
	}
	mine := map[string]bool{}
	for _, v := range edits {
		for _, e := range udiff.Lines(v.found, v.made) {
			for line := range strings.Lines(e.New) {
				mine[strings.TrimSuffix(line, "\n")] = true
			}
		}
	}
	own = []int{}
	if len(mine) == 0 {
		return text, own, why
	}
	for _, e := range udiff.Lines(now, then) {
		at := strings.Count(now[:e.Start], "\n") + 1
		for line := range strings.Lines(now[e.Start:e.End]) {
			if mine[strings.TrimSuffix(line, "\n")] {
				own = append(own, at)
			}
			at++
		}
	}
	return text, own, why
}
