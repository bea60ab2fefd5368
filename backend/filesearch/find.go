package filesearch

import (
	"cmp"
	"context"
	"slices"
	"strings"
)

const (
	maxQuery  = 200
	maxLimit  = 100
	lookAfter = 4096
	// MaxRecent bounds the paths that come first; more are left out.
	MaxRecent = 50
)

// Match is one file or folder.
type Match struct {
	Path   string // below the folder, of folders with a slash at the end
	Marks  []int  // the letters that matched, in code points of Path
	Recent bool   // it is one of those named as recent
	Files  int    // of a folder: files below it
	points int
	at     int // in the Index
}

// Find answers the best matches, limit at most, and how many there are. An empty query, and
// one that is a folder with a slash, have what is right in that folder. What is named as
// recent comes first, in that order, also from deeper below.
func (x *Index) Find(ctx context.Context, query string, limit int, recent ...string) (best []Match, total int, err error) {
	limit = max(0, min(limit, maxLimit))
	if len(query) > maxQuery {
		return nil, 0, nil
	}
	query = strings.TrimPrefix(query, "./")
	dir, rest := x.split(query)
	rest = lowered(strings.ReplaceAll(rest, " ", ""))
	want := letters(rest)
	spare := make([]int, 0, maxQuery)
	first := recent[:min(len(recent), MaxRecent)]
	found := make([]*Match, len(first))
	for i, path := range x.paths {
		if i%lookAfter == 0 && ctx.Err() != nil {
			return nil, 0, ctx.Err()
		}
		if want&^x.sets[i] != 0 || len(path) <= len(dir) || !strings.HasPrefix(path, dir) {
			continue
		}
		below := path[len(dir):]
		if rest == "" {
			if r := slices.Index(first, path); r >= 0 {
				total++
				found[r] = &Match{Path: path, Recent: true, at: i}
			} else if n := strings.IndexByte(below, '/'); n < 0 || n == len(below)-1 {
				total++
				best = keep(best, Match{Path: path, at: i}, limit)
			}
			continue
		}
		points, marks, ok := score(rest, below, lowered(below), spare)
		if !ok {
			continue
		}
		total++
		r := slices.Index(first, path)
		m := Match{Path: path, points: points, Recent: r >= 0, at: i}
		if r >= 0 || len(best) < limit || limit > 0 && order(m, best[len(best)-1]) < 0 {
			m.Marks = make([]int, len(marks))
			for j, at := range marks {
				m.Marks[j] = at + len(dir)
			}
			if r >= 0 {
				found[r] = &m
			} else {
				best = keep(best, m, limit)
			}
		}
	}
	var top []Match
	for _, m := range found {
		if m != nil {
			top = append(top, *m)
		}
	}
	if best = append(top, best...); len(best) > limit {
		best = best[:limit]
	}
	for i := range best {
		best[i].Marks = inRunes(best[i].Path, best[i].Marks)
		best[i].Files = x.below(best[i].at)
	}
	return best, total, nil
}

// below counts the files below a folder, which follow it.
func (x *Index) below(at int) (n int) {
	dir := x.paths[at]
	if !strings.HasSuffix(dir, "/") {
		return 0
	}
	for _, path := range x.paths[at+1:] {
		if !strings.HasPrefix(path, dir) {
			break
		}
		if !strings.HasSuffix(path, "/") {
			n++
		}
	}
	return n
}

// split takes a folder that there is off the front of a query.
func (x *Index) split(query string) (dir, rest string) {
	i := strings.LastIndexByte(query, '/')
	if i < 0 || !slices.Contains(x.paths, query[:i+1]) {
		return "", query
	}
	return query[:i+1], query[i+1:]
}

func order(a, b Match) int {
	return cmp.Or(cmp.Compare(b.points, a.points), cmp.Compare(len(a.Path), len(b.Path)), strings.Compare(a.Path, b.Path))
}

// keep puts a match in its place among the best.
func keep(best []Match, m Match, limit int) []Match {
	if limit == 0 {
		return best
	}
	i, _ := slices.BinarySearchFunc(best, m, order)
	if best = slices.Insert(best, i, m); len(best) > limit {
		best = best[:limit]
	}
	return best
}
