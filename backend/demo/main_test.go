package demo

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"loop/backend/leaktest"
)

// reexec holds the jobs that the test binary can do as a child process, by name. Files
// with build tags add to it.
var reexec = map[string]func(){}

func TestMain(m *testing.M) {
	if child, ok := reexec[os.Getenv("LOOP_DEMO_TEST_CHILD")]; ok {
		child()
		return
	}
	goleak.VerifyTestMain(leaktest.Patient(m))
}
