package sandbox

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"loop/backend/core"
)

const (
	otherID  = core.ChannelID("fedcba9876543210fedcba9876543210")
	threadID = core.ChannelID("00000000000000000000000000000001")
)

// scoped resolves what a channel shares under a scope.
func scoped(t *testing.T, kind string, sub Subject, change func(*Settings)) (core.Spec, core.Explanation) {
	t.Helper()
	fs, m := projectTree(), merged()
	fs["/home/mira/code/other"] = "dir"
	m.Scope, m.Agent = Setting[string]{kind, fromBuiltin}, "dev"
	if change != nil {
		change(&m)
	}
	sub.Shared = true
	h := fs.fill(nil, sub, linuxHost())
	spec, ex, err := Resolve(m, sub, h)
	if err == nil {
		err = Validate(spec, h)
	}
	if err != nil {
		t.Fatal(err)
	}
	return spec, ex
}

// TestWhoSharesAContainer: who shares a container has one name, one hash and one state.
func TestWhoSharesAContainer(t *testing.T) {
	project, thread, other := subject("/home/mira/code/my-proj"), subject("/home/mira/code/my-proj"), subject("/home/mira/code/other")
	thread.Channel.ID, thread.Channel.Kind, thread.Channel.StateID = threadID, core.KindThread, channelID
	other.Channel.ID = otherID
	everybody := []core.Channel{project.Channel, other.Channel}
	project.Others, thread.Others, other.Others = everybody, everybody, everybody
	for _, tc := range []struct {
		scope           string
		key             string
		owner           core.ChannelID
		thread, another bool // share it
	}{
		{ScopeShared, "shared", SharedOwner, true, true},
		{ScopeAgent, "agent:dev:" + channelID, channelID, true, false},
		{ScopeSession, "session:" + channelID, channelID, false, false},
		{ScopeRun, "", channelID, false, false},
	} {
		spec, _ := scoped(t, tc.scope, project, nil)
		if spec.Scope != tc.key || spec.ChannelID != tc.owner {
			t.Errorf("%s: scope %q of %s", tc.scope, spec.Scope, spec.ChannelID)
		}
		for sub, shares := range map[*Subject]bool{&thread: tc.thread, &other: tc.another} {
			o, _ := scoped(t, tc.scope, *sub, nil)
			same := o.Name == spec.Name && o.Hash == spec.Hash && o.Fixed == spec.Fixed && o.Scope == spec.Scope
			if same != shares || (o.Scope == spec.Scope && o.Scope != "") != shares {
				t.Errorf("%s: %s shares it: %v; %s %s", tc.scope, sub.Channel.ID, same, o.Scope, o.Name)
			}
			if o.WorkDir != "/home/mira/code/"+map[bool]string{true: "other", false: "my-proj"}[sub == &other] {
				t.Errorf("%s: %s works in %s", tc.scope, sub.Channel.ID, o.WorkDir)
			}
		}
		for _, m := range spec.Mounts {
			if own := "/home/mira/.loop/channels/" + string(tc.owner) + "/"; m.Kind == core.MountState && !strings.HasPrefix(m.Source, own) {
				t.Errorf("%s: state from %s", tc.scope, m.Source)
			}
		}
		shows := slices.ContainsFunc(spec.Mounts, func(m core.Mount) bool { return m.Target == "/home/mira/code/other" })
		if shows != (tc.scope == ScopeShared) {
			t.Errorf("%s: the other project is in it: %v", tc.scope, shows)
		}
	}
}

// TestScopesKeepApart: whatever differs in who shares a container makes another name.
func TestScopesKeepApart(t *testing.T) {
	sub := subject("/home/mira/code/my-proj")
	names := map[string]string{}
	add := func(what string, spec core.Spec) {
		if before, there := names[spec.Name]; there {
			t.Errorf("%s has the name of %s: %s", what, before, spec.Name)
		}
		if names[spec.Name] = what; len(spec.Name) > 63 {
			t.Errorf("%s: %d characters", what, len(spec.Name))
		}
	}
	for _, agent := range []string{"dev", "de-v", "de_v", "dev-", strings.Repeat("a", 64), strings.Repeat("a", 63) + "b"} {
		spec, _ := scoped(t, ScopeAgent, sub, func(m *Settings) { m.Agent = agent })
		add("agent "+agent, spec)
	}
	session, _ := scoped(t, ScopeSession, sub, nil)
	add("session", session)
	shared, _ := scoped(t, ScopeShared, sub, nil)
	add("all", shared)
	sub.InstallID = "install-2"
	elsewhere, _ := scoped(t, ScopeSession, sub, nil)
	add("another install", elsewhere)
	long, _ := scoped(t, ScopeAgent, sub, func(m *Settings) {
		m.Agent, m.Prefix.Value = strings.Repeat("a", 64), "a-prefix-of-22-letters"
	})
	add("long prefix", long)
	if !regexp.MustCompile(`^loop-agent-dev-my-proj-[0-9a-f]{8}$`).MatchString(firstName(names, "agent dev")) {
		t.Errorf("%v", names)
	}
	// Unicode twins, and folders of which no letter can be kept.
	fs := projectTree()
	for _, dir := range []string{"/home/mira/code/über", "/home/mira/code/u\u0308ber", "/home/mira/code/---", "/home/mira/code/ーー"} {
		fs[dir] = "dir"
		s := subject(dir)
		s.Shared, s.Channel.ID = true, core.ChannelID(NameBase(strings.ReplaceAll(dir, "/", "-"))+string(rune('a'+len(names))))
		m := merged()
		m.Scope.Value = ScopeSession
		spec, _, err := Resolve(m, s, fs.fill(nil, s, linuxHost()))
		if err != nil {
			t.Fatal(err)
		}
		add(dir, spec)
	}
}

