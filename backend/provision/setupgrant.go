package provision

import (
	"fmt"
	"slices"
	"strings"

	"loop/backend/core"
	"loop/backend/sandbox"
)

// surveySetup reads what was granted of the person's own Claude set-up, and explains each
// file.
func (s *Service) surveySetup(g SetupGrant, why *core.Explanation) (core.ClaudeSetup, error) {
	if !g.Granted || s.o.Setup == nil {
		return core.ClaudeSetup{}, nil
	}
	got, err := s.o.Setup.Survey(g.Allow)
	if err != nil {
		return got, core.Fail(core.CodeDir, fmt.Errorf("read the Claude set-up: %w", err),
			"Your own Claude set-up could not be read.", "Check "+got.Folder+", or set claude_setup to none.")
	}
	origin := func(field, value string) {
		why.Origins = append(why.Origins, core.FieldOrigin{Field: field, Value: value, Layer: g.From.Layer, Path: g.From.Path, Line: g.From.Line})
	}
	for _, f := range got.Files {
		origin("claude_setup["+f.Path+"]", got.Folder+"/"+f.Path)
	}
	for _, name := range got.Settings {
		origin("claude_setup[settings.json: "+name+"]", got.Folder+"/settings.json")
	}
	for _, a := range got.Asks {
		if a.Allowed {
			origin("claude_setup["+a.ID+"]", a.Text)
			continue
		}
		left := core.SkippedMount{Text: a.Text, Reason: "It needs a yes of its own: “" + a.ID + "” in claude_setup_allow."}
		why.Skipped = append(why.Skipped, left)
	}
	for _, l := range got.Left {
		why.Skipped = append(why.Skipped, core.SkippedMount{Text: got.Folder + ": " + l.Text, Reason: l.Reason})
	}
	slices.SortStableFunc(why.Origins, func(a, b core.FieldOrigin) int { return strings.Compare(a.Field, b.Field) })
	return got, nil
}

// placeSetup puts it into the Claude folder of the container's state, or takes it back. That
// it cannot be taken back is a reason not to start.
func (s *Service) placeSetup(r Resolved) error {
	i := slices.IndexFunc(r.Spec.Mounts, func(m core.Mount) bool { return m.Kind == core.MountState && m.Target == sandbox.ClaudeDir })
	if i < 0 || s.o.Setup == nil {
		return nil
	}
	if err := s.o.Setup.Place(r.grant.Granted, r.grant.Allow, r.Spec.Mounts[i].Source); err != nil {
		return core.Fail(core.CodeDir, fmt.Errorf("place the Claude set-up: %w", err),
			"The copies of your own Claude set-up could not be made, or not be taken back.", "Check that the disk is not full, and try again.")
	}
	return nil
}
