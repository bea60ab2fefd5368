package daemon

import (
	"loop/backend/bind"
	"loop/backend/config"
)

// settings shows the configuration to the page and changes single fields.
type settings struct {
	source *config.Source
	keys   keys
}

func (s settings) Status() bind.ConfigStatus { return s.keys.status(s.source.Current()) }

func (s settings) Set(field string, value any) error {
	_, err := s.source.Set(field, value)
	return err
}

// configStatus leaves every credential out.
func configStatus(snap config.Snapshot) bind.ConfigStatus {
	kind, _ := snap.Config.Credential()
	st := bind.ConfigStatus{Path: snap.Path, Problems: []bind.ConfigProblem{}, HasCredentials: kind != "", CredentialKind: kind, Theme: snap.Config.Theme}
	for _, p := range snap.Problems {
		st.Problems = append(st.Problems, bind.ConfigProblem{Line: p.Line, Col: p.Col, Field: p.Field, Message: p.Message, Remedy: p.Remedy})
	}
	return st
}
