package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"loop/backend/core"
)

// asked wraps the fake and keeps the arguments of the calls it answers.
type asked struct {
	*fake
	args []string
}

func (a *asked) Call(ctx context.Context, method string, args ...any) (json.RawMessage, error) {
	b, err := json.Marshal(args)
	if err != nil {
		return nil, err
	}
	a.args = append(a.args, method+" "+string(b))
	return a.fake.Call(ctx, method, args...)
}

func newTreeRig(t *testing.T) (*rig, *asked) {
	r := newRig(t)
	a := &asked{fake: r.fake}
	open := r.deps.Open
	r.deps.Open = func(ctx context.Context) (Core, error) {
		_, err := open(ctx)
		return a, err
	}
	r.deps.OpenIdle = func(context.Context) (Core, error) { return a, nil }
	r.fake.channels = []map[string]any{
		{"channel_id": "t1", "name": "Aside", "kind": "thread", "dir": r.dir},
		{"channel_id": "p1", "name": "App", "kind": "project", "dir": r.dir},
		{"channel_id": "w1", "name": "fix/login", "kind": "worktree", "dir": r.dir + "/.worktrees/fix-login"},
	}
	return r, a
}

func TestThreadCommands(t *testing.T) {
	made := core.Channel{ID: "new", Name: "A \x1b[31mname", Kind: core.KindWorktree, Dir: "/p/.worktrees/x"}
	for _, tc := range []struct {
		args   []string
		method string
		want   string
		says   string
	}{
		{[]string{"thread", "new", "--dir", "DIR", "--name", "N"}, "Channels.CreateThread", `[{"name":"N","parent_id":"p1","session":{}}]`, "is channel new"},
		{[]string{"thread", "new", "--channel", "Aside", "--fresh"}, "Channels.CreateThread", `[{"name":"","parent_id":"t1","session":{"mode":"fresh"}}]`, "loop run --channel new"},
		{[]string{"thread", "new", "--channel", "p1", "--at", "u"}, "Channels.CreateThread", `[{"name":"","parent_id":"p1","session":{"mode":"fork","at":"u"}}]`, ""},
		{[]string{"thread", "new", "--channel", "p1", "--session", "s"}, "Channels.CreateThread", `[{"name":"","parent_id":"p1","session":{"mode":"fork","session_id":"s"}}]`, ""},
		{[]string{"thread", "remove", "Aside"}, "Channels.Remove", `["t1"]`, "Removed."},
		{[]string{"thread", "remove", "--tree", "App"}, "Channels.RemoveTree", `["p1",false]`, "Removed."},
		{[]string{"worktree", "new", "--dir", "DIR", "fix/x", "--base", "v1"}, "Channels.CreateWorktree", `[{"base":"v1","branch":"fix/x","name":"","parent_id":"p1"}]`, "Its folder is /p/.worktrees/x."},
		{[]string{"worktree", "remove", "fix/login"}, "Channels.RemoveWorktree", `["w1",false]`, "Removed."},
		{[]string{"worktree", "remove", "--force", "w1"}, "Channels.RemoveWorktree", `["w1",true]`, "Removed."},
		{[]string{"worktree", "remove", "--keep-files", "w1"}, "Channels.Remove", `["w1"]`, "Removed."},
		{[]string{"sessions", "resume", "--dir", "DIR", "s1"}, "Channels.SetSession", `["p1",{"mode":"resume","session_id":"s1"}]`, "next run goes on"},
		{[]string{"sessions", "fresh", "--channel", "p1"}, "Channels.SetSession", `["p1",{"mode":"fresh"}]`, "new conversation"},
		{[]string{"sessions", "fork", "--channel", "p1", "s1", "--at", "u", "--name", "N"}, "Channels.ForkAt", `["p1",{"mode":"fork","session_id":"s1","at":"u"},"N"]`, "is channel new"},
	} {
		t.Run(fmt.Sprint(tc.args), func(t *testing.T) {
			r, a := newTreeRig(t)
			for i, arg := range tc.args {
				if arg == "DIR" {
					tc.args[i] = r.dir
				}
			}
			r.fake.answers[tc.method] = made
			if code := r.run(tc.args...); code != exitOK {
				t.Fatalf("exit %d", code)
			}
			if last := a.args[len(a.args)-1]; last != tc.method+" "+tc.want {
				t.Errorf("asked %s, want %s", last, tc.want)
			}
			r.wantIn("out", tc.says)
			if live := tc.args[1] == "remove" || tc.args[0] == "worktree"; live != (r.fake.opened == 1) {
				t.Errorf("a Loop that works the queue was opened %d times", r.fake.opened)
			}
			if strings.Contains(r.out.String(), "\x1b") {
				t.Error("the name of a channel reached the terminal as it is")
			}
		})
	}
}

