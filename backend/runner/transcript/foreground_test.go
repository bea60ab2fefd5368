package transcript

import (
	"strings"
	"testing"

	"loop/backend/core"
)

// A command that takes long is announced as a task although it stands in the foreground,
// and each of its seconds is told: neither says more than its call.
func TestACommandInTheForegroundIsNoSubtask(t *testing.T) {
	const call = `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"make"}}]}}` + "\n"
	const started = `{"type":"system","subtype":"task_started","task_id":"b0","tool_use_id":"t1","description":"Build"}` + "\n"
	const progress = `{"type":"tool_progress","tool_use_id":"t1","tool_name":"Bash","elapsed_time_seconds":30}` + "\n"
	const ended = `{"type":"system","subtype":"task_notification","task_id":"b0","status":"failed","summary":"Build"}` + "\n"
	const moved = `{"type":"system","subtype":"background_tasks_changed","tasks":[{"task_id":"b0","task_type":"local_bash","description":"Build"}]}` + "\n"
	const agent = `{"type":"system","subtype":"task_started","task_id":"a0","tool_use_id":"t2","description":"Look around"}` + "\n"
	for name, c := range map[string]struct{ lines, want string }{
		"foreground": {call + started + progress + ended, ""},
		"background": {call + moved + started + ended, "background_started background_ended"},
		"sub-agent":  {call + agent, "task_started"},
	} {
		var said []string
		items, _ := parseAll(t, strings.NewReader(c.lines), &Parser{})
		for _, it := range items {
			if it.Type == core.EventRaw {
				t.Errorf("%s: %s is told as it came", name, it.Data)
			}
			if a, ok := it.Data.(core.Activity); ok {
				said = append(said, a.Activity)
			}
		}
		if got := strings.Join(said, " "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
