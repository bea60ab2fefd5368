package settings

import (
	"loop/backend/config"
	"loop/backend/core"
)

// ForDoctor are the settings as package doctor asks for them.
type ForDoctor struct {
	*Service
	File *config.Source
}

// Problems implements doctor's port.
func (s ForDoctor) Problems() (list []core.SettingsProblem, usable bool) {
	read := s.File.Current()
	return read.Problems, read.Good
}
