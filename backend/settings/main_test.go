package settings

import (
	"testing"

	"go.uber.org/goleak"

	"loop/backend/leaktest"
	"loop/backend/signin/signintest"
)

func TestMain(m *testing.M) {
	signintest.Main(m, func(m *testing.M) { goleak.VerifyTestMain(leaktest.Patient(m)) })
}
