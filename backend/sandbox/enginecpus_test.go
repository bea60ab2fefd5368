package sandbox

import (
	"strings"
	"testing"

	"loop/backend/core"
)

// TestMoreCPUsThanTheEngineHas: the container gets what there is. A person hears of it who asked
// for more, and not one whose settings say nothing.
func TestMoreCPUsThanTheEngineHas(t *testing.T) {
	for layer, told := range map[string]bool{core.LayerBuiltin: false, "global": true} {
		ex := &explainer{}
		m := Settings{CPUs: Setting[float64]{Value: 2, From: core.SettingsOrigin{Layer: layer}}}
		l := resolveLimits(m, Host{EngineCPUs: 1}, ex)
		if l.CPUs != 1 || (len(ex.out.Notices) == 1 && strings.Contains(ex.out.Notices[0], "the engine has 1")) != told {
			t.Errorf("%s: %v CPUs, %q", layer, l.CPUs, ex.out.Notices)
		}
	}
}
