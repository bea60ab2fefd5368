package gate

import "loop/backend/core"

// States of the gate in which it only records; they are those of the settings' mode.
const (
	stateRecord = "record"
	stateShadow = "shadow"
)

// SetMode takes the settings' mode, in which programs are started from now on: record,
// shadow, or any other word for enforce.
func (s *Service) SetMode(mode string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.shown()
	s.mode = mode
	s.tellStatus(was, false)
}

// tellStatus tells the page of the status if it is another, or its clock much later.
func (s *Service) tellStatus(was core.GateStatus, later bool) {
	st := s.shown()
	if later || was.State != st.State || was.Text != st.Text || was.Why != st.Why {
		s.publish(core.NewEvent(core.EventGateStatus, "", "", s.o.Now(), st), false)
	}
}

// shown is the status as a person sees it: a gate that holds, and only records, is not on.
func (s *Service) shown() core.GateStatus {
	st := s.status
	if st.State != "on" && st.State != "unknown" {
		return st
	}
	const holds = "Only credentials, protected sockets, what leads out of the container and the gate's own files are still guarded."
	switch s.mode {
	case stateRecord:
		st.State, st.Text, st.Why = stateRecord, "Gate only records", "gates.agentgate.mode is record, so nothing else is asked or denied. "+holds
	case stateShadow:
		st.State, st.Text = stateShadow, "Gate only watches"
		st.Why = "gates.agentgate.mode is shadow, so what would be asked or denied is only written down. " + holds
	}
	return st
}
