package demo

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// talk plays the CLI's part of a conversation with a handler.
type talk struct {
	t        *testing.T
	srv      *httptest.Server
	model    string
	tools    []string
	messages []map[string]any
}

func newTalk(t *testing.T, opts Options) *talk {
	t.Helper()
	if opts.Pace == 0 {
		opts.Pace = Instant
	}
	srv := httptest.NewServer(New(opts))
	t.Cleanup(srv.Close)
	return &talk{t: t, srv: srv, model: "claude-opus-4-8", tools: []string{"Bash", "Read", "Write", "Edit", "mcp__loop__send_message"}}
}

func (c *talk) say(role string, blocks any) {
	c.messages = append(c.messages, map[string]any{"role": role, "content": blocks})
}

func (c *talk) body(stream bool) []byte {
	c.t.Helper()
	tools := []map[string]any{}
	for _, n := range c.tools {
		tools = append(tools, map[string]any{"name": n})
	}
	data, err := json.Marshal(map[string]any{
		"model": c.model, "max_tokens": 32000, "stream": stream, "messages": c.messages, "tools": tools,
		"thinking": map[string]any{"type": "adaptive"},
		"system":   []map[string]any{{"type": "text", "text": "# Environment\n - Primary working directory: /srv/my project\n - Platform: linux\n"}},
	})
	if err != nil {
		c.t.Fatal(err)
	}
	return data
}

func (c *talk) post(body []byte) *http.Response {
	c.t.Helper()
	res, err := c.srv.Client().Post(c.srv.URL+"/v1/messages?beta=true", "application/json", bytes.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { res.Body.Close() })
	return res
}

type turn struct {
	blocks []map[string]any
	stop   string
	texts  string
}

func (t turn) calls() (names []string) {
	for _, b := range t.blocks {
		if b["type"] == "tool_use" {
			names = append(names, b["name"].(string))
		}
	}
	return names
}

// next asks for one answer as a stream, assembles it and appends it to the
// conversation.
func (c *talk) next() turn {
	c.t.Helper()
	res := c.post(c.body(true))
	if res.StatusCode != http.StatusOK {
		b, _ := io.ReadAll(res.Body)
		c.t.Fatalf("status %d: %s", res.StatusCode, b)
	}
	out, err := assemble(res.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	c.say("assistant", out.blocks)
	return out
}

// assemble reads a stream strictly: blocks open, grow and close in order, and
// message_stop is the last event.
func assemble(r io.Reader) (turn, error) {
	var out turn
	partial := ""
	open, ended := -1, false
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		data, ok := strings.CutPrefix(sc.Text(), "data: ")
		if !ok {
			continue
		}
		var e struct {
			Type  string         `json:"type"`
			Index int            `json:"index"`
			Block map[string]any `json:"content_block"`
			Delta map[string]any `json:"delta"`
			Error map[string]any `json:"error"`
		}
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			return out, fmt.Errorf("event %q: %w", data, err)
		}
		switch e.Type {
		case "error":
			return out, fmt.Errorf("error event: %v", e.Error)
		case "content_block_start":
			if open >= 0 || e.Index != len(out.blocks) {
				return out, fmt.Errorf("block %d opened while %d is open", e.Index, open)
			}
			open, partial = e.Index, ""
			out.blocks = append(out.blocks, e.Block)
		case "content_block_delta":
			if e.Index != open {
				return out, fmt.Errorf("piece of block %d while %d is open", e.Index, open)
			}
			b := out.blocks[open]
			for from, to := range map[string]string{"text": "text", "thinking": "thinking", "signature": "signature"} {
				if s, ok := e.Delta[from].(string); ok {
					b[to] = b[to].(string) + s
				}
			}
			if s, ok := e.Delta["partial_json"].(string); ok {
				partial += s
			}
		case "content_block_stop":
			b := out.blocks[open]
			if b["type"] == "tool_use" {
				var in map[string]any
				if err := json.Unmarshal([]byte(partial), &in); err != nil {
					return out, fmt.Errorf("input %q: %w", partial, err)
				}
				b["input"] = in
			} else if b["type"] == "text" {
				out.texts += b["text"].(string)
			}
			open = -1
		case "message_delta":
			out.stop, _ = e.Delta["stop_reason"].(string)
		case "message_stop":
			ended = true
		}
	}
	if err := sc.Err(); err != nil {
		return out, err
	}
	if !ended {
		return out, io.ErrUnexpectedEOF
	}
	return out, nil
}

// play answers tool calls with result until the model ends its turn.
func (c *talk) play(result string) (all []turn) {
	c.t.Helper()
	for range maxSteps {
		a := c.next()
		all = append(all, a)
		if a.stop == "end_turn" {
			return all
		}
		var results []map[string]any
		for _, b := range a.blocks {
			if b["type"] == "tool_use" {
				results = append(results, map[string]any{"type": "tool_result", "tool_use_id": b["id"], "content": result})
			}
		}
		c.say("user", results)
	}
	c.t.Fatal("the script does not end")
	return nil
}
