package daemon

import (
	"loop/backend/config"
	"loop/backend/core"
	"loop/backend/gate"
	"loop/backend/settings"
)

// doctorSettings are the settings as package doctor asks for them.
type doctorSettings struct {
	*settings.Service
	file *config.Source
}

func (s doctorSettings) Problems() (list []core.SettingsProblem, usable bool) {
	read := s.file.Current()
	return read.Problems, read.Good
}

// doctorGate is the gate as package doctor sees it.
type doctorGate struct {
	*gate.Service
	settings *settings.Service
}

func (g doctorGate) Enabled() bool { return g.settings.Current().Gates.AgentGate.Enabled }
