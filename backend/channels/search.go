package channels

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"loop/backend/core"
)

const (
	maxQuery = 200 // runes
	maxFound = 50
)

// Search finds channels by name, branch and folder, the best match first. An
// empty query gives the ones with the newest events.
func (s *Service) Search(ctx context.Context, query string) ([]core.ChannelView, error) {
	views, err := s.List(ctx)
	if err != nil {
		return nil, err
	}
	return Rank(views, query), nil
}

// Rank orders views by how well they match and leaves out those that do not.
func Rank(views []core.ChannelView, query string) []core.ChannelView {
	if r := []rune(query); len(r) > maxQuery {
		query = string(r[:maxQuery])
	}
	words := strings.Fields(strings.ToLower(query))
	type hit struct {
		view  core.ChannelView
		score int
	}
	hits := make([]hit, 0, len(views))
	for _, v := range views {
		total := 0
		for _, w := range words {
			n := max(match(v.Name, w)*4, match(v.Branch, w)*3, match(filepath.Base(v.Dir), w)*2, match(v.Dir, w))
			if n == 0 {
				total = -1
				break
			}
			total += n
		}
		if total >= 0 {
			hits = append(hits, hit{v, total})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int {
		return cmp.Or(b.score-a.score, cmp.Compare(b.view.LastEventID, a.view.LastEventID))
	})
	out := make([]core.ChannelView, min(len(hits), maxFound))
	for i := range out {
		out[i] = hits[i].view
	}
	return out
}

// match scores one lower-case word: whole, beginning, beginning of a word,
// anywhere, its letters in order; 0 is none.
func match(text, word string) int {
	text = strings.ToLower(text)
	at := strings.Index(text, word)
	switch {
	case text == word:
		return 100
	case at == 0:
		return 80
	case slices.ContainsFunc(strings.FieldsFunc(text, between), func(part string) bool { return strings.HasPrefix(part, word) }):
		return 60
	case at > 0:
		return 40
	}
	rest := []rune(word)
	for _, r := range text {
		if len(rest) > 0 && r == rest[0] {
			rest = rest[1:]
		}
	}
	if len(rest) == 0 && len([]rune(word)) > 1 {
		return 5
	}
	return 0
}

// between reports whether a character stands between two words.
func between(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
