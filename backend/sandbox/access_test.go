package sandbox

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"loop/backend/core"
)

// shown says, for the places that an access decides on, what stands there.
func shown(spec core.Spec, places ...string) string {
	var out []string
	for _, at := range places {
		i := slices.IndexFunc(spec.Mounts, func(m core.Mount) bool { return m.Target == at })
		switch {
		case i < 0:
			out = append(out, "absent")
		default:
			what, mode := "host", "rw"
			if spec.Mounts[i].Source == spec.Seed.Copy && spec.Seed.Copy != "" {
				what = "copy"
			}
			if spec.Mounts[i].ReadOnly {
				mode = "ro"
			}
			out = append(out, what+" "+mode)
		}
	}
	return strings.Join(out, ", ")
}

// TestAccessTable: what is at the agent's folder, and beside it, for each layout and access.
func TestAccessTable(t *testing.T) {
	const dir = "/home/mira/code/my-proj"
	for _, tc := range []struct{ layout, access, at, want string }{
		{LayoutWorkspace, AccessNone, WorkspaceDir, "copy rw, absent, absent"},
		{LayoutWorkspace, AccessRO, WorkspaceDir, "copy ro, host ro, absent"},
		{LayoutWorkspace, AccessRW, WorkspaceDir, "host rw, absent, absent"},
		{LayoutMirror, AccessNone, dir, "copy rw, absent, copy rw"},
		{LayoutMirror, AccessRO, dir, "host ro, absent, host ro"},
		{LayoutMirror, AccessRW, dir, "host rw, absent, host rw"},
		{"", AccessRW, dir, "host rw, absent, host rw"},
	} {
		spec, ex := scoped(t, ScopeSession, subject(dir), func(m *Settings) { m.Layout.Value, m.Access.Value = tc.layout, tc.access })
		if got := shown(spec, tc.at, OriginalDir, dir); got != tc.want || spec.WorkDir != tc.at {
			t.Errorf("%s, %s: %s in %s, want %s", tc.layout, tc.access, got, spec.WorkDir, tc.want)
		}
		copied := strings.Contains(tc.want, "copy")
		if (spec.Seed == core.WorkspaceSeed{Original: dir, Copy: "/home/mira/.loop/channels/" + channelID + "/copy"}) != copied {
			t.Errorf("%s, %s: seed %+v", tc.layout, tc.access, spec.Seed)
		}
		if !slices.ContainsFunc(ex.Origins, func(o core.FieldOrigin) bool { return o.Field == "access" && o.Value == tc.access }) {
			t.Errorf("%s, %s: the explanation does not say so", tc.layout, tc.access)
		}
	}
	if DefaultAccess(LayoutMirror) != AccessRW || DefaultAccess(LayoutWorkspace) != AccessNone {
		t.Error("defaults")
	}
	spec, _ := scoped(t, ScopeAgent, subject(dir), func(m *Settings) {
		m.Layout.Value, m.Access.Value, m.Workdir.Value = LayoutWorkspace, AccessRO, "/work/here"
	})
	if got := shown(spec, "/work/here", OriginalDir, WorkspaceDir); got != "copy ro, host ro, absent" || spec.WorkDir != "/work/here" {
		t.Errorf("a place of the settings: %s in %s", got, spec.WorkDir)
	}
}

// TestNothingLandsInTheAgentsFolder: in the layout workspace, mounts of the settings stay out
// of it.
func TestNothingLandsInTheAgentsFolder(t *testing.T) {
	for target, refused := range map[string]bool{"/workspace": true, "/workspace/x": true, "/agent": true, "/agent/x": true, "/workspaces": false} {
		spec, ex := scoped(t, ScopeSession, subject("/home/mira/code/my-proj"), func(m *Settings) {
			m.Layout.Value, m.Access.Value = LayoutWorkspace, AccessNone
			m.Mounts = append(m.Mounts, Setting[string]{Value: "cache:" + target})
		})
		there := slices.ContainsFunc(spec.Mounts, func(m core.Mount) bool { return m.Source == "cache" })
		if there == refused || (len(ex.Skipped) > 0) != refused {
			t.Errorf("%s: %v %+v", target, there, ex.Skipped)
		}
	}
}

// TestScopeAccessAndMode: for each access, scope and run mode, who shares a container, whose
// state it has, and what of the agent's folder.
func TestScopeAccessAndMode(t *testing.T) {
	modes := map[string]func(*Subject){
		"job":   func(s *Subject) { s.Shared = false },
		"exec":  func(*Subject) {},
		"shell": func(s *Subject) { s.Type, s.RunID = core.TypeShell, "" },
		"plan":  func(s *Subject) { s.Plan = true },
		"demo":  func(s *Subject) { s.Channel.Kind = core.KindDemo },
	}
	var got []string
	fs := projectTree()
	for _, layout := range []string{LayoutMirror, LayoutWorkspace} {
		for _, access := range []string{AccessRW, AccessRO, AccessNone} {
			for _, kind := range []string{ScopeShared, ScopeAgent, ScopeSession, ScopeRun} {
				for _, mode := range sortedKeys(modes) {
					sub, m := subject("/home/mira/code/my-proj"), merged()
					sub.Shared = true
					modes[mode](&sub)
					m.Layout.Value, m.Access.Value, m.Scope.Value, m.Agent = layout, access, kind, "dev"
					h := fs.fill(nil, sub, linuxHost())
					spec, _, err := Resolve(m, sub, h)
					if err == nil {
						err = Validate(spec, h)
					}
					if err != nil {
						t.Fatalf("%s %s %s %s: %v", layout, access, kind, mode, err)
					}
					// What may never be, whatever was chosen.
					for _, mnt := range spec.Mounts {
						written := !mnt.ReadOnly && (mnt.Kind == core.MountWorkspace && mnt.Source != spec.Seed.Copy)
						if written && (access != AccessRW || spec.Plan) {
							t.Errorf("%s %s %s %s: %+v", layout, access, kind, mode, mnt)
						}
					}
					if spec.Scope != "" && (spec.RunID != "" || spec.Plan) {
						t.Errorf("%s %s %s %s: a run's own is shared", layout, access, kind, mode)
					}
					got = append(got, fmt.Sprintf("%-9s %-4s %-7s %-5s | %-15s | %-6s | %s", layout, access, kind, mode, shortScope(spec), owners(spec),
						shown(spec, spec.WorkDir, OriginalDir)))
				}
			}
		}
	}
	golden(t, "scopes.txt", []byte(strings.Join(got, "\n")+"\n"))
}

func shortScope(spec core.Spec) string {
	return strings.ReplaceAll(spec.Scope, channelID, "c")
}

// owners names whose home and whose conversations a container has.
func owners(spec core.Spec) string {
	name := func(id core.ChannelID) string { return strings.ReplaceAll(string(id), channelID, "c") }
	if spec.StateID == "" {
		return name(spec.ChannelID)
	}
	return name(spec.ChannelID) + " " + name(spec.StateID)
}
