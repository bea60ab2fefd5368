package guestlink_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"loop/backend/leaktest"
)

// cleanup removes what tests with a real engine share, after all of them.
var cleanup = func() {}

func TestMain(m *testing.M) {
	// net/http keeps a refused connection for half a second, so the client reads the
	// refusal before the reset. This goroutine ends by itself.
	lingers := goleak.IgnoreAnyFunction("net/http.(*conn).closeWriteAndWait")
	goleak.VerifyTestMain(leaktest.Patient(m, lingers), lingers, goleak.Cleanup(func(code int) {
		cleanup()
		os.Exit(code)
	}))
}
