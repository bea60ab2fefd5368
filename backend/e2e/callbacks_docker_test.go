//go:build docker

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"loop/backend/core"
)

// step is one tool call of a scripted conversation.
type step struct {
	tool string
	in   map[string]any
}

// caller is a Messages API that has the agent use tools, step by step. A word of the
// prompt chooses the steps.
type caller struct {
	*httptest.Server
	port string

	mu      sync.Mutex
	steps   map[string][]step        // keyed by a word of the prompt
	atOnce  map[string]bool          // words whose steps are one message
	hold    map[string]chan struct{} // keyed by tool: the request after the tool's result waits for it
	arrived map[string]chan struct{} // closed when that request is there
}

func newCaller(t *testing.T) *caller {
	t.Helper()
	c := &caller{steps: map[string][]step{}, atOnce: map[string]bool{}, hold: map[string]chan struct{}{}, arrived: map[string]chan struct{}{}}
	c.Server = httptest.NewServer(c)
	t.Cleanup(c.Close)
	c.port = c.URL[strings.LastIndexByte(c.URL, ':')+1:]
	return c
}

func (c *caller) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/v1/messages") {
		_, _ = io.WriteString(w, `{"input_tokens": 10}`)
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
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	text := &model{}
	if len(req.Tools) == 0 {
		text.reply(w, req.Stream, map[string]any{"type": "text", "text": "Title"}, "end_turn")
		return
	}
	// The last prompt chooses the script. The number of results since then is the step.
	prompt, done := "", 0
	for _, m := range req.Messages {
		if m.Role != "user" {
			continue
		}
		for _, said := range blocks(m.Content) {
			switch {
			case strings.Contains(said, `"tool_result"`):
				done++
			case strings.Contains(said, "Do-"): // the CLI adds text of its own in other blocks
				prompt, done = said, 0
			}
		}
	}
	c.mu.Lock()
	var script []step
	atOnce := false
	for word, s := range c.steps {
		if strings.Contains(prompt, "Do-"+word) {
			script, atOnce = s, c.atOnce[word]
		}
	}
	var hold chan struct{}
	if done > 0 && done <= len(script) {
		tool := script[done-1].tool
		if hold = c.hold[tool]; hold != nil {
			select {
			case <-c.arrived[tool]: // the request came before and is repeated
			default:
				close(c.arrived[tool])
			}
		}
	}
	c.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-r.Context().Done():
			return
		}
	}
	if done >= len(script) {
		text.reply(w, req.Stream, map[string]any{"type": "text", "text": "That is done."}, "end_turn")
		return
	}
	var calls []map[string]any
	for _, s := range script[done:] {
		in, _ := json.Marshal(s.in)
		calls = append(calls, map[string]any{"type": "tool_use", "id": "toolu_" + core.NewID(), "name": s.tool, "input": json.RawMessage(in)})
		if !atOnce {
			break
		}
	}
	text.replies(w, req.Stream, calls, "tool_use")
}

// blocks are the parts of a message. The CLI joins tool results and prompts that follow
// each other into one message.
func blocks(content json.RawMessage) []string {
	var parts []json.RawMessage
	if json.Unmarshal(content, &parts) != nil {
		return []string{string(content)}
	}
	list := make([]string, len(parts))
	for i, p := range parts {
		list[i] = string(p)
	}
	return list
}

// results are the tools' answers in a run, in order.
func results(p timeline, run core.RunID) (list []string) {
	for _, e := range p.Events {
		var r core.ToolResult
		if e.Type == core.EventToolResult && e.RunID == run && json.Unmarshal(e.Data, &r) == nil {
			list = append(list, string(e.Data))
		}
	}
	return list
}

// failed is the first failure of a run in a timeline.
func failed(p timeline) *core.Failure {
	for _, e := range p.Events {
		var st core.Status
		if e.Type == core.EventStatus && json.Unmarshal(e.Data, &st) == nil && st.State == core.RunFailed {
			return st.Failure
		}
	}
	return nil
}

