package rulebook

import (
	"strings"
	"testing"

	"loop/backend/config"
	"loop/backend/core"
	"loop/backend/policy"
)

// fixed are settings that count everywhere.
type fixed struct{ effective config.Effective }

func (f fixed) ForPolicy(core.Channel) (config.Effective, error) { return f.effective, nil }

func settingsOf(change func(*config.Config)) fixed {
	c := config.Defaults()
	change(&c)
	return fixed{config.Effective{Config: c, Layers: []config.Layer{{Name: core.LayerGlobal, Config: c}}}}
}

const sampleTest = `{
  "place": {"workspaces": ["/work"]},
  "file_rules": [{"paths": ["/work/secret/**"], "decision": "deny", "id": "mine"}],
  "cases": [
    {"operation": "write", "path": "~/.bashrc", "want": "approve"},
    {"operation": "read", "path": "~/.ssh/id_rsa", "want": "deny"},
    {"operation": "write", "path": "/work/main.go", "want": "allow"},
    {"operation": "write", "path": "/work/secret/a", "want": "deny"},
    {"operation": "write", "path": "/own", "want": "deny"},
    {"connect": "/run/docker.sock.host", "want": "deny"},
    {"exec": ["rm", "-rf", "/usr"], "want": "allow"}
  ]
}`

func TestPolicyTest(t *testing.T) {
	test, err := ParseTest([]byte(sampleTest))
	if err != nil {
		t.Fatal(err)
	}
	p := Policies{Settings: settingsOf(func(c *config.Config) {
		c.Gates.AgentGate.FileRules = []policy.FileRule{{ID: "own", Paths: []string{"/own"}, Decision: policy.Deny}}
	})}
	got, err := p.Test(test, core.Channel{})
	if err != nil || len(got) != 7 {
		t.Fatalf("%+v %v", got, err)
	}
	for i, r := range got {
		if r.Failed() != (i == 6) || r.Case != i+1 || r.What == "" {
			t.Errorf("%+v", r)
		}
	}
	if got[3].Rule != "mine" || got[4].Rule != "own" || got[0].What != "write /home/agent/.bashrc" {
		t.Errorf("%+v", got)
	}
}

func TestPolicyTestsThatCannotBeRead(t *testing.T) {
	for name, doc := range map[string]string{
		"empty": ``, "no cases": `{}`, "unknown": `{"case":[]}`, "more": `{"cases":[{"connect":"/a","want":"deny"}]} x`,
		"want": `{"cases":[{"connect":"/a","want":"no"}]}`, "two": `{"cases":[{"connect":"/a","path":"/b","operation":"read","want":"deny"}]}`,
		"operation": `{"cases":[{"path":"/b","operation":"eat","want":"deny"}]}`, "none": `{"cases":[{"path":"/b","want":"deny"}]}`,
		"nothing": `{"cases":[{"want":"deny"}]}`, "huge": strings.Repeat(" ", maxTest+1),
	} {
		if _, err := ParseTest([]byte(doc)); core.AsFailure(err).Code != core.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, doc := range map[string]string{
		"policy": `{"policy":"other","cases":[{"connect":"/a","want":"deny"}]}`,
		"place":  `{"place":{"home":"relative"},"cases":[{"connect":"/a","want":"deny"}]}`,
		"rule":   `{"file_rules":[{"paths":["x["],"decision":"deny"}],"cases":[{"connect":"/a","want":"deny"}]}`,
	} {
		test, err := ParseTest([]byte(doc))
		if err == nil {
			_, err = Policies{Settings: settingsOf(func(*config.Config) {})}.Test(test, core.Channel{})
		}
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

var recorded = []core.GateRecord{
	{Kind: "file", Operation: "write", Target: "/home/u/.bashrc", Decision: "allowed", By: "window", Digest: "d"},
	{Kind: "file", Operation: "read", Target: "/home/u/.ssh/id", Decision: "denied", By: "a rule", Rule: "credential.home", Category: "credential"},
	{Kind: "counted", Operation: "read", Decision: "allowed", By: "a rule", Rule: "x", Calls: 7},
	{Kind: "execve", Operation: "run", Target: "git push", Decision: "denied", By: "window", Digest: "d"},
	{Kind: "connect", Operation: "connect", Target: "@x", Decision: "denied", By: "the policy"},
}

func TestReplay(t *testing.T) {
	got, err := Replay([]byte(`{"default_decision":"allow","file_rules":[{"paths":["/home/*/.bashrc"],"decision":"approve"}]}`), recorded)
	if err != nil || len(got) != 4 {
		t.Fatalf("%+v %v", got, err)
	}
	for i, want := range [][2]string{{"approve", "approve"}, {"deny", "allow"}, {"approve", "allow"}, {"approve", "allow"}} {
		if got[i].Want != want[0] || got[i].Got != want[1] {
			t.Errorf("%+v", got[i])
		}
	}
	if _, err := Replay([]byte(`{`), recorded); err == nil {
		t.Error("a document that is no policy")
	}
}

func TestSuggest(t *testing.T) {
	asked := func(target, decision string) core.GateRecord {
		return core.GateRecord{Kind: "file", Operation: "write", Target: target, Decision: decision, By: "window", Digest: "d"}
	}
	text, err := Suggest([]core.GateRecord{
		asked("/home/u/.bashrc", "allowed"), asked("/home/u/.bashrc", "allowed"), asked("/home/u/.zshrc", "allowed"), asked("/home/u/.zshrc", "denied"),
		{Kind: "file", Operation: "read", Target: "/home/u/.ssh/id", Decision: "allowed", By: "window", Digest: "d", Category: "credential"},
	}, policy.Place{})
	if err != nil || strings.Count(text, "paths") != 1 || !strings.Contains(text, ".bashrc") || !strings.Contains(text, "each of 2 times") {
		t.Errorf("%s %v", text, err)
	}
	if text, err := Suggest(recorded[1:], policy.Place{}); text != "" || err != nil {
		t.Errorf("%s %v", text, err)
	}
}
