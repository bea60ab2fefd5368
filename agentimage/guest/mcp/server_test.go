//go:build linux

package mcp

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestParseFlags(t *testing.T) {
	t.Setenv("API_URL", "http://env")
	t.Setenv("CHANNEL_ID", "envchan")
	for name, c := range map[string]struct {
		args []string
		want Options
	}{
		"seed form": {[]string{"--channel-id", "c", "--api-url", "http://x", "--log", "/l", "--author-id", "a", "--memory"},
			Options{Channel: "c", URL: "http://x", Log: "/l", Author: "a", Memory: true}},
		"unknown flags": {[]string{"--future", "x", "--channel-id=c", "--other=y", "--agent-id", "g", "-q", "--dir", "/d"},
			Options{Channel: "c", URL: "http://env", Agent: "g", Dir: "/d"}},
		"nothing": {nil, Options{Channel: "envchan", URL: "http://env"}},
	} {
		got, err := ParseFlags(c.args)
		if err != nil || got != c.want {
			t.Errorf("%s: %+v %v", name, got, err)
		}
	}
	if _, err := ParseFlags([]string{"--memory=perhaps"}); err == nil {
		t.Error("a wrong value was accepted")
	}
	t.Setenv("API_URL", "")
	if _, err := ParseFlags(nil); err == nil {
		t.Error("no API URL was accepted")
	}
}

// connect is a client of the server, whose callbacks go to api.
func connect(t *testing.T, api http.HandlerFunc) *sdk.ClientSession {
	t.Helper()
	srv := httptest.NewServer(api)
	client := srv.Client()
	t.Cleanup(srv.Close)
	ours, theirs := sdk.NewInMemoryTransports()
	ss, err := New(Options{Channel: "mine", URL: srv.URL + "/", Client: client, Version: "1"}).Connect(t.Context(), theirs, nil)
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

func TestSendMessage(t *testing.T) {
	var got map[string]string
	cs := connect(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = nil
		if err := json.Unmarshal(body, &got); err != nil || r.URL.Path != "/api/messages" || r.Method != http.MethodPost {
			t.Errorf("%s %s %s", r.Method, r.URL.Path, body)
		}
		if got["channel_id"] != "mine" {
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, `{"error":"an agent may write to its own channel only"}`)
		}
	})
	if out, bad := call(t, cs, "send_message", map[string]any{"content": "hi “there”"}); bad || got["content"] != "hi “there”" {
		t.Errorf("%q %v %v", out, bad, got)
	}
	if out, bad := call(t, cs, "send_message", map[string]any{"content": "hi", "channel_id": "other"}); !bad || !strings.Contains(out, "own channel") {
		t.Errorf("%q %v", out, bad)
	}
	got = nil
	if out, bad := call(t, cs, "send_message", map[string]any{"content": " \n"}); !bad || got != nil {
		t.Errorf("%q %v", out, bad)
	}
	tools, err := cs.ListTools(t.Context(), nil)
	if err != nil || len(tools.Tools) != 2 {
		t.Fatalf("%+v %v", tools, err)
	}
}

func TestPermissionPrompt(t *testing.T) {
	cs := connect(t, nil)
	for args, want := range map[string]string{
		`{"tool_name":"Bash","input":{"command":"ls","n":12345678901234567890}}`: `{"behavior":"allow","updatedInput":{"command":"ls","n":12345678901234567890}}`,
		`{"anything":[1,2]}`: `{"behavior":"allow","updatedInput":{"anything":[1,2]}}`,
		`{"input":"text"}`:   `{"behavior":"allow","updatedInput":{"input":"text"}}`,
		`{}`:                 `{"behavior":"allow","updatedInput":{}}`,
	} {
		if out, bad := call(t, cs, "permission_prompt", json.RawMessage(args)); bad || out != want {
			t.Errorf("%s gave %s", args, out)
		}
	}
}
