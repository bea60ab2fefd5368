package dialog

import (
	"slices"
	"testing"
	"time"

	"loop/backend/core"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func TestRequestOfAnApproval(t *testing.T) {
	a := core.Approval{
		Kind: core.ApprovalFile, Title: "Write to a file outside the project", Target: "/home/ana/.gitconfig",
		AskedAs: "../.gitconfig", Why: "No rule covers writes in the home folder.",
		Risk: "Changes how Git behaves for every project in this container.",
		Processes: []core.ApprovalProcess{
			{Pid: 3, Exe: "/usr/bin/git", Command: "git config --global rerere.enabled true"},
			{Pid: 2, Exe: "/bin/bash", Command: "bash -c 'git config …'"}, {Pid: 1, Command: "claude --print"},
		},
		Calls: 2, Diff: "--- a\n+++ b\n@@ -1 +1,2 @@\n-old\n+--- new\n+new\n", Deadline: noon.Add(9 * time.Minute),
	}
	r := requestOf(a, "api-server › Fix the flaky login test", 2, noon)
	want := Request{
		Title: "git wants to write to a file outside the project", Target: "/home/ana/.gitconfig",
		Facts: []Fact{
			{Label: "Asked as", Text: "../.gitconfig"},
			{Label: "Channel", Text: "api-server › Fix the flaky login test"},
			{Label: "Who", Text: "claude → bash → git config --global rerere.enabled true"},
			{Label: "Why asked", Text: "No rule covers writes in the home folder."},
			{Label: "If allowed", Text: "Changes how Git behaves for every project in this container."},
			{Label: "Calls", Text: "2 calls wait for this one answer."},
			{Label: "Change", Text: "2 lines added, 1 line removed. Loop shows them."},
		},
		Note: "Denied at 12:09 if nobody answers. Enter and Esc deny. 2 more wait in Loop.",
	}
	if r.Title != want.Title || r.Target != want.Target || r.Note != want.Note || r.ReviewOnly || !slices.Equal(r.Facts, want.Facts) {
		t.Errorf("got  %+v\nwant %+v", r, want)
	}
}

func TestNoteNamesTheDayWhenItIsAnother(t *testing.T) {
	for _, c := range []struct {
		deadline time.Time
		others   int
		want     string
	}{
		{time.Time{}, 0, "It waits until you answer. Enter and Esc deny."},
		{noon.Add(12 * time.Hour), 1, "Denied at 00:00 on 23 November if nobody answers. Enter and Esc deny. 1 more waits in Loop."},
		{noon.In(time.FixedZone("", 3600)), 0, "Denied at 12:00 if nobody answers. Enter and Esc deny."},
	} {
		if got := noteOf(core.Approval{Deadline: c.deadline}, c.others, noon); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// A flood's question is many questions, which only the window shows.
func TestAFloodIsOnlyReviewed(t *testing.T) {
	r := requestOf(core.Approval{Kind: core.ApprovalFlood, Title: "This run asks too much", Target: "214 questions",
		Processes: []core.ApprovalProcess{{Command: "claude"}}}, "", 0, noon)
	if !r.ReviewOnly || r.Title != "This run asks too much" {
		t.Errorf("%+v", r)
	}
}

// The shell's own command is shown, and all of its line on demand.
func TestAShortCommandStandsForAllOfIt(t *testing.T) {
	claude := core.ApprovalProcess{Exe: "/usr/local/bin/claude", Command: "claude --print", Short: "claude"}
	bash := core.ApprovalProcess{Exe: "/usr/bin/bash", Command: "/bin/bash -c eval 'make'", Short: "make"}
	for want, list := range map[Fact][]core.ApprovalProcess{
		{"Who", "claude → bash → make", bash.Command}:                {bash, claude},
		{"Who", "claude", claude.Command}:                            {claude},
		{"Who", "claude → bash → git status", ""}:                    {{Exe: "/usr/bin/git", Command: "git status"}, bash, claude},
		{"Who", "claude → evil (says it is git status)", ""}:         {{Exe: "/work/evil", Command: "git status"}, claude},
		{"Who", "claude → x -> git (says it is x -> git -> sh)", ""}: {{Exe: "/work/x → git", Command: "x → git → sh"}, claude},
		{"Who", "claude → -bash", ""}:                                {{Exe: "/usr/bin/bash", Command: "-bash"}, claude},
		{"Who", "claude → A program", ""}:                            {{}, claude},
		{Label: "Who"}:                                               nil,
	} {
		if got := chain(list); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}

func TestAClauseBecomesASentence(t *testing.T) {
	for in, want := range map[string]string{
		"the rule x says to ask": "The rule x says to ask.", "All of it.": "All of it.", "": "", "\xff": "\xff", "cut …": "Cut …",
	} {
		if got := sentence(in); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}

func TestAProgramWithoutANameHasATitle(t *testing.T) {
	for want, a := range map[string]core.Approval{
		"A program wants to run ls": {Title: "Run ls", Processes: []core.ApprovalProcess{{Pid: 4}}},
		"Run ls":                    {Title: "Run ls"},
		"":                          {Processes: []core.ApprovalProcess{{Exe: "/bin/sh"}}},
	} {
		if got := titleOf(a); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
