package leaktest

import (
	"testing"
	"time"

	"go.uber.org/goleak"
)

// patience is far more than a loaded machine takes. goleak itself waits half a second,
// in which a connection's goroutine may not get a processor at all.
const patience = time.Minute

// Patient wraps m for goleak.VerifyTestMain. Its Run returns when no goroutine of the
// tests is left, or when those that are left do not end. The options name goroutines
// that do not count as leaks.
func Patient(m *testing.M, ignored ...goleak.Option) goleak.TestingM { return patient{m, ignored} }

type patient struct {
	m       *testing.M
	ignored []goleak.Option
}

func (p patient) Run() int {
	code := p.m.Run()
	for begun := time.Now(); code == 0 && time.Since(begun) < patience; {
		if goleak.Find(p.ignored...) == nil {
			break
		}
	}
	return code
}
