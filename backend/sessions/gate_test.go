package sessions

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"loop/backend/core"
)

// TestFewReadersAtATime: an agent asks for its conversations again and again. Loop
// holds few of them in memory at once, and other projects can still be read.
func TestFewReadersAtATime(t *testing.T) {
	r := newRig(t)
	var text strings.Builder
	for n := range 2000 {
		text.WriteString(say("user", fmt.Sprintf("u%d", n), fmt.Sprintf("u%d", n-1), strings.Repeat("x", 500)))
	}
	r.put("mine", project, recordedID, text.String())
	r.put("other", project, recordedID, text.String())
	var over atomic.Bool
	most, watched := 0, make(chan struct{})
	go func() {
		defer close(watched)
		for !over.Load() {
			most = max(most, len(r.s.readers))
			runtime.Gosched()
		}
	}()
	var wg sync.WaitGroup
	for n := range 12 {
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
	over.Store(true)
	if <-watched; most != 1 {
		t.Errorf("%d of one project were read at a time", most)
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
	if n := len(r.s.readers); n != 0 {
		t.Errorf("%d are read for ever", n)
	}
}
