//go:build docker

package main_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"loop/backend/leaktest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(leaktest.Patient(m), goleak.Cleanup(func(code int) {
		if dir, _ := programs(); dir != "" {
			_ = os.RemoveAll(dir)
		}
		os.Exit(code)
	}))
}
