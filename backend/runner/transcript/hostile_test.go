package transcript

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"loop/backend/core"
)

// filler gives n bytes of one letter without holding them in memory.
type filler struct {
	n int64
	b byte
}

func (f *filler) Read(p []byte) (int, error) {
	if f.n == 0 {
		return 0, io.EOF
	}
	k := int(min(int64(len(p)), f.n))
	for i := range p[:k] {
		p[i] = f.b
	}
	f.n -= int64(k)
	return k, nil
}

const okResult = `{"type":"result","subtype":"success","is_error":false,"result":"fine","session_id":"s"}` + "\n"

func TestGarbageDoesNotStopTheStream(t *testing.T) {
	var many strings.Builder
	for range 100 {
		many.WriteString("warning: something odd happened in a library\n")
	}
	for name, in := range map[string]string{
		"plain text":      "npm WARN deprecated\n",
		"many lines":      many.String(),
		"half JSON":       `{"type":"assistant","message":{"content":[{"type":"te` + "\n",
		"array":           "[1,2,3]\n",
		"number":          "42\n",
		"no type":         `{"hello":1}` + "\n",
		"type not text":   `{"type":7}` + "\n",
		"invalid UTF-8":   "\xff\xfe\x80 oops\n",
		"NUL":             "\x00\x00\n",
		"carriage return": "\r\n\r\n",
		"empty lines":     "\n\n   \n\t\n",
		"deep nesting":    strings.Repeat(`{"a":`, 100_000) + "\n",
		"deep known":      `{"type":"assistant","message":{"content":` + strings.Repeat("[", 100_000) + "\n",
		"wrong shapes":    `{"type":"assistant","message":7}` + "\n" + `{"type":"user","message":{"content":{"a":1}}}` + "\n" + `{"type":"system","subtype":[1]}` + "\n" + `{"type":"stream_event","event":"x"}` + "\n",
		"huge numbers":    `{"type":"stream_event","event":{"type":"content_block_delta","index":999999999,"delta":{"type":"text_delta","text":"x"}}}` + "\n" + `{"type":"system","subtype":"api_retry","retry_delay_ms":1e308,"attempt":1}` + "\n",
		"escapes":         `{"type":"assi\u0073tant","message":{"content":"ok"}}` + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			var p Parser
			_, end := parseAll(t, strings.NewReader(in+okResult), &p)
			if p.Result == nil || p.Result.Text != "fine" || end != int64(len(in+okResult)) {
				t.Errorf("result %+v at %d", p.Result, end)
			}
			if g := p.Garbage; len(g) > tailBytes+1 || strings.Count(g, "\n") >= tailLines || !utf8.ValidString(g) {
				t.Errorf("garbage of %d bytes kept: %.100q", len(g), g)
			}
		})
	}
}

func TestUnknownKindsAreKept(t *testing.T) {
	var p Parser
	items, _ := parseAll(t, strings.NewReader(`{"type":"brand_new","x":[1,2]}`+"\n"+
		`{"type":"control_wish","request":{"subtype":"can_use_tool"}}`+"\n"+
		`{"type":"system","subtype":"never_seen","a":1}`+"\n"+
		`{"type":"big","x":"`+strings.Repeat("é", maxRaw)+`"}`+"\n"), &p)
	if len(items) != 4 {
		t.Fatalf("%d items", len(items))
	}
	for i, it := range items {
		b, err := json.Marshal(it.Data)
		if it.Type != core.EventRaw || it.Passing || err != nil || len(b) > maxRaw+1024 || !utf8.Valid(b) {
			t.Errorf("item %d: %s, %d bytes, %v", i, it.Type, len(b), err)
		}
	}
	if string(items[0].Data.(json.RawMessage)) != `{"type":"brand_new","x":[1,2]}` {
		t.Errorf("changed: %s", items[0].Data)
	}
}

func TestOverLongLines(t *testing.T) {
	const size = 64 << 20
	for name, in := range map[string]io.Reader{
		"text":   io.MultiReader(&filler{size, 'x'}, strings.NewReader("\n")),
		"result": io.MultiReader(strings.NewReader(`{"type":"result","subtype":"success","is_error":false,"num_turns":3,"result":"begin `), &filler{size, 'y'}, strings.NewReader(`","stop_reason":"end_turn","session_id":"s1","total_cost_usd":0.5}`+"\n")),
		"turn":   io.MultiReader(strings.NewReader(`{"type":"assistant","message":{"content":[{"type":"text","text":"`), &filler{size, 'z'}, strings.NewReader(`"}]}}`+"\n")),
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			var p Parser
			r := NewReader(io.MultiReader(in, strings.NewReader(`{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"after"}]}}`+"\n")), 0)
			var items []Item
			for {
				l, err := r.Next()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				items = append(items, p.Parse(l)...)
			}
			runtime.ReadMemStats(&after)
			// The bound is the beginning of the line, whose buffer grows by doubling.
			if used := after.TotalAlloc - before.TotalAlloc; used > 12*MaxLine {
				t.Errorf("%d MiB allocated for one line", used>>20)
			}
			last := items[len(items)-1]
			if m, ok := last.Data.(core.MessageCreated); !ok || m.Content != "after" {
				t.Errorf("the stream did not go on: %+v", last)
			}
			if n, ok := items[0].Data.(core.Notice); !ok || !strings.Contains(n.Text, "bytes") {
				t.Errorf("not reported: %+v", items[0])
			}
			if p.Result != nil {
				t.Errorf("a result was made of a line without its end: %.300v", p.Result)
			}
		})
	}
}

