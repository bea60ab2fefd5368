package openeditor

import (
	"testing"

	"go.uber.org/goleak"

	"loop/backend/leaktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(leaktest.Patient(m)) }
