package transcript

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"loop/backend/core"
)

// keptOf parses a transcript.
func keptOf(t testing.TB, text []byte) (k Kept, out []KeptLine) {
	t.Helper()
	lines := NewReader(bytes.NewReader(text), 0)
	for {
		l, err := lines.Next()
		if err != nil {
			return k, out
		}
		out = append(out, k.Parse(l))
	}
}

// TestKeptRecording reads what the pinned CLI kept of a run, a conversation in its terminal, and
// another run.
func TestKeptRecording(t *testing.T) {
	text, err := os.ReadFile("testdata/kept-run-terminal-run.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	k, lines := keptOf(t, text)
	var got []string
	for _, l := range lines {
		if !l.Spoken && !l.Cost {
			if len(l.Items) > 0 {
				t.Errorf("a note has items: %+v", l)
			}
			continue
		}
		var items []string
		for _, it := range l.Items {
			items = append(items, string(it.Type))
		}
		word := ""
		for name, is := range map[string]bool{"works": l.Works, "rests": l.Rests, "broken": l.Broken, "copied": l.Copied} {
			if is {
				word += name
			}
		}
		if l.Cost {
			word = "counted"
		}
		got = append(got, strings.TrimSpace(fmt.Sprintf("%v %s %s %s", l.Screen, word, l.Person, strings.Join(items, ","))))
		if l.Spoken && l.At.IsZero() {
			t.Errorf("%+v has no time", l)
		}
	}
	want := `false works Do-first message.created
false works  tool.use
false works  tool.result
false rests  message.created
false counted
true works Do-term please message.created
true works  tool.use
true works  tool.result
true rests  message.created
true rests
false counted
false counted
false works Do-third message.created
false works  tool.use
false works  tool.result
false rests  message.created
false counted`
	if s := strings.Join(got, "\n"); s != want {
		t.Errorf("got:\n%s", s)
	}
	if k.Stated == nil || !k.Stated.Whole || k.Stated.USD < 0.0008 || len(k.Stated.Models) != 1 || len(k.Used()) != 0 {
		t.Errorf("%+v %+v", k.Stated, k.Used())
	}
}

func TestKeptLines(t *testing.T) {
	const usage = `"usage":{"input_tokens":10,"output_tokens":5}`
	for _, tc := range []struct {
		name, line, want string
	}{
		{"a prompt with a picture", `{"type":"user","message":{"content":[{"type":"image"},{"type":"text","text":"Look"},{"type":"text","text":"<system-reminder>no"}]}}`, "[message.created:Look] works"},
		{"what a person typed in angle brackets", `{"type":"user","promptSource":"typed","message":{"content":"<div> is wrong"}}`, "[message.created:<div> is wrong] works"},
		{"a command of the project", `{"type":"user","message":{"content":"<command-message>review</command-message>\n<command-name>/review</command-name>\n<command-args>now</command-args>"}}`, "[message.created:/review now] works"},
		{"a command of the CLI", `{"type":"user","message":{"content":"<command-name>/exit</command-name>\n<command-message>exit</command-message>"}}`, "[]"},
		{"its output", `{"type":"user","message":{"content":"<local-command-stdout>Bye</local-command-stdout>"}}`, "[]"},
		{"what the CLI adds", `{"type":"user","isMeta":true,"message":{"content":"Base directory for this skill"}}`, "[]"},
		{"a summary", `{"type":"user","isCompactSummary":true,"message":{"content":"This session is being continued"}}`, "[]"},
		{"a stop", `{"type":"user","message":{"content":[{"type":"text","text":"[Request interrupted by user]"}]}}`, "[run.notice] rests broken"},
		{"a sub-agent", `{"type":"assistant","isSidechain":true,"message":{"id":"m1","model":"claude-x","content":[{"type":"text","text":"hi"}],` + usage + `}}`, "[]"},
		{"an error", `{"type":"assistant","isApiErrorMessage":true,"message":{"model":"<synthetic>","stop_reason":"stop_sequence","content":[{"type":"text","text":"API Error: 529"}]}}`, "[run.notice] rests broken"},
		{"a copied line", `{"type":"user","forkedFrom":{"sessionId":"a"},"message":{"content":"Old"}}`, "[message.created:Old] works copied"},
		{"a compaction", `{"type":"system","subtype":"compact_boundary","content":"Conversation compacted"}`, "[run.notice]"},
		{"a note", `{"type":"system","subtype":"api_error","error":"x"}`, "[]"},
		{"an unknown kind", `{"type":"api-request","params":{"a":1}}`, "[]"},
		{"an unknown block", `{"type":"assistant","message":{"content":[{"type":"hologram","x":1}]}}`, "[] works"},
		{"no JSON", `{"type":"user","message":`, "[]"},
		{"another shape", `{"type":"user","isMeta":"yes","message":{"content":"x"}}`, "[]"},
	} {
		var k Kept
		l := k.Parse(Line{Data: []byte(tc.line)})
		var items []string
		for _, it := range l.Items {
			s := string(it.Type)
			if m, ok := it.Data.(core.MessageCreated); ok {
				s += ":" + m.Content
			}
			items = append(items, s)
		}
		got := fmt.Sprint(items)
		for _, w := range []struct {
			is   bool
			word string
		}{{l.Works, " works"}, {l.Rests, " rests"}, {l.Broken, " broken"}, {l.Copied, " copied"}} {
			if w.is {
				got += w.word
			}
		}
		if got != tc.want {
			t.Errorf("%s: %s, not %s", tc.name, got, tc.want)
		}
	}
}

// TestKeptCounts: a message that is repeated counts once, a sub-agent's counts too, and the
// CLI's own count takes the place of all before it.
func TestKeptCounts(t *testing.T) {
	line := func(id, more string, out int) string {
		return fmt.Sprintf(`{"type":"assistant","requestedModel":"claude-asked"%s,"message":{"id":%q,"model":"other","content":[],"usage":{"input_tokens":10,"output_tokens":%d}}}`, more, id, out)
	}
	k, _ := keptOf(t, []byte(strings.Join([]string{line("a", "", 1), line("a", "", 7), line("b", `,"isSidechain":true`, 3), ""}, "\n")))
	if u := k.Used(); len(u) != 1 || u[0].Model != "claude-asked" || u[0].Input != 20 || u[0].Output != 10 {
		t.Errorf("%+v", u)
	}
	k.Parse(Line{Data: []byte(`{"type":"cost-state","totalCostUSD":1e99,"modelUsage":{"m":{"inputTokens":-5,"outputTokens":1e300,"costUSD":2}},"hasUnknownModelCost":true}`)})
	if s := k.Stated; len(k.Used()) != 0 || s.USD > maxUSD || s.Whole || s.Models[0].Input != 0 || s.Models[0].Output > maxCount {
		t.Errorf("%+v %+v", k.Used(), s)
	}
}

func TestKeptLongLine(t *testing.T) {
	long := append([]byte(`{"type":"user","message":{"content":"`), bytes.Repeat([]byte("x"), MaxLine+10)...)
	_, lines := keptOf(t, append(long, `"}}`+"\n"+`{"type":"user","message":{"content":"next"}}`+"\n"...))
	if len(lines) != 2 || len(lines[0].Items) != 1 || lines[0].Person != "" || lines[1].Person != "next" {
		t.Errorf("%d lines", len(lines))
	}
}

// FuzzKept: nothing in a transcript makes the parser fail, say more than its bounds, or hand
// on what it has no words for.
func FuzzKept(f *testing.F) {
	text, err := os.ReadFile("testdata/kept-run-terminal-run.jsonl")
	if err != nil {
		f.Fatal(err)
	}
	for l := range bytes.Lines(text) {
		f.Add(l)
	}
	f.Add([]byte(`{"type":"user","message":{"content":[{"type":"text","text":"\ud800"}]},"timestamp":"9999-99-99"}`))
	f.Add([]byte(`{"type":"cost-state","totalCostUSD":-1,"modelUsage":{"":{}}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		var k Kept
		for range 2 {
			l := k.Parse(Line{Data: bytes.Clone(line)})
			for _, it := range l.Items {
				if it.Type == core.EventRaw || it.Pictures != nil {
					t.Errorf("%+v", it)
				}
				if ev := core.NewEvent(it.Type, "c", "r", l.At, it.Data); len(ev.Data) > 8*maxText {
					t.Errorf("%d bytes", len(ev.Data))
				}
			}
			if y := l.At.Year(); !l.At.IsZero() && (y < 2000 || y > 2200) {
				t.Error(l.At)
			}
			if k.Stated != nil && (k.Stated.USD < 0 || k.Stated.USD > maxUSD) {
				t.Error(k.Stated)
			}
		}
	})
}

func TestKeptAgentLines(t *testing.T) {
	const below = "the call"
	for _, tc := range []struct{ name, line, want string }{
		{"its first prompt", `{"type":"user","isSidechain":true,"message":{"content":"Look"}}`, "[] works"},
		{"its words", `{"type":"assistant","message":{"content":[{"type":"text","text":"hi"},{"type":"thinking","thinking":"hm"}],"stop_reason":"end_turn"}}`, "[task_message hi] rests"},
		{"a call", `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"Read","input":{}}],"stop_reason":"tool_use"}}`, "[use t] works"},
		{"an answer", `{"type":"user","parent_tool_use_id":"another","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"x"}]}}`, "[result t] works"},
		{"an error", `{"type":"assistant","isApiErrorMessage":true,"message":{"model":"<synthetic>","content":[{"type":"text","text":"API Error"}]}}`, "[task_error API Error] rests broken failed"},
		{"a stop", `{"type":"user","message":{"content":[{"type":"text","text":"[Request interrupted by user]"}]}}`, "[] rests broken stopped"},
		{"that another one ended", `{"type":"user","message":{"content":"<task-notification>\n<task-id>a1</task-id>\n<status>killed</status>"}}`, "[] a1 killed"},
		{"a state that is not known", `{"type":"user","message":{"content":"<task-notification>\n<task-id>a1</task-id>\n<status>asleep</status>"}}`, "[] works"},
		{"what the CLI adds", `{"type":"user","isMeta":true,"message":{"content":"More"}}`, "[]"},
		{"a note", `{"type":"system","subtype":"informational","content":"x"}`, "[]"},
		{"an unknown block", `{"type":"assistant","message":{"content":[{"type":"hologram","x":1}]}}`, "[] works"},
		{"no JSON", `{"type":"user","message":`, "[]"},
	} {
		var k Kept
		l := k.ParseAgent(Line{Data: []byte(tc.line)}, below)
		var items []string
		for _, it := range l.Items {
			parent, word := "", ""
			switch d := it.Data.(type) {
			case core.ToolUse:
				parent, word = d.ParentID, "use "+d.ToolUseID
			case core.ToolResult:
				parent, word = d.ParentID, "result "+d.ToolUseID
			case core.Activity:
				parent, word = d.ParentID, d.Activity+" "+d.Description
			}
			if items = append(items, word); parent != below {
				t.Errorf("%s: %q is below %q", tc.name, word, parent)
			}
		}
		got := fmt.Sprint(items)
		for _, w := range []struct {
			is   bool
			word string
		}{{l.Works, "works"}, {l.Rests, "rests"}, {l.Broken, "broken"}, {l.Ended != "", l.Ended}, {l.State != "", l.State}} {
			if w.is {
				got += " " + w.word
			}
		}
		if got != tc.want {
			t.Errorf("%s: %s, not %s", tc.name, got, tc.want)
		}
		if len(k.Used()) > 0 {
			t.Errorf("%s: counted before anybody said so", tc.name)
		}
	}
}

