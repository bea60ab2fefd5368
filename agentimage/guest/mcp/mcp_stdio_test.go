//go:build linux

package mcp

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"loop/backend/leaktest"
	"loop/backend/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(leaktest.Patient(m)) }

func TestParseFlags(t *testing.T) {
	t.Setenv("API_URL", "http://env")
	t.Setenv("CHANNEL_ID", "envchan")
	for name, c := range map[string]struct {
		args []string
		want options
	}{
		"seed form":     {[]string{"--channel-id", "c", "--api-url", "http://x", "--author-id", "a", "--memory", "--log", "/l"}, options{"c", "http://x", "/l"}},
		"unknown flags": {[]string{"--future", "x", "--channel-id=c", "--other=y", "--agent-id", "g", "-q", "--dir", "/d"}, options{"c", "http://env", ""}},
		"nothing":       {nil, options{"envchan", "http://env", ""}},
	} {
		got, err := parseFlags(c.args)
		if err != nil || got != c.want {
			t.Errorf("%s: %+v %v", name, got, err)
		}
	}
	if _, err := parseFlags([]string{"--log"}); err == nil {
		t.Error("a flag without its value was accepted")
	}
	t.Setenv("API_URL", "")
	if _, err := parseFlags(nil); err == nil {
		t.Error("no API URL was accepted")
	}
}

// connect is a client of the server, whose callbacks go to api.
func connect(t *testing.T, api http.HandlerFunc) *sdk.ClientSession {
	t.Helper()
	srv := httptest.NewServer(api)
	t.Cleanup(srv.Close)
	ours, theirs := sdk.NewInMemoryTransports()
	ss, err := newServer(options{channel: "mine", url: srv.URL + "/"}, "1").Connect(t.Context(), theirs, nil)
	if err != nil {
		t.Fatal(err)
	}
	cs, err := sdk.NewClient(&sdk.Implementation{Name: "test"}, nil).Connect(t.Context(), ours, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cs.Close(); _ = ss.Wait() })
	return cs
}

func call(t *testing.T, cs *sdk.ClientSession, tool string, args any) (string, bool) {
	t.Helper()
	res, err := cs.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Content) != 1 {
		t.Fatalf("%d contents", len(res.Content))
	}
	tc, ok := res.Content[0].(*sdk.TextContent)
	if !ok {
		t.Fatalf("content is %T", res.Content[0])
	}
	return tc.Text, res.IsError
}

// TestToolsAreCallbacks: each tool makes exactly the request that its route expects.
func TestToolsAreCallbacks(t *testing.T) {
	var method, path, sent, token string
	cs := connect(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		method, path, sent, token = r.Method, r.URL.RequestURI(), string(body), r.Header.Get("Authorization")
		_, _ = io.WriteString(w, `{"ok":true,"marker":1}`)
	})
	for _, tc := range []struct {
		tool   string
		args   map[string]any
		method string
		path   string
		body   string
		said   string
	}{
		{"send_message", map[string]any{"content": "hi “there”"}, "POST", "/api/messages", `{"content":"hi “there”"}`, "sent"},
		{"send_message", map[string]any{"content": "hi", "channel_id": "other"}, "POST", "/api/messages", `{"channel_id":"other","content":"hi"}`, "sent"},
		{"queue_message", map[string]any{"content": "go", "interrupt": true, "delay_seconds": 5}, "POST", "/api/messages", `{"content":"go","interrupt":true,"delay_seconds":5,"mode":"queue"}`, "marker"},
		{"list_queued_messages", nil, "GET", "/api/channels/mine/queued", "", "marker"},
		{"list_queued_messages", map[string]any{"channel_id": "a/b?c"}, "GET", "/api/channels/a%2Fb%3Fc/queued", "", "marker"},
		{"delete_queued_message", map[string]any{"message_id": "m1"}, "DELETE", "/api/messages/m1", "", "removed"},
		{"list_sessions", nil, "GET", "/api/channels/mine/sessions", "", "marker"},
		{"resume_session", map[string]any{"session_id": "s1"}, "PUT", "/api/channels/mine/session", `{"mode":"resume","session_id":"s1"}`, "next prompt"},
		{"create_thread", map[string]any{"name": "t", "message": "m"}, "POST", "/api/threads", `{"name":"t","message":"m"}`, "marker"},
		{"create_worktree_thread", map[string]any{"branch": "b"}, "POST", "/api/worktrees", `{"branch":"b"}`, "marker"},
		{"search_channels", map[string]any{"query": "a b"}, "GET", "/api/channels?q=a+b", "", "marker"},
		{"list_agents", nil, "GET", "/api/agents", "", "marker"},
		{"send_agent_message", map[string]any{"agent_id": "x", "content": "hello"}, "POST", "/api/agents/x/message", `{"content":"hello"}`, "queued"},
	} {
		if tc.args == nil {
			tc.args = map[string]any{}
		}
		out, bad := call(t, cs, tc.tool, tc.args)
		if bad || method != tc.method || path != tc.path || sent != tc.body || !strings.Contains(out, tc.said) || token != "" {
			t.Errorf("%s %v: %v %q\n%s %s %s", tc.tool, tc.args, bad, out, method, path, sent)
		}
	}
	t.Setenv(wire.TokenEnv, "capability")
	if _, bad := call(t, cs, "list_agents", map[string]any{}); bad || token != "Bearer capability" {
		t.Errorf("over TCP: %q", token)
	}
	tools, err := cs.ListTools(t.Context(), nil)
	if err != nil || len(tools.Tools) != 12 {
		t.Fatalf("%+v %v", tools, err)
	}
}

