//go:build unix

package worktree

import (
	"strings"
	"testing"

	"loop/backend/core"
)

func TestBranches(t *testing.T) {
	r := newRepo(t)
	r.git("branch", "fix/login")
	r.git("branch", "free")
	r.git("worktree", "add", "--quiet", ".worktrees/fix", "fix/login")
	r.write("a.txt", "two\n")
	r.write("new file.txt", "x\n")
	r.git("config", "core.fsmonitor", "touch ran; false")
	list, err := r.s.Branches(t.Context(), r.main, ".")
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]core.Branch{}
	for _, b := range list.Branches {
		at[b.Name] = b
	}
	if len(at) != 3 || !at["main"].Current || at["free"].Where != "" || at["free"].Current || !strings.HasSuffix(at["fix/login"].Where, "/.worktrees/fix") ||
		at["main"].Subject != "one" || at["main"].AtMs == 0 {
		t.Errorf("%+v", list.Branches)
	}
	// The folder of worktrees is one more, as nothing ignores it here.
	if got := strings.Join(list.Changed, ", "); got != "a.txt, .worktrees/, new file.txt" || list.Changes != 3 {
		t.Errorf("%q %d", got, list.Changes)
	}
	list, err = r.s.Branches(t.Context(), r.main, ".worktrees/fix")
	if err != nil || list.Changes != 0 || list.Changed == nil {
		t.Errorf("%+v %v", list, err)
	}
	for _, b := range list.Branches {
		if b.Current != (b.Name == "fix/login") {
			t.Errorf("%+v", b)
		}
	}
	for _, bad := range []string{"..", "/etc", "-x", ""} {
		if _, err := r.s.Branches(t.Context(), r.main, bad); core.AsFailure(err).Code != core.CodeInvalid {
			t.Errorf("%q: %v", bad, err)
		}
	}
	empty := core.Channel{ID: "d", Dir: t.TempDir()}
	if _, err := r.s.Branches(t.Context(), empty, "."); core.AsFailure(err).Code != core.CodeDir {
		t.Error(err)
	}
}

// What an agent wrote into names and subjects is bounded, and what is cut is left out.
func TestBranchesOfAnyText(t *testing.T) {
	var list core.BranchList
	parseRefs("a\x00*\x00/p\x001700000000\x00one\x00\nb\x00 \x00\x00x\x00"+strings.Repeat("s", 1000)+"\xff\x00\nonly\x00part", &list)
	if len(list.Branches) != 2 || !list.Branches[0].Current || list.Branches[0].AtMs != 1_700_000_000_000 || list.Branches[1].AtMs != 0 || len(list.Branches[1].Subject) > 210 {
		t.Errorf("%+v", list)
	}
	parseRefs(strings.Repeat("n\x00 \x00\x001\x00s\x00\n", 1200), &list)
	if len(list.Branches) != maxBranches || !list.More {
		t.Errorf("%d %v", len(list.Branches), list.More)
	}
	parseChanged(" M a\x00?? b\x00X\x00"+strings.Repeat("A  c\x00", 50)+" M \xff", &list)
	if list.Changes != 53 || len(list.Changed) != maxChanged || list.Changed[1] != "b" {
		t.Errorf("%d %q", list.Changes, list.Changed)
	}
}

func FuzzBranches(f *testing.F) {
	f.Add("a\x00*\x00/p\x001\x00s\x00\n", " M a\x00")
	f.Fuzz(func(t *testing.T, refs, status string) {
		var list core.BranchList
		parseRefs(refs, &list)
		parseChanged(status, &list)
		if len(list.Branches) > maxBranches || len(list.Changed) > maxChanged || list.Changes < len(list.Changed) {
			t.Errorf("%d %d %d", len(list.Branches), len(list.Changed), list.Changes)
		}
	})
}
