package guestlink_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"loop/backend/leaktest"
)

// cleanup is what tests that use a real engine leave to the end.
var cleanup = func() {}

func TestMain(m *testing.M) {
	// net/http keeps a connection it refused for half a second, so that the
	// refusal is read before the reset; it ends by itself.
	lingers := goleak.IgnoreAnyFunction("net/http.(*conn).closeWriteAndWait")
	goleak.VerifyTestMain(leaktest.Patient(m, lingers), lingers, goleak.Cleanup(func(code int) {
		cleanup()
		os.Exit(code)
	}))
}
