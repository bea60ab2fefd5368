package redact

import (
	"strings"
	"testing"

	"loop/backend/core"
)

func TestSecrets(t *testing.T) {
	var s Secrets
	if !s.None() || s.Text("a") != "a" || s.Begun("a") != 0 {
		t.Error("the zero value finds something")
	}
	s.AddKeys("sk-CANARY", "short", "")
	s.AddEnv([]core.EnvVar{
		{Value: `CANARY of <"the"> & shell`, Secret: true}, {Value: "assistant", Secret: true}, {Value: "not a secret but long"},
	})
	if got := s.Text("short assistant not a secret but long sk-CANARY."); got != "short assistant not a secret but long "+Mark+"." {
		t.Error(got)
	}
	// encoding/json escapes characters that the agent's CLI does not.
	raw, err := s.Value(map[string]any{"sk-CANARY": 12345678901234567, "list": []any{`x CANARY of <"the"> & shell y`, nil, true}})
	if got := string(raw); err != nil || got != `{"list":["x `+Mark+` y",null,true],"`+Mark+`":12345678901234567}` {
		t.Error(got, err)
	}
	if n := s.Begun("it is sk-CAN"); n != len("sk-CAN") {
		t.Error(n)
	}
	if got := string(s.Line([]byte(`"sk-CANARY" "CANARY of <\"the\"> & shell" sk-CA`), true)); strings.Contains(got, "CANARY") || strings.HasSuffix(got, "sk-CA") {
		t.Error(got)
	}
}
