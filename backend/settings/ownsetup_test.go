package settings

import (
	"errors"
	"slices"
	"testing"

	"loop/backend/core"
)

// TestOwnSetup: what there is comes with what the global settings say, and only that.
func TestOwnSetup(t *testing.T) {
	r := newSettingsRig(t)
	var allowed []string
	var fails error
	r.o.Survey = func(allow []string) (core.ClaudeSetup, error) {
		allowed = allow
		return core.ClaudeSetup{Folder: "/home/ana/.claude", Settings: []string{"model"}}, fails
	}
	v, err := r.ClaudeSetup()
	if err != nil || v.Grant != "" || len(allowed) != 0 || !slices.Equal(v.Setup.Settings, []string{"model"}) {
		t.Fatalf("%+v, allowed %v, %v", v, allowed, err)
	}
	for field, value := range map[string]any{"claude_setup": "read", "claude_setup_allow": []string{"hooks", "env:EDITOR"}} {
		if err := r.Set(t.Context(), core.LayerGlobal, "", field, value); err != nil {
			t.Fatal(err)
		}
	}
	if v, err = r.ClaudeSetup(); err != nil || v.Grant != "read" || !slices.Equal(allowed, []string{"hooks", "env:EDITOR"}) {
		t.Errorf("%+v, allowed %v, %v", v, allowed, err)
	}
	fails = errors.New("permission denied")
	_, err = r.ClaudeSetup()
	if f := core.AsFailure(err); f.Code != core.CodeDir || f.Remedy != "Check who may read /home/ana/.claude." || !errors.Is(err, fails) {
		t.Errorf("%+v", f)
	}
}
