package runner

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"loop/backend/core"
)

// kept notes what the runner has kept.
type kept struct {
	mu   sync.Mutex
	said []string
	why  string
}

func (k *kept) note(format string, args ...any) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.said = append(k.said, fmt.Sprintf(format, args...))
}

func (k *kept) Before(_ context.Context, run core.Run, _ core.Channel, start core.SessionStart) string {
	<-time.After(time.Second)
	k.note("before %s %s%s", run.Prompt, start.Mode, start.SessionID)
	return k.why
}

func (k *kept) After(_ context.Context, run core.Run, _ core.Channel) {
	<-time.After(time.Second)
	k.note("after %s", run.Prompt)
}

// TestFilesAreKeptAroundARun: before its agent starts, and before the next run begins.
func TestFilesAreKeptAroundARun(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		k := &kept{why: "It is too large."}
		r, _ := newSpawnRig(t, func(p *proc) {
			k.note("agent %s", p.prompt())
			p.print(`{"type":"system","subtype":"init","session_id":"sess"}` + "\n" + goodResult)
			p.end(0)
		})
		r.ports.Checkpoints = k
		r.start()
		defer r.quit()
		r.prompts("c", "one", "two")
		r.pass(time.Minute)
		want := []string{"before one fresh", "agent one", "after one", "before two resumesess", "agent two", "after two"}
		if !slices.Equal(k.said, want) {
			t.Errorf("%q, want %q", k.said, want)
		}
	})
}

// TestQuietAfterAnEnd waits until the files of a run that has ended are kept, instead of
// saying that it is under way.
func TestQuietAfterAnEnd(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		for _, stop := range []bool{false, true} {
			k := &kept{}
			r, _ := newSpawnRig(t, func(p *proc) {
				p.print(`{"type":"system","subtype":"init","session_id":"sess"}` + "\n" + goodResult)
				p.end(0)
			})
			r.ports.Checkpoints = k
			r.start()
			id := r.prompts("c", "one")[0]
			for r.get(id).State != core.RunDone {
				r.pass(100 * time.Millisecond)
			}
			release, err := r.s.Quiet(context.Background(), "c", stop)
			if err != nil {
				t.Fatal(err)
			}
			if n := len(k.said); n != 2 {
				t.Errorf("stop %t: %q", stop, k.said)
			}
			release()
			r.quit()
		}
	})
}

// TestQuiet: nothing of the channel begins while it is quiet, and what is under way is ended
// only where that was asked for.
func TestQuiet(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ctx := context.Background()
		r, _ := newSpawnRig(t, slow)
		r.start()
		defer r.quit()
		ids := r.prompts("c", "slow", "later")
		other := r.prompts("d", "elsewhere")
		r.pass(time.Second)
		if _, err := r.s.Quiet(ctx, "c", false); codeOf(err) != core.CodeConflict {
			t.Errorf("while a run is under way: %v", err)
		}
		release, err := r.s.Quiet(ctx, "c", true)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.s.Quiet(ctx, "c", true); codeOf(err) != core.CodeConflict {
			t.Errorf("twice: %v", err)
		}
		r.pass(time.Minute)
		if a, b := r.get(ids[0]).State, r.get(ids[1]).State; a != core.RunCancelled || b != core.RunQueued {
			t.Errorf("%s, %s", a, b)
		}
		if s := r.get(other[0]).State; s != core.RunDone {
			t.Errorf("another channel's run is %s", s)
		}
		release()
		r.pass(time.Minute)
		if s := r.get(ids[1]).State; s != core.RunDone {
			t.Errorf("afterwards the run is %s", s)
		}
	})
}