func TestSessionLists(t *testing.T) {
	r, a := newTreeRig(t)
	r.fake.answers["Channels.Sessions"] = []core.SessionInfo{
		{ID: "s1", Title: "First \u202eprompt", Model: "m", Messages: 4, UpdatedAt: time.Unix(1_700_000_000, 0), Current: true}, {ID: "s2"},
	}
	r.fake.answers["Channels.Messages"] = []core.SessionMessage{{UUID: "u1", Role: "user", Text: "two\nlines"}}
	r.fake.answers["Channels.Search"] = []core.Channel{{ID: "w1", Name: "fix/login"}}
	for _, args := range [][]string{{"sessions", "--dir", r.dir}, {"sessions", "list", "--channel", "p1"}} {
		if code := r.run(args...); code != exitOK {
			t.Fatal(code)
		}
		r.wantIn("out", "s1 *")
		r.wantIn("out", "First")
		if strings.Contains(r.out.String(), "\u202e") {
			t.Error("a title turned the line around")
		}
	}
	if code := r.run("sessions", "messages", "--channel", "p1", "s1"); code != exitOK || a.args[len(a.args)-1] != `Channels.Messages ["p1","s1"]` {
		t.Fatal(code, a.args)
	}
	r.wantIn("out", "two lines")
	if code := r.run("sessions", "messages", "--channel", "p1", "--json"); code != exitOK || a.args[len(a.args)-1] != `Channels.Messages ["p1",""]` {
		t.Fatal(code, a.args)
	}
	if code := r.run("channels", "search", "login"); code != exitOK || a.args[len(a.args)-1] != `Channels.Search ["login"]` {
		t.Fatal(code, a.args)
	}
	r.wantIn("out", "fix/login")
}

func TestThreadMistakes(t *testing.T) {
	for _, tc := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"worktree", "new"}, exitUsage, "branch is missing"},
		{[]string{"worktree", "new", "a", "b"}, exitUsage, "one argument too many"},
		{[]string{"worktree", "new", " "}, exitUsage, "empty"},
		{[]string{"thread", "twist"}, exitUsage, "there is no"},
		{[]string{"thread", "new", "--fresh", "--session", "s"}, exitUsage, "fresh"},
		{[]string{"worktree", "remove", "--force", "--keep-files", "w1"}, exitUsage, "force"},
		{[]string{"sessions", "resume"}, exitUsage, "session is missing"},
		{[]string{"sessions", "--channel", "x", "--dir", "."}, exitUsage, "channel"},
		{[]string{"thread", "remove", "nobody"}, exitUsage, "There is no channel"},
		{[]string{"sessions", "--dir", t.TempDir()}, exitUsage, "There is no channel for"},
		{[]string{"channels", "search"}, exitUsage, "text is missing"},
	} {
		r, _ := newTreeRig(t)
		if code := r.run(tc.args...); code != tc.code {
			t.Errorf("%v: exit %d", tc.args, code)
		}
		r.wantIn("err", tc.says)
	}
	r, _ := newTreeRig(t)
	r.fake.fails["Channels.RemoveWorktree"] = core.Fail(core.CodeConflict, nil, "It has changes.", "Commit them.")
	if code := r.run("worktree", "remove", "w1"); code != exitFailed {
		t.Errorf("exit %d", code)
	}
	r.wantIn("err", "Commit them.")
}
