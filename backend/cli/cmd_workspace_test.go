package cli

import (
	"fmt"
	"testing"
)

// workspaceRig is a channel whose copy differs in three files.
func workspaceRig(t *testing.T) *rig {
	r := newRig(t)
	r.fake.channels = []map[string]any{{"channel_id": "ch1", "name": "one", "dir": r.dir, "kind": "project"}}
	diff := func(path, state string) map[string]any {
		return map[string]any{"path": path, "state": state, "mark": "m-" + path}
	}
	r.fake.answers["Workspaces.Compare"] = map[string]any{
		"original": "/p", "copy": "/c", "left": []map[string]any{{"text": "copy: x", "reason": "It is larger than 8 MiB."}},
		"differences": []map[string]any{diff("a.md", "changed"), diff("b.md", "both"), diff("c.md", "original-new")},
	}
	for _, m := range []string{"Promote", "Pull", "Anew", "Discard", "Restore"} {
		r.fake.answers["Workspaces."+m] = map[string]any{"id": "t1", "place": "/p"}
	}
	r.fake.answers["Workspaces.Texts"] = map[string]any{"original": "one\n", "copy": "two"}
	return r
}

func TestWorkspace(t *testing.T) {
	for _, tc := range []struct {
		args       []string
		code       int
		call, with string // the last call and its arguments
		says       string
	}{
		{[]string{}, exitOK, "Compare", `["ch1"]`, "changed in the copy      a.md\nchanged in both          b.md\nnew in the original      c.md\nnot compared: copy: x"},
		{[]string{"diff", "a.md"}, exitOK, "Texts", `["ch1" "a.md"]`, "--- original\none\n+++ copy\ntwo\n"},
		{[]string{"promote", "a.md", "b.md"}, exitOK, "Promote", `["ch1" {"a.md":"m-a.md","b.md":"m-b.md"}]`, "loop workspace restore t1"},
		{[]string{"promote", "--all"}, exitOK, "Promote", `["ch1" {"a.md":"m-a.md"}]`, "restore t1"},
		{[]string{"pull", "--all"}, exitOK, "Pull", `["ch1" {"c.md":"m-c.md"}]`, "restore t1"},
		{[]string{"promote", "x.md"}, exitUsage, "Promote", "", "not among the files that differ"},
		{[]string{"promote"}, exitUsage, "Promote", "", "nothing to bring over"},
		{[]string{"anew"}, exitOK, "Anew", "", "This would go to the trash with the copy:\n  changed in the copy      a.md\n  changed in both          b.md\n“loop workspace anew --yes”"},
		{[]string{"anew", "--yes"}, exitOK, "Anew", `["ch1"]`, "restore t1"},
		{[]string{"discard", "/c"}, exitOK, "Discard", `["/c"]`, "restore t1"},
		{[]string{"restore", "t1"}, exitOK, "Restore", `["t1"]`, "/p is as it was before."},
	} {
		t.Run(fmt.Sprint(tc.args), func(t *testing.T) {
			r := workspaceRig(t)
			args := append([]string{"workspace"}, tc.args...)
			if name := append(tc.args, "")[0]; name != "discard" && name != "restore" {
				args = append(args, "--channel", "one")
			}
			if code := r.run(args...); code != tc.code {
				t.Fatal(code, r.err.String())
			}
			if got := r.fake.last["Workspaces."+tc.call]; tc.with == "" && got != nil || tc.with != "" && fmt.Sprintf("%s", got) != tc.with {
				t.Errorf("%s was called with %s", tc.call, got)
			}
			if tc.code == exitOK {
				r.wantIn("out", tc.says)
			} else {
				r.wantIn("err", tc.says)
			}
		})
	}
}

func TestWorkspaceLists(t *testing.T) {
	r := workspaceRig(t)
	r.fake.answers["Workspaces.Left"] = []map[string]any{{"channel_id": "ch1", "copy": "/h/copy", "bytes": 3 << 20, "in_use": true}}
	r.fake.answers["Workspaces.Trash"] = []map[string]any{{"id": "t1", "what": "copy", "place": "/h/copy", "files": 3, "bytes": 2048, "at": "2026-01-02T03:04:05Z"}}
	for command, size := range map[string]string{"copies": "3.0 MiB", "trash": "2.0 KiB"} {
		if r.run("workspace", command) != exitOK {
			t.Fatal(r.err.String())
		}
		r.wantIn("out", size)
		r.wantIn("out", "/h/copy")
	}
}
