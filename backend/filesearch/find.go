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
)

// Match is one file or folder.
type Match struct {
	Path   string // below the folder, of folders with a slash at the end
	Marks  []int  // the letters that matched, in code points of Path
	points int
}

// Find answers the best matches, limit at most, and how many there are. An empty query, and
// one that is a folder with a slash, have what is right in that folder.
func (x *Index) Find(ctx context.Context, query string, limit int) (best []Match, total int, err error) {
	limit = max(0, min(limit, maxLimit))
	if len(query) > maxQuery {
		return nil, 0, nil
	}
	query = strings.TrimPrefix(query, "./")
	dir, rest := x.split(query)
	rest = lowered(strings.ReplaceAll(rest, " ", ""))
	want := letters(rest)
	spare := make([]int, 0, maxQuery)
	for i, path := range x.paths {
		if i%lookAfter == 0 && ctx.Err() != nil {
			return nil, 0, ctx.Err()
		}
		if want&^x.sets[i] != 0 || len(path) <= len(dir) || !strings.HasPrefix(path, dir) {
			continue
		}
		below := path[len(dir):]
		if rest == "" {
			if n := strings.IndexByte(below, '/'); n < 0 || n == len(below)-1 {
				total++
				best = keep(best, Match{Path: path}, limit)
			}
			continue
		}
		points, marks, ok := score(rest, below, lowered(below), spare)
		if !ok {
			continue
		}
		total++
		m := Match{Path: path, points: points}
		if len(best) < limit || limit > 0 && order(m, best[len(best)-1]) < 0 {
			m.Marks = make([]int, len(marks))
			for j, at := range marks {
				m.Marks[j] = at + len(dir)
			}
			best = keep(best, m, limit)
		}
	}
	for i := range best {
		best[i].Marks = inRunes(best[i].Path, best[i].Marks)
	}
	return best, total, nil
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
