package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loop/backend/core"
)

func TestGateLogCommands(t *testing.T) {
	file := filepath.Join(t.TempDir(), "test.json")
	if err := os.WriteFile(file, []byte(`{"cases":[]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	records := []core.GateRecord{
		{ID: "abc1", ChannelID: "ch1", RunID: "run1", Kind: "file", Operation: "read", Target: "/home/ana/.ssh/id\x1b[2J", Rule: "credential.home", Decision: "denied",
			By: "a rule", Calls: 3, ToolUseID: "toolu_1", Policy: "4", Hash: "h1", Pid: 7, Command: "cat x"},
	}
	good, bad := core.GateTestResult{Case: 1, What: "write /a", Want: "deny", Got: "deny"}, core.GateTestResult{Case: 2, What: "write /b", Want: "deny", Got: "allow"}
	for name, tc := range map[string]struct {
		args   []string
		method string
		answer any
		says   string
		code   int
	}{
		"log":            {[]string{"log", "--run", "run1"}, "GateLog.Read", records, "rule credential.home", exitOK},
		"log as JSON":    {[]string{"log", "--json"}, "GateLog.Read", records, `"calls": 3`, exitOK},
		"why":            {[]string{"why", "abc"}, "GateLog.Read", records, "toolu_1", exitOK},
		"why none":       {[]string{"why", "abc"}, "GateLog.Read", []core.GateRecord{}, "No decision", exitUsage},
		"verify":         {[]string{"verify"}, "GateLog.Verify", []core.GateLogFile{{File: "a", Records: 2}}, "Checked 2 records", exitOK},
		"verify broken":  {[]string{"verify"}, "GateLog.Verify", []core.GateLogFile{{File: "a", Broken: "line 2 is no record"}}, "line 2", exitFailed},
		"test":           {[]string{"test", file}, "GateLog.Test", []core.GateTestResult{good}, "0 of 1", exitOK},
		"test fails":     {[]string{"test", file}, "GateLog.Test", []core.GateTestResult{good, bad}, "(default)", exitFailed},
		"test as JSON":   {[]string{"test", file, "--json"}, "GateLog.Test", []core.GateTestResult{good, bad}, `"want"`, exitFailed},
		"test no file":   {[]string{"test", file + "x"}, "GateLog.Test", nil, "cannot be read", exitUsage},
		"replay":         {[]string{"replay", "run1", "--policy", file}, "GateLog.Replay", []core.GateTestResult{bad}, "1 of 1", exitFailed},
		"replay without": {[]string{"replay", "run1"}, "GateLog.Replay", nil, "policy", exitUsage},
		"suggest":        {[]string{"suggest"}, "GateLog.Suggest", "\"file_rules\": [\n]\n", "file_rules", exitOK},
		"suggest none":   {[]string{"suggest"}, "GateLog.Suggest", "", "nothing to suggest", exitOK},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.fake.answers[tc.method] = tc.answer
			code := r.run(append([]string{"gate"}, tc.args...)...)
			said := r.out.String() + r.err.String()
			if code != tc.code || !strings.Contains(said, tc.says) || strings.Contains(said, "\x1b[2J") {
				t.Fatalf("exit %d, said %q", code, said)
			}
		})
	}
}

func TestGateLogIsFollowed(t *testing.T) {
	r := newRig(t)
	one, two := core.GateRecord{Operation: "read", Target: "/one", Hash: "1"}, core.GateRecord{Operation: "read", Target: "/two", Hash: "2"}
	reads := 0
	r.fake.handle = func(method string, _ []json.RawMessage) (any, bool, error) {
		if method != "GateLog.Read" {
			return nil, false, nil
		}
		if reads++; reads == 1 {
			r.fake.publish(core.EventGateDecided, "run1", false, core.GateDecisions{})
			return []core.GateRecord{one}, true, nil
		}
		r.fake.drop()
		return []core.GateRecord{one, two}, true, nil
	}
	if code := r.run("gate", "log", "--follow"); code != exitOK {
		t.Fatalf("exit %d: %s", code, r.err.String())
	}
	if said := r.out.String(); strings.Count(said, "/one") != 1 || strings.Count(said, "/two") != 1 {
		t.Errorf("said %q", said)
	}
}

func TestAnAnswerForGoodShowsItsRule(t *testing.T) {
	r := newRig(t)
	held := core.Approval{ID: "3f2a", Title: "Write to a file", Target: "/a", From: "/tmp/a", Calls: 3, Digest: "d",
		Offers: []core.ApprovalOffer{{Scope: core.ScopeAlways, Rule: `{"paths":["/a"]}`, Of: 9}}}
	r.fake.answers["Gate.Pending"], r.fake.answers["Gate.Answer"] = []core.Approval{held}, core.Approval{State: core.ApprovalAllowed}
	if code := r.run("gate", "allow", "3f2a", "--scope", "always"); code != exitOK {
		t.Fatalf("exit %d", code)
	}
	for _, want := range []string{"from /tmp/a", "3 calls wait", `stores the rule {"paths":["/a"]}`, "of the last 9 decisions"} {
		if !strings.Contains(r.err.String(), want) {
			t.Errorf("no %q in %q", want, r.err.String())
		}
	}
}