func TestReaderKeepsTheFront(t *testing.T) {
	for _, size := range []int{MaxLine - 1, MaxLine, MaxLine + 1, 2 * MaxLine} {
		in := bytes.Repeat([]byte("a"), size)
		copy(in, "front")
		r := NewReader(bytes.NewReader(append(append([]byte(nil), in...), "\nnext\r\n"...)), 100)
		l, err := r.Next()
		if err != nil || l.End != int64(100+size+1) {
			t.Fatalf("%d: end %d, %v", size, l.End, err)
		}
		if int64(len(l.Data))+l.Cut != int64(size) || len(l.Data) > MaxLine || !bytes.HasPrefix(l.Data, []byte("front")) {
			t.Errorf("%d: %d + %d", size, len(l.Data), l.Cut)
		}
		if l, err = r.Next(); err != nil || string(l.Data) != "next" || l.Open {
			t.Errorf("next line %q %v", l.Data, err)
		}
	}
}

// TestResultOfAnotherShape: a newer CLI may use other types for some members. The rest
// of its result is still read.
func TestResultOfAnotherShape(t *testing.T) {
	var p Parser
	parseAll(t, strings.NewReader(`{"type":"result","num_turns":"3","is_error":true,"errors":7,"result":"no","session_id":"s1"}`+"\n"), &p)
	if r := p.Result; r == nil || !r.Failed() || r.Text != "no" || r.SessionID != "s1" {
		t.Errorf("%+v", r)
	}
}

func TestInvalidUTF8InsideAMessage(t *testing.T) {
	var p Parser
	items, _ := parseAll(t, strings.NewReader(`{"type":"assistant","message":{"content":[{"type":"text","text":"a`+"\xff"+`b"},{"type":"tool_use","id":"t","name":"Bash","input":{"command":"`+"\xc3"+`"}}]}}`+"\n"), &p)
	if len(items) != 2 {
		t.Fatal(items)
	}
	for _, it := range items {
		if b, err := json.Marshal(it.Data); err != nil || !utf8.Valid(b) {
			t.Errorf("%s %v", b, err)
		}
	}
	if m := items[0].Data.(core.MessageCreated); m.Content != "a\uFFFDb" {
		t.Errorf("%q", m.Content)
	}
}

func TestBigToolInputAndOutput(t *testing.T) {
	var p Parser
	big := strings.Repeat("x", 300_000)
	items, _ := parseAll(t, strings.NewReader(
		`{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"Write","input":{"file_path":"/a","content":"`+big+`"}}]}}`+"\n"+
			`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"`+big+`"}]},"tool_use_result":{"type":"create","filePath":"/a","content":"`+big+`","structuredPatch":[]}}`+"\n"), &p)
	use, res := items[0].Data.(core.ToolUse), items[1].Data.(core.ToolResult)
	var in map[string]string
	if err := json.Unmarshal(use.Input, &in); err != nil || in["file_path"] != "/a" || len(in["content"]) > maxField+100 {
		t.Errorf("input of %d bytes, %v", len(use.Input), err)
	}
	if len(res.Output) != maxOutput || !res.Truncated || len(res.Files) != 1 || res.Files[0].Added != 1 {
		t.Errorf("output of %d bytes, truncated %v, files %+v", len(res.Output), res.Truncated, res.Files)
	}
}

func FuzzParse(f *testing.F) {
	for _, data := range samples(f) {
		f.Add(data)
	}
	f.Add([]byte(okResult))
	f.Fuzz(func(t *testing.T, data []byte) {
		var p Parser
		r := NewReader(bytes.NewReader(data), 7)
		last := int64(7)
		for {
			l, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if l.End <= last || (!l.Open && data[l.End-8] != '\n') {
				t.Fatalf("line ends at %d after %d", l.End, last)
			}
			last = l.End
			for _, it := range p.Parse(l) {
				b, err := json.Marshal(it.Data)
				if err != nil || !json.Valid(b) || !utf8.Valid(b) {
					t.Fatalf("%s cannot be stored: %v", it.Type, err)
				}
				if s, ok := it.Data.(core.MessageStreaming); ok && (s.Block < 0 || s.Block > maxBlocks || s.Offset < 0) {
					t.Fatalf("piece out of bounds: %+v", s)
				}
			}
		}
		if last != int64(7+len(data)) {
			t.Fatalf("ended at %d of %d", last, 7+len(data))
		}
		if g := p.Garbage; len(g) > tailBytes+1 || !utf8.ValidString(g) {
			t.Fatalf("garbage %q", g)
		}
		if res := p.Result; res != nil {
			if b, err := json.Marshal(res); err != nil || !utf8.Valid(b) {
				t.Fatalf("result cannot be stored: %v", err)
			}
		}
	})
}

// TestCommandsOfTheCLI: the names of commands are a container's word.
func TestCommandsOfTheCLI(t *testing.T) {
	p := &Parser{}
	long := strings.Repeat("n", 101)
	many := strings.Repeat(`"a",`, core.MaxCommands+50) + `"a"`
	for line, want := range map[string]int{
		`["init","sub:mig","doctor","_in","--x","a b","a\u202eb","a/b","","` + long + `"]`: 2,
		`[` + many + `]`: core.MaxCommands,
	} {
		p.Parse(Line{Data: []byte(`{"type":"system","subtype":"init","slash_commands":` + line + `,"terminal_slash_commands":["doctor"]}`)})
		if len(p.Commands) != want {
			t.Errorf("%q", p.Commands)
		}
	}
}
