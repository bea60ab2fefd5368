//go:build xterm

package vt

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"loop/backend/terminal/vt/xtermtest"
)

var (
	cases     = flag.Int("vt.cases", 300, "streams to compare with xterm.js")
	firstSeed = flag.Uint64("vt.seed", 1, "the first stream")
	update    = flag.Bool("update", false, "write what xterm.js makes of the streams in testdata")
	keepGoing = flag.Bool("vt.all", false, "count failures instead of stopping at the first few")
)

// screen has the methods of both terminals.
type screen interface {
	Write([]byte) (int, error)
	Resize(cols, rows int)
	Dump(exact bool) string
}

func (e event) apply(s ...screen) {
	for _, s := range s {
		if e.cols != 0 {
			s.Resize(e.cols, e.rows)
		} else {
			s.Write(e.data)
		}
	}
}

// differs runs a stream in both terminals and returns their difference.
func (c *scenario) differs(n *xtermtest.Node) string {
	var said strings.Builder
	ours := New(c.cols, c.rows, Options{Scrollback: c.scrollback, Answer: func(p []byte) {
		if !(bytes.HasPrefix(p, []byte("\x1b[8;")) && bytes.HasSuffix(p, []byte("t"))) && !bytes.HasPrefix(p, []byte("\x1bP")) { // xterm.js itself does not give these answers
			said.Write(p)
		}
	}})
	theirs := n.New(c.cols, c.rows, c.scrollback)
	defer theirs.Close()
	for i, e := range c.events {
		e.apply(ours, theirs)
		if e.cols != 0 || i%7 == 6 || i == len(c.events)-1 {
			d, threw := diff(ours.Dump(true), theirs.Dump(true))
			if threw {
				return ""
			}
			if d != "" {
				return fmt.Sprintf("after event %d: %s", i, d)
			}
		}
	}
	if a, b := said.String(), statusStrings.ReplaceAllString(theirs.Said(), ""); a != b {
		return fmt.Sprintf("we say %q, xterm.js %q", a, b)
	}
	return ""
}

// statusStrings are answers to DECRQSS, which vt does not give.
var statusStrings = regexp.MustCompile(`\x1bP[^\x1b]*\x1b\\`)

// snapshotDiffers takes a snapshot on the way, and goes on with a terminal made from
// it.
func (c *scenario) snapshotDiffers(n *xtermtest.Node) string {
	ours := New(c.cols, c.rows, Options{Scrollback: c.scrollback})
	for _, e := range c.events[:c.snapAt] {
		e.apply(ours)
	}
	if !ours.reproducible() {
		return ""
	}
	cols, rows := ours.Size()
	theirs := n.New(cols, rows, c.scrollback)
	defer theirs.Close()
	compare := func() (string, bool) { return diff(ours.Dump(false), theirs.Dump(false)) }
	if ours.hiddenTabs() {
		compare = func() (string, bool) { return diff(withoutTabs(ours.Dump(false)), withoutTabs(theirs.Dump(false))) }
	}
	snap := ours.Snapshot()
	theirs.Write(snap)
	if d, threw := compare(); d != "" || threw {
		return fmt.Sprintf("snapshot %q: %s", snap, d)
	}
	for i, e := range c.events[c.snapAt:] {
		e.apply(ours, theirs)
		if e.cols != 0 || i%7 == 6 || c.snapAt+i == len(c.events)-1 {
			d, threw := compare()
			if threw {
				return ""
			}
			if d != "" {
				return fmt.Sprintf("after event %d, snapshot %q: %s", c.snapAt+i, snap, d)
			}
		}
	}
	return ""
}

var tabLines = regexp.MustCompile(`(?m)^\w+: tabs.*\n`)

func withoutTabs(s string) string { return tabLines.ReplaceAllString(s, "") }

// diff returns the difference of two dumps. It sets threw when xterm.js threw an error.
func diff(ours, theirs string) (d string, threw bool) {
	if strings.HasPrefix(theirs, "threw") || strings.Contains(theirs, " undefined\n") { // the second is an error as well
		return "", true
	}
	return diffLines(ours, theirs), false
}

