package vt

import (
	"bufio"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// TestStreams plays the streams in testdata. They are rare cases that once were drawn
// wrong, and things that programs do every day. Each has the result of xterm.js 6.0.0;
// the tag xterm and -update write it again.
func TestStreams(t *testing.T) {
	for _, f := range streamFiles(t) {
		t.Run(f.name, func(t *testing.T) {
			v := New(f.cols, f.rows, Options{Scrollback: f.scrollback})
			for _, e := range f.events {
				e.on(v)
			}
			if d := diffLines(v.Dump(true), f.want); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestStreamsInPieces writes the streams byte by byte, which must make no difference.
func TestStreamsInPieces(t *testing.T) {
	for _, f := range streamFiles(t) {
		v, w := New(f.cols, f.rows, Options{Scrollback: f.scrollback}), New(f.cols, f.rows, Options{Scrollback: f.scrollback})
		for _, e := range f.events {
			if e.cols != 0 {
				v.Resize(e.cols, e.rows)
				w.Resize(e.cols, e.rows)
				continue
			}
			v.Write(e.data)
			for i := range e.data {
				w.Write(e.data[i : i+1])
			}
		}
		if d := diffLines(w.Dump(true), v.Dump(true)); d != "" && !strings.HasPrefix(f.name, "run-") {
			t.Errorf("%s: %s", f.name, d)
		}
		if a, b := string(v.Snapshot()), string(w.Snapshot()); a != b && !strings.HasPrefix(f.name, "run-") {
			t.Errorf("%s: snapshots\n%q\n%q", f.name, a, b)
		}
	}
}

// TestSnapshotsOfStreams takes a snapshot after every event. The original and the copy
// then go on alike.
func TestSnapshotsOfStreams(t *testing.T) {
	for _, f := range streamFiles(t) {
		for f.snapAt = range len(f.events) + 1 {
			v := New(f.cols, f.rows, Options{Scrollback: f.scrollback})
			for _, e := range f.events[:f.snapAt] {
				e.on(v)
			}
			if !v.reproducible() {
				continue
			}
			cols, rows := v.Size()
			w := New(cols, rows, Options{Scrollback: f.scrollback})
			w.Write(v.Snapshot())
			for _, e := range f.events[f.snapAt:] {
				e.on(v)
				e.on(w)
			}
			if d := diffLines(w.Dump(false), v.Dump(false)); d != "" {
				t.Errorf("%s: snapshot at %d: %s", f.name, f.snapAt, d)
			}
		}
	}
}

func (e event) on(v *Terminal) {
	if e.cols != 0 {
		v.Resize(e.cols, e.rows)
	} else {
		v.Write(e.data)
	}
}

type streamFile struct {
	path, name string
	archive    *txtar.Archive
	scenario
	want string
}

type scenario struct {
	cols, rows, scrollback int
	events                 []event
	snapAt                 int // a snapshot is taken after this many events
}

func streamFiles(t *testing.T) []*streamFile {
	paths, err := filepath.Glob("testdata/streams/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatal("no streams", err)
	}
	var files []*streamFile
	for _, p := range paths {
		a, err := txtar.ParseFile(p)
		if err != nil {
			t.Fatal(err)
		}
		f := &streamFile{path: p, name: strings.TrimSuffix(filepath.Base(p), ".txt"), archive: a}
		for _, part := range a.Files {
			switch part.Name {
			case "stream":
				if f.scenario, err = parseScenario(string(part.Data)); err != nil {
					t.Fatalf("%s: %v", p, err)
				}
			case "xterm":
				f.want = string(part.Data)
			}
		}
		files = append(files, f)
	}
	return files
}

// parseScenario reads lines of "size COLS ROWS SCROLLBACK", "write QUOTED" and
// "resize COLS ROWS".
func parseScenario(s string) (c scenario, err error) {
	for sc := bufio.NewScanner(strings.NewReader(s)); sc.Scan(); {
		verb, rest, _ := strings.Cut(sc.Text(), " ")
		var e event
		switch verb {
		case "size":
			_, err = fmt.Sscan(rest, &c.cols, &c.rows, &c.scrollback)
		case "resize":
			_, err = fmt.Sscan(rest, &e.cols, &e.rows)
			c.events = append(c.events, e)
		case "write":
			var text string
			text, err = strconv.Unquote(rest)
			e.data = []byte(text)
			c.events = append(c.events, e)
		}
		if err != nil {
			return c, fmt.Errorf("%s: %w", sc.Text(), err)
		}
	}
	return c, nil
}

// diffLines returns the first difference of two dumps.
func diffLines(ours, theirs string) string {
	if ours == theirs {
		return ""
	}
	a, b := strings.Split(ours, "\n"), strings.Split(theirs, "\n")
	var out strings.Builder
	for i, k := 0, 0; i < max(len(a), len(b)) && k < 8; i++ {
		var x, y string
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		if x == y {
			continue
		}
		k++
		from := 0 // begins at the first difference
		for from < min(len(x), len(y)) && x[from] == y[from] {
			from++
		}
		name, _, _ := strings.Cut(x, "{")
		from = max(0, from-40)
		fmt.Fprintf(&out, "\n  %s\n    ours   %.120s\n    theirs %.120s", name, x[min(from, len(x)):], y[min(from, len(y)):])
	}
	return out.String()
}
