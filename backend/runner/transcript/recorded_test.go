package transcript

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"loop/backend/core"
	"loop/backend/soaktest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func samples(t testing.TB) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob("testdata/claude-*/*.jsonl")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d samples, %v", len(files), err)
	}
	out := map[string][]byte{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		out[f] = b
	}
	return out
}

// parseAll reads a whole stream.
func parseAll(t testing.TB, r io.Reader, p *Parser) (items []Item, end int64) {
	t.Helper()
	lines := NewReader(r, 0)
	for {
		l, err := lines.Next()
		if errors.Is(err, io.EOF) {
			return items, end
		}
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, p.Parse(l)...)
		end = l.End
	}
}

// told lists what reached the timeline, as text for golden files.
func told(items []Item, p *Parser) string {
	var sb strings.Builder
	for _, it := range items {
		b, _ := json.Marshal(it.Data)
		mark := " "
		if it.Passing {
			mark = "~"
		}
		fmt.Fprintf(&sb, "%s %s %s\n", mark, it.Type, b)
		for _, pic := range it.Pictures {
			fmt.Fprintf(&sb, "    picture %d bytes %.8q\n", len(pic), pic)
		}
	}
	if r := p.Result; r != nil {
		b, _ := json.Marshal(r)
		fmt.Fprintf(&sb, "result failed=%v %s\n", r.Failed(), b)
		b, _ = json.Marshal(p.Usage())
		fmt.Fprintf(&sb, "usage %s\n", b)
	}
	if a := p.Asked; a != nil {
		b, _ := json.Marshal(a)
		fmt.Fprintf(&sb, "asked %s\n", b)
	}
	if l := p.Limit; l != nil {
		fmt.Fprintf(&sb, "limit %s %s %d\n", l.Status, l.Type, l.ResetsAt.Unix())
	}
	if p.APIError != nil {
		fmt.Fprintf(&sb, "refused %+v\n", *p.APIError)
	}
	if g := p.Garbage; g != "" {
		fmt.Fprintf(&sb, "garbage %q\n", g)
	}
	return sb.String()
}

func TestRecordings(t *testing.T) {
	for name, data := range samples(t) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			var p Parser
			items, end := parseAll(t, bytes.NewReader(data), &p)
			if end != int64(len(data)) {
				t.Errorf("ended at %d of %d", end, len(data))
			}
			got := told(items, &p)
			golden := strings.TrimSuffix(name, ".jsonl") + ".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil || got != string(want) {
				t.Errorf("differs from %s (%v); run with -update and look at the difference\n%s", golden, err, got)
			}
			if p.Result == nil {
				t.Error("no result")
			}

			// The result is the same however the bytes arrive.
			for _, r := range []io.Reader{iotest.OneByteReader(bytes.NewReader(data)), iotest.HalfReader(bytes.NewReader(data)), iotest.DataErrReader(bytes.NewReader(data))} {
				var p Parser
				items, _ := parseAll(t, r, &p)
				if told(items, &p) != got {
					t.Error("reading in other pieces changes the outcome")
				}
			}
		})
	}
}

// TestChoppedAtEveryByte breaks the stream at every byte. Whole lines before the break
// are read. Reading on from the reported offset gives the rest: nothing twice, nothing
// lost.
func TestChoppedAtEveryByte(t *testing.T) {
	for name, data := range samples(t) {
		if len(data) > 8_000 {
			data = data[:bytes.LastIndexByte(data[:8_000], '\n')+1]
		}
		t.Run(filepath.Base(name), func(t *testing.T) {
			var whole Parser
			all, _ := parseAll(t, bytes.NewReader(data), &whole)
			want := told(all, &whole)
			for cut := range data {
				if soaktest.Skips(cut) && cut >= 100 && cut%37 != 0 {
					continue
				}
				var p Parser
				var items []Item
				off := int64(0)
				// Parsing is slow, and gives the same for every cut within a line.
				sampled := cut%37 == 0 || cut < 100
				broken := NewReader(io.MultiReader(bytes.NewReader(data[:cut]), iotest.ErrReader(io.ErrUnexpectedEOF)), 0)
				for {
					l, err := broken.Next()
					if err != nil {
						if !errors.Is(err, io.ErrUnexpectedEOF) {
							t.Fatalf("cut at %d: %v", cut, err)
						}
						break
					}
					if sampled {
						items = append(items, p.Parse(l)...)
					}
					off = l.End
				}
				if end := bytes.LastIndexByte(data[:cut], '\n') + 1; off != int64(end) {
					t.Fatalf("cut at %d: offset %d, and the last whole line ends at %d", cut, off, end)
				}
				if !sampled {
					continue
				}
				rest := NewReader(bytes.NewReader(data[off:]), off)
				for {
					l, err := rest.Next()
					if errors.Is(err, io.EOF) {
						break
					}
					items = append(items, p.Parse(l)...)
					off = l.End
				}
				if off != int64(len(data)) {
					t.Fatalf("cut at %d: ended at %d of %d", cut, off, len(data))
				}
				if got := told(items, &p); got != want {
					t.Fatalf("cut at %d changes the outcome", cut)
				}
			}
		})
	}
}

// TestResultOfADyingCLI cuts the result line at every byte, without a line feed, as a
// killed CLI leaves it. Half a result does not count.
func TestResultOfADyingCLI(t *testing.T) {
	for name, data := range samples(t) {
		var line []byte // line of the last result, wherever in it the type is
		for l := range bytes.Lines(data) {
			if bytes.Contains(l, []byte(`"type":"result"`)) {
				line = bytes.TrimSuffix(l, []byte("\n"))
			}
		}
		if line == nil {
			t.Fatalf("%s: no result", name)
		}
		for cut := range line {
			if soaktest.Skips(cut) {
				continue
			}
			var p Parser
			p.Parse(Line{Data: append([]byte(nil), line[:cut]...), Open: true})
			if p.Result != nil {
				t.Fatalf("%s: cut at %d of %d: %+v", name, cut, len(line), p.Result)
			}
		}
	}
}

func TestFilesOfTools(t *testing.T) {
	var p Parser
	items, _ := parseAll(t, bytes.NewReader(samples(t)["testdata/claude-2.1.197/tools.jsonl"]), &p)
	var got []core.FileChange
	for _, it := range items {
		if r, ok := it.Data.(core.ToolResult); ok {
			got = append(got, r.Files...)
		}
	}
	want := []core.FileChange{
		{Path: "/repo/project/hello.txt", Kind: "create", Added: 3},
		{Path: "/repo/project/hello.txt", Kind: "edit", Added: 2, Removed: 1, Patch: "@@ -1,3 +1,4 @@\n one\n-two\n+TWO\n+and a half\n three\n"},
		{Path: "/repo/project/hello.txt", Kind: "edit", Added: 1, Removed: 4, Patch: "@@ -1,4 +1,1 @@\n-one\n-TWO\n-and a half\n-three\n+replaced\n"},
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
}
