package terminal

import (
	"fmt"
	"testing"
	"testing/synctest"

	"loop/backend/core"
)

// tape is a Recording that takes a limited number of pieces.
type tape struct{ left, closed int }

func (r *tape) Output([]byte) error {
	if r.left--; r.left < 0 {
		return core.Fail(core.CodeDir, nil, "The disk is full.", "Make room.")
	}
	return nil
}
func (r *tape) Resize(uint16, uint16) error { return r.Output(nil) }
func (r *tape) Name() string                { return "tape" }
func (r *tape) Close() error                { r.closed++; return nil }

// TestRecordingThatFails: the recording ends by itself, reports why once, and the
// session goes on. The next recording does not report the old fault.
func TestRecordingThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &tape{left: 2}
		s, f, _ := rig(t, Options{Record: func(core.TerminalInfo) (Recording, error) { return r, nil }})
		info := create(t, s, core.TerminalSpec{})
		if i, err := s.Record(t.Context(), info.ID, true); err != nil || i.Recording != "tape" {
			t.Fatal(i, err)
		}
		for range 3 {
			f.print("x")
			synctest.Wait()
			if err := s.Resize(t.Context(), info.ID, 90+uint16(f.size), 20); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		if i := s.List("")[0]; i.Recording != "" || i.RecordingProblem != "The disk is full. Make room." || r.closed != 1 || i.State != core.TerminalRunning {
			t.Fatalf("%+v, closed %d times", i, r.closed)
		}
		r.left = 100
		if i, err := s.Record(t.Context(), info.ID, true); err != nil || i.RecordingProblem != "" {
			t.Fatal(i, err)
		}
	})
}

// words is a Recording that keeps its input as text.
type words struct {
	tape
	text string
}

func (w *words) Output(p []byte) error { w.text += string(p); return nil }
func (w *words) Resize(cols, rows uint16) error {
	w.text += fmt.Sprintf("<%dx%d>", cols, rows)
	return nil
}

// TestRecordingHasWhatWasShown: viewers may be ahead of the screen, which writes the
// recording. Output that they got before the end of a recording is in it.
func TestRecordingHasWhatWasShown(t *testing.T) {
	s, f, _ := rig(t, Options{})
	slow := s.newSession(core.TerminalInfo{Cols: 80, Rows: 24}, f, false) // its goroutines do not run
	w := &words{}
	slow.rec = w
	slow.append([]byte("one"))
	slow.mu.Lock()
	slow.addSize(100, 30)
	slow.mu.Unlock()
	slow.append([]byte("two"))
	if slow.endRecording(); w.text != "one<100x30>two" || w.closed != 1 {
		t.Errorf("recorded %q, closed %d times", w.text, w.closed)
	}
}
