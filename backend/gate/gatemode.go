package gate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"loop/backend/core"
)

// States of the gate in which it only records; they are those of the settings' mode.
const (
	stateRecord = "record"
	stateShadow = "shadow"
)

// SetMode takes the settings' mode, in which programs are started from now on: record,
// shadow, or any other word for enforce. folders are those that have another one.
func (s *Service) SetMode(mode string, folders map[string]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.shown()
	s.mode, s.modes = mode, map[string]string{}
	for dir, m := range folders {
		if m != "" && m != mode {
			s.modes[dir] = m
		}
	}
	s.tellStatus(was, false)
}

// SetDebuggers says whether the settings want debuggers. What was seen of them before does
// not count for what comes after.
func (s *Service) SetDebuggers(wanted bool) {
	if wanted {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.shown()
	s.debugs = false
	s.tellStatus(was, false)
}

// tellStatus tells the page of the status if it is another, or its clock much later.
func (s *Service) tellStatus(was core.GateStatus, later bool) {
	st := s.shown()
	if later || was.State != st.State || was.Text != st.Text || was.Why != st.Why || !maps.Equal(was.Modes, st.Modes) {
		s.publish(core.NewEvent(core.EventGateStatus, "", "", s.o.Now(), st), false)
	}
}

// shown is the status as a person sees it: a gate that holds, and only records, is not on.
func (s *Service) shown() core.GateStatus {
	st := s.status
	if len(s.modes) > 0 {
		st.Modes = s.modes // a new one with each change
	}
	if st.State != "on" && st.State != "unknown" {
		return st
	}
	if st.State == "on" && s.debugs {
		st.Text = "Gate on, debuggers allowed"
		st.Why = "gates.agentgate.debuggers is true, so rules about programs are only advice for what a debugger starts."
	}
	const holds = "Only credentials, protected sockets, what leads out of the container and the gate's own files are still guarded."
	switch s.mode {
	case stateRecord:
		st.State, st.Text, st.Why = stateRecord, "Gate only records", "gates.agentgate.mode is record, so nothing else is asked or denied. "+holds
	case stateShadow:
		st.State, st.Text = stateShadow, "Gate only watches"
		st.Why = "gates.agentgate.mode is shadow, so what would be asked or denied is only written down. " + holds
	}
	for _, dir := range slices.Sorted(maps.Keys(st.Modes)) {
		st.Why = strings.TrimSpace(fmt.Sprintf("%s In %s its mode is %s.", st.Why, core.Shortened(dir, 200), st.Modes[dir]))
	}
	return st
}
