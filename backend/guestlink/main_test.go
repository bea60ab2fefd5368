package guestlink_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// cleanup is what tests that use a real engine leave to the end.
var cleanup = func() {}

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		cleanup()
		os.Exit(code)
	}))
}