// finished waits for a prompt's run to end well.
func (s *server) finished(ch core.ChannelID, run core.RunID) timeline {
	s.h.t.Helper()
	p := s.until(ch, "the end of the run", func(p timeline) bool { return ended(p, run) })
	if st := outcome(p, run); st.State != core.RunDone {
		s.h.t.Fatalf("%+v %+v", st, st.Failure)
	}
	return p
}

const mcp = "mcp__loop__"

func bash(command string) step {
	return step{"Bash", map[string]any{"command": command, "description": "look"}}
}

// TestAgentsCallBack: an agent sends a message, queues a prompt and opens a thread that
// continues its conversation. It reaches nothing of another project. All this works
// over the link, and over TCP where the settings ask for that.
func TestAgentsCallBack(t *testing.T) {
	t.Parallel()
	for _, transport := range []string{"link", "tcp"} {
		t.Run(transport, func(t *testing.T) {
			c := newCaller(t)
			h := newHome(t, fmt.Sprintf(`{"anthropic_base_url":"http://127.0.0.1:%s","anthropic_api_key":"k","guest_transport":%q}`, c.port, transport))
			s := h.serve()
			work := repository(t)
			ch, foreign := s.add(work), s.add(t.TempDir())
			c.steps["talk"] = []step{
				{mcp + "send_message", map[string]any{"content": "Said by a tool."}},
				{mcp + "create_thread", map[string]any{"name": "Side", "message": "Do-side"}},
				{mcp + "queue_message", map[string]any{"content": "Do-more"}},
				{mcp + "list_queued_messages", map[string]any{}},
				{mcp + "list_agents", map[string]any{}},
				{mcp + "send_message", map[string]any{"content": "Psst.", "channel_id": string(foreign)}},
				{mcp + "list_sessions", map[string]any{"channel_id": string(foreign)}},
				bash(`echo "at=$API_URL"; printf %s "$LOOP_API_TOKEN" | rev > token; for p in agents call/System.Snapshot; do curl -s -m 25 -o /dev/null -w "$p=%{http_code} " "$API_URL/api/$p"; curl -s -m 25 -o /dev/null -w "with=%{http_code} " -H "Authorization: Bearer $LOOP_API_TOKEN" "$API_URL/api/$p"; done`),
				{mcp + "create_worktree_thread", map[string]any{"branch": "fix/login"}},
				{mcp + "search_channels", map[string]any{"query": "login"}},
				{mcp + "resume_session", map[string]any{"session_id": "00000000-0000-4000-8000-000000000000"}},
			}
			c.steps["side"] = []step{{mcp + "send_agent_message", map[string]any{"agent_id": string(ch), "content": "Do-nothing, the side is done."}}}
			run := s.prompt(ch, "Do-talk")
			page := s.finished(ch, run)
			got := results(page, run)
			if len(got) != 11 {
				t.Fatalf("%d results: %q", len(got), got)
			}
			for i, want := range []string{"was sent", "channel_id", "message_id", "Do-more", "work_summary", "403", "403", "at=", ".worktrees/fix-login", "fix/login", "40"} {
				if !strings.Contains(got[i], want) {
					t.Errorf("step %d: %q is not in %s", i, want, got[i])
				}
			}
			if !strings.Contains(texts(page.Events), "Said by a tool.") {
				t.Error("the message is not in the timeline")
			}
			want := []string{"at=http://127.0.0.1:8222", "agents=200 with=200 ", "call/System.Snapshot=404 with=404"}
			if transport == "tcp" {
				want = []string{"at=http://host.docker.internal:", "agents=401 with=200 ", "call/System.Snapshot=401 with=404"}
			}
			for _, w := range want {
				if !strings.Contains(got[7], w) {
					t.Errorf("%q is not in %s", w, got[7])
				}
			}
			// Three things come: the second prompt, the thread, and the message of the
			// thread's agent.
			s.until(ch, "the other prompts' ends", func(p timeline) bool {
				if f := failed(p); f != nil {
					t.Fatalf("%+v", f)
				}
				var held []core.Approval
				if s.must("Gate.Pending", &held); len(held) > 0 {
					t.Fatalf("nothing of this asks: %+v", held)
				}
				return len(p.Queue) == 0 && strings.Count(texts(p.Events), "That is done.") == 3
			})
			var list []core.Channel
			s.must("Channels.List", &list)
			var thread core.Channel
			for _, l := range list {
				if l.Name == "Side" {
					thread = l
				}
			}
			if thread.ParentID != ch || thread.Kind != core.KindThread {
				t.Fatalf("%+v", list)
			}
			s.until(ch, "the thread's words", func(p timeline) bool {
				b, _ := json.Marshal(p.Events)
				return strings.Contains(string(b), "[from Side] Do-nothing, the side is done.")
			})
			var other timeline
			s.must("Channels.Timeline", &other, foreign, 0, 100)
			if len(other.Events) > 0 {
				t.Errorf("the other project heard %+v", other.Events)
			}
			token, err := os.ReadFile(filepath.Join(work, "token"))
			slices.Reverse(token) // the file has it reversed, because the CLI records changed files of a repository
			if err != nil || (len(token) == 64) != (transport == "tcp") {
				t.Fatalf("a token of %d bytes, %v", len(token), err)
			}
			if transport == "tcp" {
				s.keptNowhere(string(token))
				s.deadAfter(got[7], string(token))
			}
		})
	}
}

