package runner

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"loop/backend/core"
	"loop/backend/runner/transcript"
)

// TestSecretsAreHidden: an agent lists its environment. None of Loop's keys reaches the
// timeline, the result or an error.
func TestSecretsAreHidden(t *testing.T) {
	const key, env = "sk-ant-CANARY-1", "CANARY of \"the\" environment"
	for name, cli := range map[string]func(*proc){
		"tool result": plays(`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"KEY=`+key+`\nX=CANARY of \"the\" environment"}]}}`+"\n"+turn(key)+goodResult, 0),
		"result":      plays(`{"type":"result","subtype":"success","is_error":false,"result":"it is `+key+`","session_id":"sess"}`+"\n", 0),
		"failure":     plays(`{"type":"result","subtype":"success","is_error":true,"result":"API Error: 400 `+key+`","api_error_status":400,"session_id":"sess"}`+"\n", 1),
		"garbage":     plays("key "+key+" is wrong\n", 1),
		"stderr":      func(p *proc) { p.stderr("key " + key + " and " + env); p.end(2) },
		"unknown":     plays(`{"type":"news","x":"`+key+`"}`+"\n"+goodResult, 0),
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				r := newRig(t, cli)
				r.launch.APIKey = key
				r.launch.Env = []core.EnvVar{{Name: "T", Value: env, Secret: true}, {Name: "S", Value: "assistant", Secret: true}, {Name: "P", Value: "not a secret but long"}}
				r.start()
				defer r.quit()
				run := r.ended(r.prompt("c", "x").ID, time.Hour)
				said := r.dump(run.ID) + fmt.Sprintf("%+v %+v", run.Outcome, run.Outcome.Failure)
				if strings.Contains(said, "CANARY") || !strings.Contains(said, hiddenMark) {
					t.Error(said)
				}
			})
		})
	}
}

func TestHiderLeavesTheRest(t *testing.T) {
	h := newHider(Launch{APIKey: "type", OAuthToken: "line one\nline two"})
	line := transcript.Line{Data: []byte(`{"type":"x"}`)}
	if got := h.line(line); string(got.Data) != string(line.Data) {
		t.Errorf("%s", got.Data)
	}
}
