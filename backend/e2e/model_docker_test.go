//go:build docker

package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"loop/backend/core"
)

// model is a Messages API of the tests, so that they do not depend on the demo. It lets
// the agent run one Bash command and then answers with text.
type model struct {
	*httptest.Server
	port string

	mu       sync.Mutex
	bodies   []string
	keys     []string
	headers  []string                         // as keys, with the names of the headers
	fail     func(w http.ResponseWriter) bool // answers instead, when it returns true
	hold     chan struct{}                    // when set, the second request waits for it
	answer   string
	command  string
	requests int
}

func newModel(t testing.TB, listen string) *model {
	t.Helper()
	m := &model{answer: "The file is written.", command: "echo from-the-agent > agent.txt"}
	ln, err := net.Listen("tcp", listen)
	if err != nil {
		t.Fatal(err)
	}
	m.Server = &httptest.Server{Listener: ln, Config: &http.Server{Handler: m}}
	m.Start()
	_, m.port, _ = net.SplitHostPort(ln.Addr().String())
	t.Cleanup(m.Close)
	return m
}

func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	if strings.HasSuffix(r.URL.Path, "/count_tokens") {
		_, _ = io.WriteString(w, `{"input_tokens": 10}`)
		return
	}
	if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/v1/messages") {
		w.WriteHeader(http.StatusOK)
		return
	}
	var req struct {
		Stream   bool              `json:"stream"`
		Tools    []json.RawMessage `json:"tools"`
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(body, &req); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	main := len(req.Tools) > 0 // the CLI's side requests offer no tools
	m.mu.Lock()
	m.bodies = append(m.bodies, string(body))
	m.keys = append(m.keys, r.Header.Get("x-api-key")+r.Header.Get("Authorization"))
	m.headers = append(m.headers, fmt.Sprintf("x-api-key: %s, Authorization: %s", r.Header.Get("x-api-key"), r.Header.Get("Authorization")))
	fail, hold := m.fail, m.hold
	m.requests++
	m.mu.Unlock()
	if fail != nil && fail(w) {
		return
	}
	last := ""
	for _, msg := range req.Messages {
		if msg.Role == "user" { // the CLI adds messages of role system after it
			last = string(msg.Content)
		}
	}
	toolDone := strings.Contains(last, `"tool_result"`)
	if main && toolDone && hold != nil {
		select {
		case <-hold:
		case <-r.Context().Done():
			return
		}
	}
	if main && !toolDone {
		in, _ := json.Marshal(map[string]string{"command": m.command, "description": "write a file"})
		m.reply(w, req.Stream, map[string]any{"type": "tool_use", "id": fmt.Sprintf("toolu_%02d", m.count()), "name": "Bash", "input": json.RawMessage(in)}, "tool_use")
		return
	}
	m.reply(w, req.Stream, map[string]any{"type": "text", "text": m.answer}, "end_turn")
}

// reply sends one block, streamed or whole.
func (m *model) reply(w http.ResponseWriter, stream bool, block map[string]any, stop string) {
	m.replies(w, stream, []map[string]any{block}, stop)
}

// replies answers with a message of several blocks.
func (m *model) replies(w http.ResponseWriter, stream bool, blocks []map[string]any, stop string) {
	usage := map[string]int{"input_tokens": 10, "output_tokens": 5}
	msg := map[string]any{"id": "msg_" + core.NewID(), "type": "message", "role": "assistant", "model": "claude-test", "content": []any{}, "stop_reason": nil, "usage": usage}
	if !stream {
		msg["content"], msg["stop_reason"] = blocks, stop
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(msg)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(name string, v map[string]any) {
		v["type"] = name
		b, _ := json.Marshal(v)
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", name, b)
		w.(http.Flusher).Flush()
	}
	send("message_start", map[string]any{"message": msg})
	for i, block := range blocks {
		start, delta := map[string]any{"type": "text", "text": ""}, map[string]any{"type": "text_delta", "text": block["text"]}
		if block["type"] == "tool_use" {
			start = map[string]any{"type": "tool_use", "id": block["id"], "name": block["name"], "input": map[string]any{}}
			delta = map[string]any{"type": "input_json_delta", "partial_json": string(block["input"].(json.RawMessage))}
		}
		send("content_block_start", map[string]any{"index": i, "content_block": start})
		send("content_block_delta", map[string]any{"index": i, "delta": delta})
		send("content_block_stop", map[string]any{"index": i})
	}
	send("message_delta", map[string]any{"delta": map[string]any{"stop_reason": stop}, "usage": usage})
	send("message_stop", map[string]any{})
}

func (m *model) seen() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return strings.Join(m.bodies, "\n")
}

func (m *model) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.requests
}

// release lets later requests through without waiting.
func (m *model) release() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.hold = nil
}
