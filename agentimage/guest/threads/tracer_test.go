//go:build linux

package threads

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"
	"testing"
)

// TestCheckTracing: Yama's strictest setting, and one that cannot be read, refuse a start.
func TestCheckTracing(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		err  error
		want string
	}{
		"no Yama":    {"", fs.ErrNotExist, ""},
		"off":        {"0\n", nil, ""},
		"relatives":  {"1\n", nil, ""},
		"privileged": {"2\n", nil, ""},
		"nobody":     {"3\n", nil, "until the computer is restarted"},
		"unreadable": {"", syscall.EACCES, "ask who may trace"},
	} {
		err := CheckTracing(func(string) ([]byte, error) { return []byte(c.text), c.err })
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTracerAfterTheEnd: nobody waits for a thread that is no more, and what it cannot
// trace is refused.
func TestTracerAfterTheEnd(t *testing.T) {
	tr := NewTracer()
	var refused error
	done := 0
	e := &Exec{Thread: 1 << 30, Process: 1 << 30, Waits: func() bool { return true }, Continue: func() { t.Error("continued") },
		Refused: func(err error) { refused = err }, Done: func() { done++ }}
	tr.take(e)
	if !errors.Is(refused, syscall.ESRCH) || done != 1 || len(tr.queue)+len(tr.traced) != 0 {
		t.Errorf("%v, %d, %v", refused, done, tr.queue)
	}
	e.Waits = func() bool { return false }
	refused = nil
	tr.take(e)
	if refused != nil || done != 2 || len(tr.queue) != 0 {
		t.Errorf("%v, %d", refused, done)
	}
	tr.Run(func(int, syscall.WaitStatus) { t.Error("ended") }) // there is nothing to wait for
	if tr.Exec(e) {
		t.Error("took a call")
	}
}
