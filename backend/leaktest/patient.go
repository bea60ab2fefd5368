package leaktest

import (
	"testing"
	"time"

	"go.uber.org/goleak"
)

// patience is far above what a loaded machine takes. goleak has half a second,
// within which a connection's goroutine need not have had a processor.
const patience = time.Minute

// Patient is m for goleak.VerifyTestMain: its Run returns when nothing of the tests
// is left, or when what is left stays. The options are those that say what is
// nobody's leak.
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
