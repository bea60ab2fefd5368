package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"loop/backend/core"
)

const (
	recorded   = "two-prompts"
	recordedID = "a83abbf8-ebc8-40e0-b8fa-a52e447e5eaf"
	project    = "/home/me/project"
)

// rig is a Loop folder with the states of channels.
type rig struct {
	*testing.T
	home string
	s    *Service
}

func newRig(t *testing.T) *rig {
	home := t.TempDir()
	return &rig{T: t, home: home, s: New(Options{Home: home, DemoPrefix: "demo-", WorkDir: func(dir string) string { return dir }})}
}

func (r *rig) path(ch core.ChannelID, rest ...string) string {
	return filepath.Join(append([]string{r.home, "channels", string(ch), "claude"}, rest...)...)
}

// put writes a transcript into the folder of the channel's working directory.
func (r *rig) put(ch core.ChannelID, dir string, session, text string) string {
	r.Helper()
	p := r.path(ch, "projects", folder(dir), session+suffix)
	if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
		r.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
		r.Fatal(err)
	}
	return p
}

func recording(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// say is a line of a transcript as the CLI writes it.
func say(role, uuid, parent, text string) string {
	content, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf(`{"parentUuid":%q,"isSidechain":false,"type":%q,"message":{"role":%q,"content":%s},"uuid":%q,"timestamp":"2026-01-02T03:04:05Z"}`+"\n",
		parent, role, role, content, uuid)
}

// TestFolder: the expected names are those that Claude Code 2.1.197 made.
func TestFolder(t *testing.T) {
	long := "/tmp/project/" + strings.TrimSuffix(strings.Repeat(strings.Repeat("d", 60)+"/", 5), "/")
	for dir, want := range map[string]string{
		"/tmp/project/a":            "-tmp-project-a",
		"/tmp/project/ünï cödé_x.y": "-tmp-project--n--c-d--x-y",
		"/tmp/project/e😀x":          "-tmp-project-e--x",
		"/p/.worktrees/fix-login":   "-p--worktrees-fix-login",
		long:                        "-tmp-project-" + strings.Repeat(strings.Repeat("d", 60)+"-", 3) + "dddd-t3e3rx",
	} {
		if got := folder(dir); got != want {
			t.Errorf("%q: %q, want %q", dir, got, want)
		}
	}
}

func TestListOfARecording(t *testing.T) {
	r := newRig(t)
	p := r.put("c", project, recordedID, recording(t, recorded))
	at := time.Unix(1_700_000_000, 0)
	if err := os.Chtimes(p, at, at); err != nil {
		t.Fatal(err)
	}
	list, err := r.s.List(t.Context(), core.Channel{ID: "c", DemoSessionID: recordedID})
	if err != nil || len(list) != 1 {
		t.Fatalf("%v, %v", list, err)
	}
	got := list[0]
	info, err := os.Stat(p)
	if err != nil {
		t.Fatal(err)
	}
	want := core.SessionInfo{
		ID: recordedID, Title: "First prompt", Model: "demo-quick", Dir: project, Branch: "HEAD", Messages: 4,
		SizeBytes: info.Size(), UpdatedAt: got.UpdatedAt, Current: true, Demo: true,
	}
	if got != want || !got.UpdatedAt.Equal(at) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestMessagesOfARecording(t *testing.T) {
	r := newRig(t)
	r.put("c", project, recordedID, recording(t, recorded))
	list, err := r.s.Messages(t.Context(), core.Channel{ID: "c"}, recordedID)
	if err != nil || len(list) != 4 {
		t.Fatalf("%v, %v", list, err)
	}
	for i, want := range []struct{ role, uuid, text string }{
		{"user", "583c8564-ac25-4308-b383-156bd90b2d08", "First prompt"},
		{"assistant", "63151845-e745-49b6-a9de-314b36b9419b", "You said “First prompt”"},
		{"user", "0ee01346-6482-48fd-94f9-a2d1d4822761", "Second prompt"},
		{"assistant", "c1e19058-15ce-45ee-826a-e71a725a8fb6", "You said “Second prompt”"},
	} {
		if m := list[i]; m.Role != want.role || m.UUID != want.uuid || !strings.HasPrefix(m.Text, want.text) || m.At.IsZero() {
			t.Errorf("%d: %+v", i, m)
		}
	}
}

// TestMessagesAreWhatWouldBeResumed: a fork cannot begin in a rewound branch, before a
// compaction, or at messages of tools, of sub-agents and of the CLI itself.
func TestMessagesAreWhatWouldBeResumed(t *testing.T) {
	r := newRig(t)
	r.put("c", project, "s1", ""+
		say("user", "old1", "", "before the compaction")+
		`{"type":"system","subtype":"compact_boundary","uuid":"b0","parentUuid":null,"logicalParentUuid":"old1"}`+"\n"+
		`{"type":"user","isCompactSummary":true,"uuid":"sum","parentUuid":"b0","message":{"role":"user","content":"This session is being continued"}}`+"\n"+
		say("user", "cmd", "sum", "<command-name>/compact</command-name>")+
		`{"type":"assistant","uuid":"syn","parentUuid":"cmd","message":{"role":"assistant","model":"<synthetic>","content":[{"type":"text","text":"No response requested."}]}}`+"\n"+
		say("user", "u1", "syn", "keep")+
		say("assistant", "gone", "u1", "a branch that was left")+
		`{"type":"assistant","uuid":"t1","parentUuid":"u1","message":{"role":"assistant","content":[{"type":"tool_use","id":"x","name":"Bash","input":{}}]}}`+"\n"+
		`{"type":"user","uuid":"t2","parentUuid":"t1","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"x","content":"secret"}]}}`+"\n"+
		`{"type":"assistant","isSidechain":true,"uuid":"h1","parentUuid":"t1","message":{"role":"assistant","content":"helper"}}`+"\n"+
		`{"type":"attachment","uuid":"at","parentUuid":"t2"}`+"\n"+
		`{"type":"assistant","uuid":"a1","parentUuid":"at","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"one"},{"type":"text","text":"two"}]}}`+"\n"+
		say("user", "half", "a1", "a line that is still being written")[:40])
	list, err := r.s.Messages(t.Context(), core.Channel{ID: "c"}, "s1")
	if err != nil || len(list) != 2 || list[0].UUID != "u1" || list[1].UUID != "a1" || list[1].Text != "one\ntwo" {
		t.Fatalf("%+v, %v", list, err)
	}
}

func TestTitles(t *testing.T) {
	for name, tc := range map[string]struct{ text, want string }{
		"first prompt":      {say("user", "1", "", "<command-name>/x</command-name>") + say("user", "2", "1", "  do\nthis  ") + say("user", "3", "2", "then that"), "do this"},
		"the CLI's summary": {`{"type":"summary","summary":"All about it","leafUuid":"1"}` + "\n" + say("user", "1", "", "do this"), "All about it"},
		"the person's":      {say("user", "1", "", "x") + `{"type":"custom-title","customTitle":"Mine"}` + "\n" + `{"type":"ai-title","aiTitle":"Its"}` + "\n", "Mine"},
		"made by the model": {say("user", "1", "", "x") + `{"type":"ai-title","aiTitle":"Its"}` + "\n", "Its"},
		"turned around":     {say("user", "1", "", "a\u202eb\x1b[31mc\x00d"), "ab[31mcd"},
		"too long":          {say("user", "1", "", strings.Repeat("ä", 300)), strings.Repeat("ä", 200) + "…"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.put("c", project, "s1", tc.text)
			list, err := r.s.List(t.Context(), core.Channel{ID: "c"})
			if err != nil || len(list) != 1 || list[0].Title != tc.want {
				t.Errorf("%+v, %v", list, err)
			}
		})
	}
}

func TestListSharesStateAndOrder(t *testing.T) {
	r := newRig(t)
	base := time.Unix(1_700_000_000, 0)
	for i, name := range []string{"older", "newest", "middle", "agent-1a2b", "empty"} {
		text := say("user", "1", "", name)
		if name == "empty" {
			text = `{"type":"queue-operation"}` + "\n"
		}
		p := r.put("parent", project, name, text)
		at := base.Add(time.Duration([]int{0, 20, 10, 30, 40}[i]) * time.Second)
		if err := os.Chtimes(p, at, at); err != nil {
			t.Fatal(err)
		}
	}
	list, err := r.s.List(t.Context(), core.Channel{ID: "child", StateID: "parent", SessionID: "middle"})
	if err != nil || len(list) != 3 {
		t.Fatalf("%+v, %v", list, err)
	}
	for i, want := range []core.SessionID{"newest", "middle", "older"} {
		if list[i].ID != want || list[i].Current != (want == "middle") {
			t.Errorf("%d: %+v", i, list[i])
		}
	}
	none, err := r.s.List(t.Context(), core.Channel{ID: "other"})
	if err != nil || none == nil || len(none) != 0 {
		t.Errorf("a channel without state: %v, %v", none, err)
	}
}

// TestCacheSeesChanges: a summary counts only for the file from which it was made.
func TestCacheSeesChanges(t *testing.T) {
	r := newRig(t)
	ch := core.Channel{ID: "c"}
	r.put("c", project, "s1", say("user", "1", "", "one"))
	for n := 1; n <= 3; n++ {
		list, err := r.s.List(t.Context(), ch)
		if err != nil || len(list) != 1 || list[0].Messages != n {
			t.Fatalf("%d: %+v, %v", n, list, err)
		}
		f, err := os.OpenFile(r.path("c", "projects", folder(project), "s1.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(say("assistant", fmt.Sprint("a", n), "1", "answer")); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestExists(t *testing.T) {
	r := newRig(t)
	r.put("c", project, "s1", "x")
	if err := os.MkdirAll(r.path("c", "projects", folder(project), "dir.jsonl"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		ch            core.Channel
		dir           string
		session       core.SessionID
		exists, known bool
	}{
		"there":                   {core.Channel{ID: "c"}, project, "s1", true, true},
		"a thread's":              {core.Channel{ID: "t", StateID: "c"}, project, "s1", true, true},
		"under another directory": {core.Channel{ID: "c"}, "/elsewhere", "s1", true, true},
		"not there":               {core.Channel{ID: "c"}, project, "s2", false, true},
		"no state":                {core.Channel{ID: "n"}, project, "s1", false, true},
		"a folder":                {core.Channel{ID: "c"}, project, "dir", false, true},
		"no id":                   {core.Channel{ID: "c"}, project, "", false, false},
		"a path":                  {core.Channel{ID: "c"}, project, "../s1", false, false},
		"an option":               {core.Channel{ID: "c"}, project, "-s1", false, false},
		"a channel that is none":  {core.Channel{ID: "../c"}, project, "s1", false, true},
	} {
		if exists, known := r.s.Exists(tc.ch, tc.dir, tc.session); exists != tc.exists || known != tc.known {
			t.Errorf("%s: exists %v, known %v", name, exists, known)
		}
	}
}

func TestMessagesOfNothing(t *testing.T) {
	r := newRig(t)
	r.put("c", project, "s1", "x\n")
	for _, id := range []core.SessionID{"s2", "", "../s1"} {
		if list, err := r.s.Messages(t.Context(), core.Channel{ID: "c"}, id); !errors.Is(err, core.ErrNotFound) || list == nil {
			t.Errorf("%q: %v, %v", id, list, err)
		}
	}
	if _, err := r.s.Messages(t.Context(), core.Channel{ID: "none"}, "s1"); !errors.Is(err, core.ErrNotFound) {
		t.Error(err)
	}
}

func TestCancelledWork(t *testing.T) {
	r := newRig(t)
	r.put("c", project, "s1", say("user", "1", "", "x"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.s.List(ctx, core.Channel{ID: "c"}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