func TestARefusalIsWhatTheModelReads(t *testing.T) {
	status, answer := 403, `{"error":"an agent may name channels of its own project only"}`
	cs := connect(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	})
	if out, bad := call(t, cs, "send_message", map[string]any{"content": "hi"}); !bad || !strings.Contains(out, "403") || !strings.Contains(out, "own project") {
		t.Errorf("%q %v", out, bad)
	}
	status, answer = 502, "\xff not JSON"
	if out, bad := call(t, cs, "list_agents", map[string]any{}); !bad || !strings.Contains(out, "502") || !utf8.ValidString(out) {
		t.Errorf("%q %v", out, bad)
	}
}

func TestCallsAreLogged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mcp.log")
	for range 2 { // the second server continues the same file
		openLog(path).Info("list_agents", "ms", 1)
	}
	if data, err := os.ReadFile(path); err != nil || strings.Count(string(data), `"msg":"list_agents"`) != 2 {
		t.Errorf("%q %v", data, err)
	}
	openLog("").Info("nowhere")
	openLog("/does/not/exist/mcp.log").Info("nowhere")
}

func TestPermissionPrompt(t *testing.T) {
	cs := connect(t, nil)
	for args, want := range map[string]string{
		`{"tool_name":"Bash","input":{"command":"ls","n":12345678901234567890}}`: `{"behavior":"allow","updatedInput":{"command":"ls","n":12345678901234567890}}`,
		`{"anything":[1,2]}`: `{"behavior":"allow","updatedInput":{"anything":[1,2]}}`,
		`{"input":"text"}`:   `{"behavior":"allow","updatedInput":{"input":"text"}}`,
		`{}`:                 `{"behavior":"allow","updatedInput":{}}`,
		`{"tool_name":"AskUserQuestion","input":{"questions":[]}}`: `{"behavior":"deny","interrupt":true,"message":"` + handedOver + `"}`,
		`{"tool_name":"ExitPlanMode","input":{"plan":"x"}}`:        `{"behavior":"deny","interrupt":true,"message":"` + handedOver + `"}`,
	} {
		if out, bad := call(t, cs, "permission_prompt", json.RawMessage(args)); bad || out != want {
			t.Errorf("%s gave %s", args, out)
		}
	}
}

// TestCallbacksUseNoProxy: a token goes to Loop only, whatever proxy the environment
// names and wherever an answer redirects to.
func TestCallbacksUseNoProxy(t *testing.T) {
	elsewhere := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere++ }))
	defer other.Close()
	t.Setenv("HTTP_PROXY", other.URL)
	t.Setenv(wire.TokenEnv, "capability")
	cs := connect(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	})
	if out, bad := call(t, cs, "list_agents", map[string]any{}); !bad || !strings.Contains(out, "307") || elsewhere > 0 {
		t.Errorf("%q, asked elsewhere %d times", out, elsewhere)
	}
	tr, ok := newClient().Transport.(*http.Transport)
	if !ok || tr.Proxy != nil {
		t.Error("the proxy of the environment is used")
	}
}