// keptNowhere checks that neither Loop nor the engine has stored the token.
func (s *server) keptNowhere(token string) {
	t := s.h.t
	t.Helper()
	out, err := docker(context.Background(), "ps", "-aq", "--filter", "label=app=loop-agent")
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range strings.Fields(out) {
		if text, _ := docker(context.Background(), "inspect", id); strings.Contains(text, token) {
			t.Error("docker inspect shows the token")
		}
	}
	if strings.Contains(s.log.String(), token) {
		t.Error("the log has the token")
	}
	err = filepath.WalkDir(s.h.dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // the file is gone by now
		}
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		if b, err := os.ReadFile(path); err == nil && bytes.Contains(b, []byte(token)) {
			t.Errorf("%s has the token", path)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// deadAfter uses a token after its run, at the address that the container used for Loop.
func (s *server) deadAfter(said, token string) {
	t := s.h.t
	t.Helper()
	_, rest, _ := strings.Cut(said, "at=http://host.docker.internal:")
	port := strings.FieldsFunc(rest, func(r rune) bool { return r < '0' || r > '9' })[0]
	// After its first start, an engine names only the subnet. The gateway is then its
	// first address.
	bridge, err := docker(context.Background(), "network", "inspect", "-f", "{{with index .IPAM.Config 0}}{{or .Gateway .Subnet}}{{end}}", "bridge")
	if err != nil {
		t.Fatal(err)
	}
	gateway := strings.TrimSpace(bridge)
	if subnet, err := netip.ParsePrefix(gateway); err == nil {
		gateway = subnet.Masked().Addr().Next().String()
	}
	for _, host := range []string{gateway, "127.0.0.1"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+host+":"+port+"/api/agents", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		resp, err := client.Do(req)
		if err != nil {
			continue // only one of the two has a listener
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("after its run the token gets %d", resp.StatusCode)
		}
		return
	}
	t.Error("nothing listens any more")
}

// TestTCPCallbackAfterACrash: a container outlives Loop. It calls the next Loop with
// the address and token of the last one.
func TestTCPCallbackAfterACrash(t *testing.T) {
	c := newCaller(t)
	c.hold["Bash"], c.arrived["Bash"] = make(chan struct{}), make(chan struct{})
	c.steps["wait"] = []step{bash("echo ready"), {mcp + "send_message", map[string]any{"content": "Still here."}}}
	h := newHome(t, fmt.Sprintf(`{"anthropic_base_url":"http://127.0.0.1:%s","anthropic_api_key":"k","guest_transport":"tcp"}`, c.port))
	s := h.serve()
	ch := s.add(t.TempDir())
	run := s.prompt(ch, "Do-wait")
	select {
	case <-c.arrived["Bash"]:
	case <-time.After(patience):
		t.Fatalf("the agent's first step did not end\n%s", s.log)
	}
	s.kill()
	s = h.serve()
	c.mu.Lock()
	close(c.hold["Bash"])
	c.mu.Unlock()
	page := s.finished(ch, run)
	if !strings.Contains(texts(page.Events), "Still here.") {
		t.Errorf("%q", results(page, run))
	}
}
