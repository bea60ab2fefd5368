package guestlink

import (
	"strings"
	"testing"

	"loop/backend/core"
	"loop/backend/wire"
)

func TestRefusalsEndInOneFullStop(t *testing.T) {
	for code := range readable {
		for _, text := range []string{"line 3: unknown key", "line 3: unknown key.", "It may not run. "} {
			f := core.AsFailure(refused(wire.NewError(code, text)))
			if strings.HasSuffix(f.Cause, "..") || !strings.HasSuffix(f.Cause, ".") || strings.Contains(f.Cause, " .") {
				t.Errorf("%s: %q", code, f.Cause)
			}
		}
	}
}