// FuzzKeptAgent: nothing in a sub-agent's files makes the parser fail, or say more than its bounds.
func FuzzKeptAgent(f *testing.F) {
	for _, name := range []string{"agent-a91e39e16548339a2.jsonl", "agent-a91e39e16548339a2.meta.json"} {
		text, err := os.ReadFile("testdata/kept-subagents/" + name)
		if err != nil {
			f.Fatal(err)
		}
		for l := range bytes.Lines(text) {
			f.Add(l, "toolu_0002")
		}
	}
	f.Add([]byte(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"\ud800"}]}}`), "\"\x00\U0010ffff\xff")
	f.Fuzz(func(t *testing.T, line []byte, call string) {
		var k Kept
		l := k.ParseAgent(Line{Data: bytes.Clone(line)}, call)
		k.Count(l)
		for _, it := range l.Items {
			if it.Type == core.EventRaw || it.Pictures != nil {
				t.Errorf("%+v", it)
			}
			if ev := core.NewEvent(it.Type, "c", "r", l.At, it.Data); len(ev.Data) > 8*maxText {
				t.Errorf("%d bytes", len(ev.Data))
			}
		}
		if n := l.Tokens(); n < 0 || n > maxCount {
			t.Error(n)
		}
		if n, ok := ParseAgentNote(line); len(n.Call)+len(n.Kind)+len(n.What) > 4*maxShort || ok && n.Call == "" {
			t.Errorf("%+v", n)
		}
	})
}
