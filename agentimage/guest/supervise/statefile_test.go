//go:build linux

package supervise

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loop/backend/policy"
	"loop/backend/wire"
)

// shippedJudge is a policy that Loop ships, with what it says of contents.
type shippedJudge struct{ *policy.Engine }

func (j shippedJudge) Exec(path string, argv []string) policy.Verdict {
	return j.Engine.Exec(policy.Command{Path: path, Argv: argv})
}

func (j shippedJudge) Content(path string, before, after []byte) (policy.Verdict, bool) {
	return policy.Verdict{Decision: policy.Allow}, j.Engine.Content(policy.Write, path, before, after)
}

func (j shippedJudge) Excerpt(path string, before, after []byte) (was, is []byte, ok bool) {
	return j.Engine.Excerpt(policy.Write, path, before, after)
}

// TestStateOfTheCLI: the agent CLI keeps a large state that also says what runs later. What
// leaves that as it is passes, also for a run that plans; anything else is asked about, with
// what matters of it, and is denied to a plan.
func TestStateOfTheCLI(t *testing.T) {
	if !keeper(t) {
		return
	}
	dir := filepath.Join(os.Getenv(dirVar), ".claude")
	file := filepath.Join(dir, ".claude.json")
	filler := `{"history": "` + strings.Repeat("x", 3*wire.MaxContent) + `", "numStartups": `
	const server = `, "mcpServers": {"x": {"command": "id"}}`
	for name, c := range map[string]struct {
		policy, tmp, after string
		mode               os.FileMode
		ends               string
		asks               int
	}{
		"a count":                    {policy.NameAgent, "tmp", filler + "2}", 0o600, "ok\n", 0},
		"a server":                   {policy.NameAgent, "tmp", filler + "2" + server + "}", 0o600, "EACCES\n", 1},
		"a mode":                     {policy.NameAgent, "tmp", filler + "2}", 0o666, "EACCES\n", 1},
		"away from where it is held": {policy.NameAgent, "settings.json", filler + "2}", 0o600, "EACCES\n", 1},
		"a count of a plan":          {policy.NamePlan, "tmp", filler + "2}", 0o600, "ok\n", 0},
		"a server of a plan":         {policy.NamePlan, "tmp", filler + "2" + server + "}", 0o600, "EACCES\n", 0},
		"a plan's settings":          {policy.NamePlan, "settings.json", filler + "2}", 0o600, "EACCES\n", 0},
		"more than is read":          {policy.NameAgent, "tmp", filler + "2}" + strings.Repeat(" ", maxDigest), 0o600, "EACCES\n", 1},
	} {
		before := []byte(filler + "1}")
		asAgent(t, func() {
			_ = os.RemoveAll(dir)
			_ = os.Mkdir(dir, 0o755)
			_ = os.WriteFile(file, before, 0o600)
			_ = os.WriteFile(filepath.Join(dir, c.tmp), []byte(c.after), c.mode)
			_ = os.Chmod(filepath.Join(dir, c.tmp), c.mode)
		})
		p, err := policy.Baseline(c.policy, policy.Place{Home: "/home/nobody", State: []string{dir}})
		if err != nil {
			t.Fatal(err)
		}
		engine, err := policy.Compile(p)
		if err != nil {
			t.Fatal(err)
		}
		questions := make(chan wire.Approval, 10)
		got := start(t, Options{Judge: shippedJudge{engine}, Ask: func(_ context.Context, a wire.Approval) wire.Answer {
			questions <- a
			return wire.Answer{ID: 1}
		}}, "renameone", filepath.Join(dir, c.tmp), file).wait(t)
		var asked []wire.Approval
		for len(questions) > 0 {
			asked = append(asked, <-questions)
		}
		if got != c.ends || len(asked) != c.asks {
			t.Errorf("%s: %q, asked %+v", name, got, asked)
		}
		var now []byte
		asAgent(t, func() { now, _ = os.ReadFile(file) })
		if want := map[bool]string{true: c.after, false: string(before)}[c.ends == "ok\n"]; string(now) != want {
			t.Errorf("%s: %d bytes are there", name, len(now))
		}
		if name == "a server" && (len(asked) != 1 || !asked[0].After.Part || !bytes.HasPrefix(asked[0].After.Text, []byte("mcpServers = {\n")) ||
			bytes.Contains(asked[0].After.Text, []byte("xxx")) || len(asked[0].Before.Text) > 0) {
			t.Errorf("%s: asked %+v", name, asked)
		}
	}
}
