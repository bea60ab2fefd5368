package rulebook

import (
	"testing"

	"loop/backend/config"
	"loop/backend/policy"
)

func engineIn(t *testing.T, mode, name string) *policy.Engine {
	t.Helper()
	base, err := policy.Baseline(name, policy.Place{Home: "/home/u", Workspaces: []string{"/work"}})
	if err != nil {
		t.Fatal(err)
	}
	person := policy.Policy{DefaultDecision: policy.Approve, FileRules: []policy.FileRule{
		{ID: "mine", Paths: []string{"/home/**"}, Decision: policy.Deny}, // before the rules for credentials
		{Paths: []string{"/nameless"}, Decision: policy.Approve},
		{ID: "given", Paths: []string{"/home/u/.aws/config"}, Decision: policy.Allow},
	}}
	project := policy.Policy{DefaultDecision: policy.Allow, FileRules: []policy.FileRule{
		{ID: "theirs", Paths: []string{"/work/x"}, Decision: policy.Deny},
		{ID: "grave", Paths: []string{"/work/key"}, Decision: policy.Deny, Category: policy.Credential},
	}}
	e, err := compiled(inMode(mode, policy.Merge(base, person, project)))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestModes(t *testing.T) {
	type says struct {
		decision policy.Decision
		rule     string
	}
	for path, want := range map[string]map[string]says{
		"/home/u/file":        {"enforce": {policy.Deny, "mine"}, "record": {policy.Allow, "mine"}, "shadow": {policy.Allow, "would deny: mine"}},
		"/nameless":           {"enforce": {policy.Approve, ""}, "record": {policy.Allow, ""}, "shadow": {policy.Allow, ""}},
		"/etc/profile":        {"record": {policy.Allow, "startup.system"}, "shadow": {policy.Allow, "would ask: startup.system"}},
		"/other":              {"enforce": {policy.Approve, ""}, "record": {policy.Allow, ""}, "shadow": {policy.Allow, ""}},
		"/work/x":             {"enforce": {policy.Deny, "theirs"}, "record": {policy.Allow, ""}, "shadow": {policy.Allow, ""}},
		"/work/key":           {"record": {policy.Deny, "grave"}, "shadow": {policy.Deny, "grave"}},
		"/home/u/.ssh/id":     {"enforce": {policy.Deny, "mine"}, "record": {policy.Deny, "credential.home"}, "shadow": {policy.Deny, "credential.home"}},
		"/run/loop/x":         {"enforce": {policy.Deny, "gate.files"}, "record": {policy.Deny, "gate.files"}},
		"/proc/sys/x":         {"record": {policy.Deny, "escape.kernel"}, "shadow": {policy.Deny, "escape.kernel"}},
		"/home/u/.aws/config": {"record": {policy.Allow, "given"}},
	} {
		for mode, w := range want {
			v := engineIn(t, mode, policy.NameAgent).File(policy.Write, path)
			if v.Decision != w.decision || w.rule != "" && v.Rule != w.rule {
				t.Errorf("%s %s: %+v, not %+v", mode, path, v, w)
			}
		}
	}
	if v := engineIn(t, config.ModeRecord, policy.NameAgent).Connect("/run/docker.sock.host"); v.Decision != policy.Deny {
		t.Errorf("a socket: %+v", v)
	}
	if v := engineIn(t, config.ModeRecord, policy.NamePlan).File(policy.Write, "/work/main.go"); v.Decision != policy.Deny {
		t.Errorf("a run that plans: %+v", v)
	}
	if v := engineIn(t, "other", policy.NameAgent).File(policy.Write, "/home/u/file"); v.Decision != policy.Deny {
		t.Errorf("an unknown mode: %+v", v)
	}
}

// TestNoModeIsStricter than enforce, nor loosens what is never remembered.
func TestNoModeIsStricter(t *testing.T) {
	enforce := engineIn(t, config.ModeEnforce, policy.NameAgent)
	for _, mode := range []string{config.ModeRecord, config.ModeShadow} {
		e := engineIn(t, mode, policy.NameAgent)
		for _, path := range []string{"/work/a", "/home/u/.bashrc", "/home/u/.ssh/config", "/home/u/.ssh/id", "/home/u/.aws/config", "/etc/shadow", "/dev/sda", "/work/.git/hooks/x", "/tmp/x"} {
			for _, op := range []policy.Operation{policy.Read, policy.Write, policy.Create, policy.Delete, policy.Link} {
				was, is := enforce.File(op, path), e.File(op, path)
				if policy.Tighter(was, is) != was {
					t.Errorf("%s, %s %s: %+v is stricter than %+v", mode, op, path, is, was)
				}
				if !is.Category.Remembered() && is.Decision == policy.Allow && was.Decision != policy.Allow && was.Category == is.Category {
					t.Errorf("%s, %s %s: %+v was %+v", mode, op, path, is, was)
				}
			}
		}
	}
}