// shrink drops events that the difference does not need.
func shrink(c scenario, differs func(*scenario) string) scenario {
	tries := 0
	bad := func(c *scenario) string {
		if tries++; tries > 500 {
			return ""
		}
		return differs(c)
	}
	for again := true; again; {
		again = false
		for size := max(len(c.events)/2, 1); size >= 1; size /= 2 {
			for i := 0; i+size <= len(c.events); {
				d := c
				d.events = append(append([]event(nil), c.events[:i]...), c.events[i+size:]...)
				if d.snapAt > i {
					d.snapAt = max(i, d.snapAt-size)
				}
				if bad(&d) != "" {
					c, again = d, true
				} else {
					i += size
				}
			}
		}
		for i := range c.events {
			for size := max(len(c.events[i].data)/2, 1); size >= 1; size /= 2 {
				for k := 0; k+size <= len(c.events[i].data) && len(c.events[i].data) > size; {
					d := c
					d.events = append([]event(nil), c.events...)
					p := c.events[i].data
					d.events[i].data = append(append([]byte(nil), p[:k]...), p[k+size:]...)
					if bad(&d) != "" {
						c, again = d, true
					} else {
						k += size
					}
				}
			}
		}
	}
	return c
}

func TestStreamsDrawWhatXtermDraws(t *testing.T) {
	runStreams(t, func(n *xtermtest.Node, c *scenario) string { return c.differs(n) })
}

func TestSnapshotsDrawWhatXtermDraws(t *testing.T) {
	runStreams(t, func(n *xtermtest.Node, c *scenario) string { return c.snapshotDiffers(n) })
}

func runStreams(t *testing.T, differs func(*xtermtest.Node, *scenario) string) {
	n := xtermtest.Start(t)
	failed := 0
	for seed := *firstSeed; seed < *firstSeed+uint64(*cases); seed++ {
		g := newGenerator(seed)
		c := scenario{cols: g.cols, rows: g.rows, scrollback: []int{5, 20, 1000}[g.IntN(3)]}
		c.events = g.stream(5 + g.IntN(60))
		c.snapAt = g.IntN(len(c.events) + 1)
		if differs(n, &c) == "" {
			continue
		}
		failed++
		if failed > 3 {
			if *keepGoing {
				continue
			}
			break
		}
		small := shrink(c, func(c *scenario) string { return differs(n, c) })
		t.Errorf("seed %d: %d by %d, scrollback %d, snapshot at %d\n%s%s", seed, small.cols, small.rows, small.scrollback, small.snapAt,
			describe(small.events), differs(n, &small))
	}
	t.Logf("%d of %d differ", failed, *cases)
}

// TestStreamFiles takes a snapshot after every event of the streams in testdata.
func TestStreamFiles(t *testing.T) {
	n := xtermtest.Start(t)
	for _, f := range streamFiles(t) {
		if d := f.differs(n); d != "" && !*update {
			t.Errorf("%s: %s", f.name, d)
		}
		for f.snapAt = range len(f.events) + 1 {
			if d := f.snapshotDiffers(n); d != "" {
				t.Errorf("%s: snapshot at %d: %s", f.name, f.snapAt, d)
			}
		}
		theirs := n.New(f.cols, f.rows, f.scrollback)
		for _, e := range f.events {
			e.apply(theirs)
		}
		got := theirs.Dump(true)
		theirs.Close()
		if got == f.want {
			continue
		}
		if !*update {
			t.Errorf("%s: xterm.js makes something else of it now:%s", f.name, diffLines(f.want, got))
			continue
		}
		f.archive.Files = slices.DeleteFunc(f.archive.Files, func(a txtar.File) bool { return a.Name == "xterm" })
		f.archive.Files = append(f.archive.Files, txtar.File{Name: "xterm", Data: []byte(got)})
		if err := os.WriteFile(f.path, txtar.Format(f.archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWidthsAreXterms(t *testing.T) {
	widths := xtermtest.Start(t).New(80, 24, 0).Widths()
	loadWidths()
	for r, w := range widths {
		if r >= 0x20 && r != 0x7f && (r < 0x80 || r >= 0xa0) && runeWidth(rune(r)) != int(w) {
			t.Errorf("U+%04X takes %d columns, in xterm.js %d", r, runeWidth(rune(r)), w)
		}
	}
}

func describe(events []event) string {
	var b strings.Builder
	for _, e := range events {
		if e.cols != 0 {
			fmt.Fprintf(&b, "resize %d %d\n", e.cols, e.rows)
		} else {
			fmt.Fprintf(&b, "write %q\n", e.data)
		}
	}
	return b.String()
}

// hiddenTabs reports whether tab stops lie beyond the width, where only a wider
// terminal has them.
func (t *Terminal) hiddenTabs() bool {
	for i := t.cols; i < maxTabs; i++ {
		if t.normal.tabs.has(i) || t.alt.tabs.has(i) {
			return true
		}
	}
	return false
}