func firstName(names map[string]string, what string) string {
	for name, of := range names {
		if of == what {
			return name
		}
	}
	return ""
}

// TestWhatSharesNothing: a plan that the gate does not hold, what is not to be shared, and
// the demo among agents.
func TestWhatSharesNothing(t *testing.T) {
	sub := subject("/home/mira/code/my-proj")
	m := merged()
	m.Agent = "dev"
	for _, kind := range []string{ScopeShared, ScopeAgent, ScopeSession, ScopeRun} {
		m.Scope.Value = kind
		for what, change := range map[string]func(*Subject){
			"plan": func(s *Subject) { s.Plan = true }, "not shared": func(s *Subject) { s.Shared = false },
		} {
			s := sub
			s.Shared = true
			change(&s)
			if sc := scopeOf(m, s, "x"); sc.key != "" || sc.owner != s.Channel.ID {
				t.Errorf("%s of %s: %+v", what, kind, sc)
			}
		}
		s := sub
		s.Shared, s.Channel.Kind = true, core.KindDemo
		if sc := scopeOf(m, s, "x"); sc.wide {
			t.Errorf("the demo shares %s", sc.key)
		}
	}
	m.Scope.Value, sub.Shared, sub.Type = ScopeRun, true, core.TypeShell
	if sc := scopeOf(m, sub, "x"); sc.key != "shell:"+channelID {
		t.Errorf("terminals: %+v", sc)
	}
}

func TestServes(t *testing.T) {
	project := core.Channel{ID: "p", Kind: core.KindProject}
	thread := core.Channel{ID: "t", Kind: core.KindThread, StateID: "p"}
	stranger := core.Channel{ID: "s", Kind: core.KindProject}
	for _, tc := range []struct {
		c       core.Container
		p, t, s bool
	}{
		{core.Container{ChannelID: "p", Scope: "session:p"}, true, false, false},
		{core.Container{ChannelID: "p", Scope: "agent:main:p"}, true, true, false},
		{core.Container{ChannelID: "p"}, true, true, false}, // drained, whatever it was
		{core.Container{ChannelID: SharedOwner, Scope: ScopeShared}, true, true, true},
		{core.Container{ChannelID: "t", Scope: "session:t"}, false, true, false},
	} {
		if Serves(tc.c, project) != tc.p || Serves(tc.c, thread) != tc.t || Serves(tc.c, stranger) != tc.s {
			t.Errorf("%+v", tc.c)
		}
	}
}

// TestSharedLeavesOutWhatCannotBeUsed: another channel's folder that is gone, or that may not
// be given to agents, is no reason for this channel not to work.
func TestSharedLeavesOutWhatCannotBeUsed(t *testing.T) {
	sub := subject("/home/mira/code/my-proj")
	for _, dir := range []string{"/home/mira/gone", "/home/mira", "/home/mira/.ssh", "/", "/home/mira/.loop", ".", "/proc"} {
		sub.Others = append(sub.Others, core.Channel{ID: otherID, Kind: core.KindProject, Dir: dir})
	}
	sub.Others = append(sub.Others, core.Channel{ID: threadID, Kind: core.KindWorktree, Dir: "/home/mira/code/my-proj/.git", ParentDir: "/home/mira/code/my-proj"})
	spec, ex := scoped(t, ScopeShared, sub, nil)
	for _, m := range spec.Mounts {
		if m.Kind == core.MountWorkspace && m.Target != "/home/mira/code/my-proj" {
			t.Errorf("%+v", m)
		}
	}
	if len(ex.Skipped) < 7 {
		t.Errorf("left out: %+v", ex.Skipped)
	}
}
