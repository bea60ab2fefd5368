package gate

import (
	"strings"
	"testing"

	"loop/backend/policy"
	"loop/backend/wire"
)

// A second name for a file leaves the first, through which nobody is asked.
func TestASecondNameKeepsTheFirst(t *testing.T) {
	for _, target := range []string{"/home/ana/.bashrc", "/work/.git/hooks/pre-commit"} {
		a := wire.Approval{Kind: wire.KindFile, Operation: string(policy.Link), Category: string(policy.Startup), Target: target}
		if got := risk(a); !strings.Contains(got, "under its other name") {
			t.Errorf("%s: %q", target, got)
		}
	}
}
