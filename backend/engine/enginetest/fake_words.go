package enginetest

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"

	"loop/backend/core"
)

// noImage and noSource fail with the codes of the real engine.
func noImage(step, ref string) error {
	return core.Fail(core.CodeNoImage, fmt.Errorf("%s: %w", step, core.ErrNoImage), "The image "+ref+" is not there.", "Add it to the fake.")
}

func noSource(path string) error {
	return core.Fail(core.CodeMount, fmt.Errorf("create the container: %s is not there", path), "A mount of the container is not possible.",
		"Let SourceExists say so.")
}

func withDefaults(spec core.ExecSpec) core.ExecSpec {
	if len(spec.Argv) == 0 {
		spec.Argv = []string{"/bin/sh"}
	}
	if spec.Cols == 0 || spec.Rows == 0 {
		spec.Cols, spec.Rows = 80, 24
	}
	spec.ID = cmp.Or(spec.ID, core.TerminalID(core.NewID()))
	return spec
}

// text is the output of a played process. Any goroutine may use it.
type text struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (t *text) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.buf.Write(p)
}

func (t *text) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.buf.String()
}

// last returns the last n lines.
func (t *text) last(n int) string {
	lines := strings.SplitAfter(strings.TrimSuffix(t.String(), "\n")+"\n", "\n")
	lines = lines[:len(lines)-1]
	return strings.Join(lines[max(0, len(lines)-n):], "")
}

func send(ctx context.Context, out chan<- core.ContainerEvent, ev core.ContainerEvent) bool {
	select {
	case out <- ev:
		return true
	case <-ctx.Done():
		return false
	}
}
