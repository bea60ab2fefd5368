package cli

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"loop/backend/core"
)

var heldCalls = []core.Approval{
	{ID: "3f2a000000000000", ChannelID: "ch1", Title: "Write to a start-up file", Target: "/home/ana/.bashrc\x1b[2J", Digest: "d1",
		Why: "shells run it", Risk: "it runs later", Deadline: time.Now().Add(time.Minute), Diff: "+evil\x1b[31m",
		Processes: []core.ApprovalProcess{{Pid: 2, Command: "bash -c 'echo hi'"}, {Pid: 1, Command: "claude"}}},
	{ID: "3f2b000000000000", ChannelID: "ch1", Title: "Run a program", Target: "/bin/" + strings.Repeat("x", 300) + " --payload", Digest: "d2"},
}

func TestGateCommand(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		want string // JSON of the answer
		says string
		fail bool
	}{
		"allow":      {args: []string{"allow", "3f2a"}, want: `["3f2a000000000000",{"allow":true,"scope":"once","digest":"d1","by":"command line"}]`, says: "claude → bash -c"},
		"deny":       {args: []string{"deny", "3f2b", "--scope", "run"}, want: `["3f2b000000000000",{"allow":false,"scope":"run","digest":"d2","by":"command line"}]`, says: "denied"},
		"two":        {args: []string{"allow", "3f2"}, says: "2 ids begin", fail: true},
		"none":       {args: []string{"allow", "77"}, says: "Nothing waits", fail: true},
		"without id": {args: []string{"allow"}, says: "the number of the act is missing", fail: true},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.fake.answers["Gate.Pending"], r.fake.answers["Gate.Answer"] = heldCalls, core.Approval{State: core.ApprovalDenied}
			code := r.run(append([]string{"gate"}, tc.args...)...)
			said := r.err.String()
			if (code != exitOK) != tc.fail || !strings.Contains(said, tc.says) || strings.Contains(said, "\x1b[2J") || strings.Contains(said, "\x1b[31m") {
				t.Fatalf("exit %d, said %q", code, said)
			}
			got := ""
			if args := r.fake.last["Gate.Answer"]; args != nil {
				raw, err := json.Marshal(args)
				if err != nil {
					t.Fatal(err)
				}
				got = string(raw)
			}
			if got != tc.want {
				t.Errorf("answered %s", got)
			}
		})
	}
}

func TestGatePending(t *testing.T) {
	r := newRig(t)
	r.fake.answers["Gate.Pending"] = heldCalls
	if code := r.run("gate", "pending"); code != exitOK {
		t.Fatalf("exit %d: %s", code, r.err.String())
	}
	out := r.out.String()
	for _, part := range []string{"3f2a0000", "Write to a start-up file", "--payload", "never"} {
		if !strings.Contains(out, part) {
			t.Errorf("%q is not in\n%s", part, out)
		}
	}
	if strings.Contains(out, "\x1b[2J") {
		t.Error("control characters reach the terminal")
	}
}
