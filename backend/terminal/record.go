package terminal

import (
	"strings"

	"loop/backend/core"
)

// startRecording begins with the screen as it is, so that a replay shows what
// was seen and not what came after alone.
func (s *session) startRecording() error {
	s.screenMu.Lock()
	defer s.screenMu.Unlock()
	s.mu.Lock()
	busy, ended := s.rec != nil, s.stopped
	info := s.viewLocked()
	s.mu.Unlock()
	if busy {
		return nil
	}
	if ended {
		return core.Fail(core.CodeConflict, core.ErrConflict, "The session has ended.", "Open a new terminal and record that.")
	}
	c, r := s.screen.Size()
	info.Cols, info.Rows = uint16(c), uint16(r)
	rec, err := s.svc.o.Record(info)
	if err != nil {
		return err
	}
	if err := rec.Output(s.screen.Snapshot()); err != nil {
		_ = rec.Close()
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rec, s.info.Recording, s.info.RecordingProblem, s.dirty = rec, rec.Name(), "", true
	poke(s.screenWake)
	return nil
}

// record is called with screenMu held.
func (s *session) record(rec Recording, p []byte, m sizeMark, size bool) {
	var err error
	if size {
		err = rec.Resize(m.cols, m.rows)
	} else {
		err = rec.Output(p)
	}
	if err != nil {
		s.log.Warn("recording ended", "session", s.info.ID, "err", err)
		f := core.AsFailure(err)
		s.mu.Lock()
		s.info.RecordingProblem = strings.TrimSpace(f.Cause + " " + f.Remedy)
		s.mu.Unlock()
		s.dropRecording()
	}
}

// endRecording closes the recording under way, if there is one. What was printed
// until then is in it, also when the screen has not come to it yet.
func (s *session) endRecording() {
	s.screenMu.Lock()
	defer s.screenMu.Unlock()
	s.mu.Lock()
	recorded := s.rec != nil
	s.mu.Unlock()
	if recorded {
		s.catchUp()
	}
	s.dropRecording()
}

func (s *session) dropRecording() {
	s.mu.Lock()
	rec := s.rec
	s.rec, s.info.Recording = nil, ""
	s.dirty = s.dirty || rec != nil
	s.mu.Unlock()
	if rec == nil {
		return
	}
	if err := rec.Close(); err != nil {
		s.log.Warn("close recording", "session", s.info.ID, "err", err)
	}
	poke(s.screenWake)
}
