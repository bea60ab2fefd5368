package transcript

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"strings"
	"testing"
)

// corpus is about 16 MiB of output like that of a long run: pieces of messages, turns,
// tool calls and results of 0.1 to 100 KiB. A fixed seed makes it.
func corpus() []byte {
	r := rand.New(rand.NewSource(1))
	words := strings.Fields(`func return "quoted" error, the of agent path/to/file.go	tab line\n é naïve 日本 0x1f if err != nil { } struct`)
	text := func(n int) string {
		var sb strings.Builder
		for sb.Len() < n {
			sb.WriteString(words[r.Intn(len(words))])
			sb.WriteByte(' ')
		}
		return sb.String()
	}
	var out bytes.Buffer
	line := func(v any) {
		b, _ := json.Marshal(v)
		var m map[string]json.RawMessage
		_ = json.Unmarshal(b, &m)
		// The CLI puts the type first.
		fmt.Fprintf(&out, `{"type":%s`, m["type"])
		for _, k := range []string{"event", "message", "tool_use_result", "parent_tool_use_id", "session_id", "uuid"} {
			if x, ok := m[k]; ok {
				fmt.Fprintf(&out, `,"%s":%s`, k, x)
			}
		}
		out.WriteString("}\n")
	}
	type o = map[string]any
	ids := o{"parent_tool_use_id": nil, "session_id": "3a74231a-3a9a-4058-a86a-0c7708bd4666", "uuid": "aed685c2-47f2-4cef-889e-beac9177acd2"}
	with := func(v o) o {
		for k, x := range ids {
			v[k] = x
		}
		return v
	}
	delta := func(d string) {
		fmt.Fprintf(&out, `{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":%s},"session_id":"3a74231a-3a9a-4058-a86a-0c7708bd4666","parent_tool_use_id":null,"uuid":"aed685c2-47f2-4cef-889e-beac9177acd2"}`+"\n", d)
	}
	for n := 0; out.Len() < 16<<20; n++ {
		id := fmt.Sprint("msg_", n)
		fmt.Fprintf(&out, `{"type":"stream_event","event":{"type":"message_start","message":{"id":%q,"model":"m"}}}`+"\n", id)
		for range 10 {
			b, _ := json.Marshal(text(20))
			delta(`{"type":"text_delta","text":` + string(b) + `}`)
		}
		for range 20 {
			b, _ := json.Marshal(text(15))
			delta(`{"type":"input_json_delta","partial_json":` + string(b) + `}`)
		}
		line(with(o{"type": "assistant", "message": o{"id": id, "model": "m", "content": []o{{"type": "text", "text": text(200)}}}}))
		line(with(o{"type": "assistant", "message": o{"id": id, "model": "m", "content": []o{{"type": "tool_use", "id": "t", "name": "Edit", "input": o{"file_path": "/a/b", "new_string": text(300)}}}}}))
		size := []int{300, 2000, 8000, 30_000, 100_000}[r.Intn(5)]
		body := text(size)
		line(with(o{"type": "user", "message": o{"role": "user", "content": []o{{"type": "tool_result", "tool_use_id": "t", "content": body}}}, "tool_use_result": o{"stdout": body, "stderr": "", "interrupted": false}}))
	}
	return out.Bytes()
}

// BenchmarkStreamJSON compares decoders in one run. The goal is that peek+decode
// reaches three times the standard decoder's rate into the same structs.
func BenchmarkStreamJSON(b *testing.B) {
	data := corpus()
	b.Run("lines only", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			r := NewReader(bytes.NewReader(data), 0)
			for {
				if _, err := r.Next(); errors.Is(err, io.EOF) {
					break
				}
			}
		}
	})
	b.Run("transcript", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			var p Parser
			parseAll(b, bytes.NewReader(data), &p)
		}
	})
	b.Run("encoding/json", func(b *testing.B) {
		type block struct {
			Type, Text, Thinking, ID, Name string
			Input                          json.RawMessage
			ToolUseID                      string `json:"tool_use_id"`
			Content                        json.RawMessage
			IsError                        bool `json:"is_error"`
		}
		type whole struct {
			Type, Subtype string
			Message       struct {
				ID, Model string
				Content   []block
			}
			Event struct {
				Type  string
				Index int
				Delta struct{ Type, Text, Thinking, PartialJSON string }
			}
			ToolUseResult json.RawMessage `json:"tool_use_result"`
			SessionID     string          `json:"session_id"`
		}
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			sc := bufio.NewScanner(bytes.NewReader(data))
			sc.Buffer(nil, 1<<20)
			for sc.Scan() {
				var w whole
				if err := json.Unmarshal(sc.Bytes(), &w); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}
