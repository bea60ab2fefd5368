package settings

import (
	"slices"
	"strings"

	"loop/backend/bind"
	"loop/backend/config"
	"loop/backend/core"
)

func (s *Service) Themes() []core.Theme { return s.looks.List() }

func (s *Service) ReadTheme(name, text string) (core.ReadTheme, error) {
	return s.looks.Read(name, []byte(text))
}

// isOwn says that a theme is one of Loop's own.
func isOwn(name string) bool { return slices.Contains(config.OwnThemes, strings.ToLower(name)) }

func (s *Service) KeepTheme(name, text string) (core.Theme, error) {
	t, err := s.looks.Keep(name, []byte(text), isOwn)
	if err == nil {
		s.changed("")
	}
	return t, err
}

func (s *Service) RemoveTheme(name string) error {
	err := s.looks.Remove(name)
	if err == nil {
		s.changed("")
	}
	return err
}

// wear gives the page the imported theme that the settings name. One that is not there is
// told as a problem, and the page looks as the system says.
func (s *Service) wear(st *bind.ConfigStatus) {
	for _, t := range s.looks.List() {
		st.Themes = append(st.Themes, t.Name)
		if strings.EqualFold(t.Name, st.Theme) {
			st.Theme, st.Look = t.Name, &t
		}
	}
	if st.Look != nil || st.Theme == "" || isOwn(st.Theme) {
		return
	}
	st.Problems = append(st.Problems, core.SettingsProblem{
		Path: st.Path, Field: "theme", Warning: true,
		Message: "There is no theme “" + core.CleanTitle(st.Theme) + "”; Loop looks as the system says.",
		Remedy:  "Import it again under that name, or choose another theme in the settings.",
	})
	st.Theme = "system"
}
