package demo

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"loop/backend/leaktest"
)

// reexec is set by files with build tags: what the test binary does instead of
// testing when it is started as a child.
var reexec = map[string]func(){}

func TestMain(m *testing.M) {
	if child, ok := reexec[os.Getenv("LOOP_DEMO_TEST_CHILD")]; ok {
		child()
		return
	}
	goleak.VerifyTestMain(leaktest.Patient(m))
}
