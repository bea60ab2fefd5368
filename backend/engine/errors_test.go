package engine

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"loop/backend/core"
)

// TestMapErrorTime: an engine that takes too long is a failure a person can act
// on; a question that was taken back is not.
func TestMapErrorTime(t *testing.T) {
	err := mapError("list containers", fmt.Errorf("get: %w", context.DeadlineExceeded))
	f, ok := errors.AsType[*core.Failure](err)
	if !ok || f.Code != core.CodeEngineLost || f.Remedy == "" || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%#v", err)
	}
	err = mapError("list containers", fmt.Errorf("get: %w", context.Canceled))
	if _, ok := errors.AsType[*core.Failure](err); ok || !errors.Is(err, context.Canceled) {
		t.Errorf("%#v", err)
	}
}
