package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	cerrdefs "github.com/containerd/errdefs"

	"loop/backend/core"
)

// TestFailedTime: an engine that takes too long gives a failure with a remedy. A
// cancelled call does not.
func TestFailedTime(t *testing.T) {
	err := failed("list containers", fmt.Errorf("get: %w", context.DeadlineExceeded))
	f, ok := errors.AsType[*core.Failure](err)
	if !ok || f.Code != core.CodeEngineLost || f.Remedy == "" || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%#v", err)
	}
	err = failed("list containers", fmt.Errorf("get: %w", context.Canceled))
	if _, ok := errors.AsType[*core.Failure](err); ok || !errors.Is(err, context.Canceled) {
		t.Errorf("%#v", err)
	}
}

// TestFailedNetwork: a start fails because its network is missing. The failure must not
// say that the container is gone.
func TestFailedNetwork(t *testing.T) {
	err := failed("start the container", fmt.Errorf("Error response from daemon: network nosuch not found: %w", cerrdefs.ErrNotFound))
	f, ok := errors.AsType[*core.Failure](err)
	if !ok || f.Code != core.CodeConfig || !strings.Contains(f.Cause, "“nosuch”") || errors.Is(err, core.ErrNotFound) {
		t.Errorf("%#v", err)
	}
}

// TestOutputWithoutALineEnd: a progress bar writes one endless line.
func TestOutputWithoutALineEnd(t *testing.T) {
	var in bytes.Buffer
	for range 1000 {
		in.WriteString(`{"stream":"` + strings.Repeat("#", 1000) + `\r"}` + "\n")
	}
	in.WriteString(`{"stream":"end\n"}`)
	var total, longest int
	if _, err := readMessages(&in, func(l string) { total += len(l); longest = max(longest, len(l)) }); err != nil {
		t.Fatal(err)
	}
	if longest > 2*maxPartial || total < 1000_000 {
		t.Errorf("%d bytes, the longest line %d", total, longest)
	}
}
