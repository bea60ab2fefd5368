package rulebook

import (
	"context"
	"slices"

	"loop/backend/config"
	"loop/backend/core"
)

// files are the settings files that may have rules, with what is wrong with them.
func (b *Book) files(ctx context.Context, ch core.Channel, e config.Effective, stopped error) []core.GateRuleFile {
	snap := b.Global()
	own := core.GateRuleFile{Origin: core.RuleYours, Path: snap.Path, Problems: ofGate(snap.Problems), LastGood: snap.Err != nil && snap.Good}
	out := []core.GateRuleFile{own}
	paths := []string{}
	note := func(path string) *core.GateRuleFile {
		i := slices.Index(paths, path)
		if i < 0 {
			i, paths = len(paths), append(paths, path)
			out = append(out, core.GateRuleFile{Origin: core.RuleProject, Path: path, Approved: slices.Contains(e.Approved, path)})
		}
		return &out[1+i]
	}
	for _, l := range e.Layers[1:] {
		note(l.Path)
	}
	for _, p := range e.Problems {
		f := note(p.Path)
		f.Problems = append(f.Problems, p)
	}
	for _, p := range e.Pending {
		f := note(p.Path)
		f.Waiting, f.SHA256 = p.Fields, p.SHA256
	}
	if stopped != nil {
		why := core.AsFailure(stopped).Cause
		for i := range out {
			if slices.ContainsFunc(out[i].Problems, func(p core.SettingsProblem) bool { return !p.Warning }) {
				out[i].Stopped = why
			}
		}
	}
	if ch.ID != "" {
		top := b.topOf(ctx, ch)
		out = append(out, core.GateRuleFile{Origin: core.RuleRemembered, Path: b.Answers.file(top), Project: top})
	}
	return out
}

// ofGate are the problems for which a file's rules may not be in force: errors, which
// stop all of it, and what concerns the gate.
func ofGate(list []core.SettingsProblem) (out []core.SettingsProblem) {
	for _, p := range list {
		if !p.Warning || len(p.Field) >= len("gates") && p.Field[:len("gates")] == "gates" {
			out = append(out, p)
		}
	}
	return out
}

// layerOfProject is the layer of the n-th of projectsOf.
func layerOfProject(e config.Effective, n int) int {
	for i, l := range e.Layers[1:] {
		if len(rulesOf(projectRules(l))) == 0 {
			continue
		}
		if n == 0 {
			return i + 1
		}
		n--
	}
	return 0
}
