package config

import (
	"fmt"
	"slices"
	"strings"
)

// diffContext is how many unchanged lines stand around a change, as in diff -u.
const diffContext = 3

// Diff shows what makes b of a as hunks of a unified diff, without headers of
// files; the empty text when they are the same. It takes time in proportion to
// n log n of the lines: lines that are there once on both sides anchor it, so
// that in a file of many equal lines it may show more than the least change.
func Diff(a, b string) string {
	if a == b {
		return ""
	}
	x, y := lines(a), lines(b)
	var out strings.Builder
	var hunk []string
	var startX, startY, countX, countY int
	flush := func() {
		if hunk == nil {
			return
		}
		fmt.Fprintf(&out, "@@ -%s +%s @@\n", extent(startX, countX), extent(startY, countY))
		for _, l := range hunk {
			out.WriteString(l)
			out.WriteByte('\n')
		}
		hunk = nil
	}
	keep := func(from, to, fromY int) { // the same lines on both sides
		n := to - from
		if hunk != nil {
			after := min(n, diffContext)
			if last := to == len(x) && fromY+n == len(y); !last && n <= 2*diffContext {
				after = n
			}
			for i := range after {
				hunk = append(hunk, " "+x[from+i])
			}
			countX, countY = countX+after, countY+after
			if after == n {
				return
			}
			flush()
		}
		startX, startY, countX, countY = to, fromY+n, 0, 0
	}
	change := func(fromX, toX, fromY, toY int) {
		if fromX == toX && fromY == toY {
			return
		}
		if hunk == nil {
			before := min(diffContext, fromX, fromY)
			startX, startY, countX, countY = fromX-before, fromY-before, before, before
			hunk = []string{}
			for i := fromX - before; i < fromX; i++ {
				hunk = append(hunk, " "+x[i])
			}
		}
		for _, l := range x[fromX:toX] {
			hunk = append(hunk, "-"+l)
		}
		for _, l := range y[fromY:toY] {
			hunk = append(hunk, "+"+l)
		}
		countX, countY = countX+toX-fromX, countY+toY-fromY
	}
	atX, atY := 0, 0
	for _, m := range matches(x, y) {
		change(atX, m.x, atY, m.y)
		keep(m.x, m.x+m.n, m.y)
		atX, atY = m.x+m.n, m.y+m.n
	}
	change(atX, len(x), atY, len(y))
	flush()
	return out.String()
}

// Changed counts the lines that were added and removed.
func Changed(a, b string) (added, removed int) {
	x, y := lines(a), lines(b)
	kept := 0
	for _, m := range matches(x, y) {
		kept += m.n
	}
	return len(y) - kept, len(x) - kept
}

func extent(start, count int) string {
	if count == 0 {
		return fmt.Sprintf("%d,0", start)
	}
	if count == 1 {
		return fmt.Sprint(start + 1)
	}
	return fmt.Sprintf("%d,%d", start+1, count)
}

func lines(s string) []string {
	if s == "" {
		return nil
	}
	l := strings.Split(strings.TrimSuffix(s, "\n"), "\n")
	if !strings.HasSuffix(s, "\n") {
		l[len(l)-1] += "\n\\ No newline at end of file"
	}
	return l
}

// match is a run of n equal lines.
type match struct{ x, y, n int }

// matches are runs of equal lines, in order on both sides: the longest order
// of lines that are unique on both sides, each grown as far as it goes.
func matches(x, y []string) []match {
	type seen struct{ x, y, nx, ny int }
	at := map[string]*seen{}
	for i, l := range x {
		if at[l] == nil {
			at[l] = &seen{}
		}
		at[l].nx++
		at[l].x = i
	}
	for i, l := range y {
		if s := at[l]; s != nil {
			s.ny++
			s.y = i
		}
	}
	var anchors []match
	for i, l := range x {
		if s := at[l]; s.nx == 1 && s.ny == 1 {
			anchors = append(anchors, match{i, s.y, 1})
		}
	}
	var out []match
	atX, atY := 0, 0
	add := func(m match) {
		if m.x < atX || m.y < atY {
			return // a run before it grew over this line
		}
		for m.x > atX && m.y > atY && x[m.x-1] == y[m.y-1] {
			m.x, m.y, m.n = m.x-1, m.y-1, m.n+1
		}
		for m.x+m.n < len(x) && m.y+m.n < len(y) && x[m.x+m.n] == y[m.y+m.n] {
			m.n++
		}
		if m.n > 0 {
			out = append(out, m)
			atX, atY = m.x+m.n, m.y+m.n
		}
	}
	add(match{0, 0, 0}) // the same beginning
	for _, m := range increasing(anchors) {
		add(m)
	}
	add(match{len(x), len(y), 0}) // the same end
	return out
}

// increasing is the longest sub-list of anchors, which are in order of x, that
// is in order of y too.
func increasing(anchors []match) []match {
	var tails []int // of the best list of each length, as index into anchors
	before := make([]int, len(anchors))
	for i, a := range anchors {
		n, _ := slices.BinarySearchFunc(tails, a.y, func(t, y int) int { return anchors[t].y - y })
		before[i] = -1
		if n > 0 {
			before[i] = tails[n-1]
		}
		if n == len(tails) {
			tails = append(tails, i)
		} else {
			tails[n] = i
		}
	}
	out := make([]match, len(tails))
	if len(tails) == 0 {
		return out
	}
	for i, n := tails[len(tails)-1], len(tails)-1; i >= 0; i, n = before[i], n-1 {
		out[n] = anchors[i]
	}
	return out
}
