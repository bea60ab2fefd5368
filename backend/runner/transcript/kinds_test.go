package transcript

import (
	"os"
	"slices"
	"strings"
	"testing"

	"loop/backend/core"
)

// kindsOfTheCLI are the kinds of lines that the pinned CLI may print.
func kindsOfTheCLI(t *testing.T) (kinds []string) {
	t.Helper()
	b, err := os.ReadFile("testdata/kinds-claude-2.1.332.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			kinds = append(kinds, line)
		}
	}
	if len(kinds) < 90 {
		t.Fatalf("%d kinds", len(kinds))
	}
	return kinds
}

// sampleOf is a line of a kind, with what its words are made of.
func sampleOf(kind string) string {
	typ, sub, _ := strings.Cut(kind, "/")
	bodies := map[string]string{
		"stream_event":            `"event":{"type":"message_start","message":{"id":"m","model":"x"}}`,
		"assistant":               `"message":{"id":"m","content":[{"type":"text","text":"I look."}]}`,
		"user":                    `"message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"out"}]}`,
		"result":                  `"subtype":"success","result":"fine"`,
		"rate_limit_event":        `"rate_limit_info":{"status":"allowed_warning","rateLimitType":"five_hour"}`,
		"tool_progress":           `"tool_use_id":"t","subagent_retry":{"attempt":1,"max_retries":4,"retry_delay_ms":900,"error_status":529,"error_category":"overloaded"}`,
		"auth_status":             `"isAuthenticating":false,"output":[],"error":"the token has expired"`,
		"active_goal":             `"value":{"condition":"all tests pass","iterations":1}`,
		"system/init":             `"model":"x","mcp_servers":[{"name":"m","status":"failed"}]`,
		"system/status":           `"status":"compacting"`,
		"system/hook_response":    `"hook_name":"PreToolUse:Bash","outcome":"error","exit_code":2,"output":"no"`,
		"system/plugin_install":   `"status":"failed","name":"p","error":"not found"`,
		"system/files_persisted":  `"files":[],"failed":[{"filename":"a.txt","error":"too large"}]`,
		"system/memory_recall":    `"mode":"select","memories":[{"path":"/m/a.md","scope":"personal"}]`,
		"system/notification":     `"text":"Context is nearly full","priority":"high"`,
		"system/task_progress":    `"task_id":"a","tool_use_id":"t","subagent_type":"Explore","description":"Reading a.go","usage":{"total_tokens":7,"tool_uses":2,"duration_ms":9}`,
		"system/thinking_tokens":  `"estimated_tokens":12`,
		"system/task_started":     `"task_id":"a","tool_use_id":"t","task_type":"local_agent","subagent_type":"Explore","description":"Look"`,
		"system/api_retry":        `"attempt":1,"max_retries":4,"retry_delay_ms":500,"error_status":null,"error":"unknown"`,
		"system/compact_boundary": `"compact_metadata":{"trigger":"auto","pre_tokens":9,"post_tokens":2}`,
	}
	body := bodies[kind]
	if body == "" {
		body = `"content":"Some words","task_id":"b","description":"Some words","status":"completed","original_model":"x","fallback_model":"y","tasks":[{"task_id":"b","description":"Some words"}]`
	}
	if sub != "" {
		body = `"subtype":"` + sub + `",` + body
	}
	return `{"type":"` + typ + `",` + body + `,"session_id":"s","uuid":"u"}`
}

// Every kind of the pinned CLI has words, or is known to need none.
func TestEveryKindIsKnown(t *testing.T) {
	silent := []string{"stream_event", "result"} // what they say is passed on otherwise
	for _, kind := range kindsOfTheCLI(t) {
		var p Parser
		items := p.Parse(Line{Data: []byte(sampleOf(kind))})
		if p.Lines != 1 || p.Garbage != "" {
			t.Errorf("%s: taken for garbage", kind)
		}
		if slices.ContainsFunc(items, func(it Item) bool { return it.Type == core.EventRaw }) {
			t.Errorf("%s is not known: %+v", kind, items)
		}
		if words := len(items) > 0 || slices.Contains(silent, kind); words == isQuietKind(kind) {
			t.Errorf("%s: %d items, and knowingly quiet %v", kind, len(items), isQuietKind(kind))
		}
	}
}

func TestQuietKindsArePrintedBySomeVersion(t *testing.T) {
	known := kindsOfTheCLI(t)
	for kind := range quietSet {
		if !slices.Contains(known, kind) {
			t.Errorf("%s is no kind of the pinned CLI", kind)
		}
	}
}

func TestUnknownKindsStayAsTheyAre(t *testing.T) {
	for _, line := range []string{
		`{"type":"telemetry","hits":14}`, `{"type":"system","subtype":"new_in_3"}`, `{"type":"tool_progress","subagent_retry":7}`,
	} {
		var p Parser
		if items := p.Parse(Line{Data: []byte(line)}); len(items) != 1 || items[0].Type != core.EventRaw {
			t.Errorf("%s: %+v", line, items)
		}
	}
}

// What is quiet is so only where nothing is wrong.
func TestQuietUnlessItFails(t *testing.T) {
	for _, line := range []string{
		`{"type":"system","subtype":"hook_response","hook_name":"h","outcome":"success","output":"ok"}`,
		`{"type":"system","subtype":"plugin_install","status":"installed","name":"p"}`,
		`{"type":"system","subtype":"files_persisted","files":[{"filename":"a"}],"failed":[]}`,
		`{"type":"system","subtype":"notification","text":"tip","priority":"low"}`,
		`{"type":"tool_progress","tool_use_id":"t","elapsed_time_seconds":3}`,
		`{"type":"auth_status","isAuthenticating":true,"output":["x"]}`,
		`{"type":"system","subtype":"status","status":null}`,
		`{"type":"active_goal","value":null}`,
	} {
		var p Parser
		if items := p.Parse(Line{Data: []byte(line)}); len(items) != 0 || p.Lines != 1 {
			t.Errorf("%s: %+v", line, items)
		}
	}
}
