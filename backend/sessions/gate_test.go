package sessions

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"loop/backend/core"
)

// TestFewReadersAtATime: an agent that asks for its conversations again and
// again makes Loop hold few of them in memory at once, and does not keep
// another project from being read.
func TestFewReadersAtATime(t *testing.T) {
	r := newRig(t)
	var text strings.Builder
	for n := range 2000 {
		text.WriteString(say("user", fmt.Sprintf("u%d", n), fmt.Sprintf("u%d", n-1), strings.Repeat("x", 500)))
	}
	r.put("mine", project, recordedID, text.String())
	r.put("other", project, recordedID, text.String())
	var now, most atomic.Int32
	r.s.reading = func(d int32) {
		if n := now.Add(d); n > most.Load() {
			most.Store(n)
		}
	}
	var wg sync.WaitGroup
	for n := range 24 {
		wg.Go(func() {
			var err error
			if n%2 == 0 {
				_, err = r.s.List(t.Context(), core.Channel{ID: "mine"})
			} else {
				_, err = r.s.Messages(t.Context(), core.Channel{ID: "mine"}, recordedID)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := most.Load(); n != 1 {
		t.Errorf("%d of one project were read at a time", n)
	}

	done, err := r.s.enter(t.Context(), "mine")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := r.s.Messages(ctx, core.Channel{ID: "mine"}, recordedID); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a second reader: %v", err)
	}
	if list, err := r.s.Messages(t.Context(), core.Channel{ID: "other"}, recordedID); err != nil || len(list) != maxMessages {
		t.Errorf("another project: %d messages, %v", len(list), err)
	}
	done()
	if list, err := r.s.List(t.Context(), core.Channel{ID: "mine"}); err != nil || len(list) != 1 {
		t.Errorf("%d sessions, %v", len(list), err)
	}
	if len(r.s.owners) != 0 {
		t.Errorf("%d projects are remembered as being read", len(r.s.owners))
	}
}
