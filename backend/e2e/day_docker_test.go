//go:build docker

package e2e

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"loop/backend/core"
)

// worked is what became of a day: what each chore printed, what the gate asked and denied
// during each, and the files that are there at the end.
type worked struct {
	said  []core.ToolResult
	asked map[int][]core.GateRecord
	files string
}

// TestADaysWork does a working day's chores with the real CLI in a real container, under
// the rules that Loop ships and without the gate. All of it ends alike, and nothing asks
// but what the table names with its reason.
func TestADaysWork(t *testing.T) {
	t.Parallel() // mostly waits
	chores := day(goroot(t))
	gated := worksADay(t, chores, true)
	free := worksADay(t, chores, false)
	for i, c := range chores {
		var rules, want []string
		for _, r := range gated.asked[i] {
			if rule := r.Decision + " " + r.Rule; !slices.Contains(rules, rule) {
				rules = append(rules, rule)
			}
			t.Logf("%s: %s %s by %s: %s %s, for %s (%d calls, %d ms)", c.what, r.Decision, r.Rule, r.By, r.Operation, r.Target, r.Command, r.Calls, r.LatencyMs)
		}
		for _, a := range c.asks {
			rule, _, _ := strings.Cut(a, ":")
			want = append(want, "allowed "+rule)
		}
		for _, d := range c.denied {
			want = append(want, "denied "+d)
		}
		if slices.Sort(rules); !slices.Equal(rules, want) {
			t.Errorf("%s: the gate said %q, not %q", c.what, rules, want)
		}
		if g, f := gated.said[i], free.said[i]; len(c.denied) == 0 && (!c.varies && g.Output != f.Output || g.IsError != f.IsError) {
			t.Errorf("%s: with the gate\n%s\nand without\n%s", c.what, g.Output, f.Output)
		} else if testing.Verbose() {
			t.Logf("%s:\n%s", c.what, g.Output)
		}
	}
	if aside := gated.asked[-1]; len(aside) > 0 {
		t.Errorf("not during a chore: %+v", aside)
	}
	if gated.files != free.files {
		t.Errorf("files with the gate\n%s\nand without\n%s", gated.files, free.files)
	}
}

// worksADay lets the CLI do the chores in one run, and allows what the gate asks.
func worksADay(t *testing.T, chores []chore, gate bool) (w worked) {
	t.Helper()
	c := newCaller(t)
	config, err := json.Marshal(map[string]any{
		"anthropic_base_url": c.URL, "anthropic_api_key": "k", "gates": map[string]any{"agentgate": map[string]any{"enabled": gate}},
		"mounts": []string{goroot(t) + ":" + goroot(t) + ":ro"},
		"envs": map[string]string{"GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z", "GIT_PAGER": "cat",
			"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "url.git://127.0.0.1/.insteadOf", "GIT_CONFIG_VALUE_0": "https://example.org/",
			"GOPROXY": "off", "GOTOOLCHAIN": "local", "SOURCE_DATE_EPOCH": "1767225600",
			"NPM_CONFIG_UPDATE_NOTIFIER": "false"}, // of a version that came out on this day
	})
	if err != nil {
		t.Fatal(err)
	}
	s := newHome(t, string(config)).serve()
	dir := dayProject(t)
	ch := s.add(dir)
	for _, ch := range chores {
		in := maps.Clone(ch.step.in)
		for k, v := range in {
			if text, is := v.(string); is {
				in[k] = strings.ReplaceAll(text, "$PROJECT", dir)
			}
		}
		c.steps["day"] = append(c.steps["day"], step{ch.step.tool, in})
	}
	c.steps["aside"] = []step{bash("cd '" + dir + "' && git log --format=%s -1 && echo aside >>notes.md")}
	run := s.prompt(ch, "Do-day")
	answered := map[string]bool{}
	p := s.until(ch, "the end of the day", func(p timeline) bool {
		var list []core.Approval
		s.must("Gate.Pending", &list)
		for _, a := range list {
			if !answered[a.ID] && a.ToolUseID != "" { // which a quick program's question gets later
				answered[a.ID] = true
				s.answers(a, true)
			}
		}
		return ended(p, run)
	})
	if st := outcome(p, run); st.State != core.RunDone {
		t.Fatalf("%+v %+v", st, st.Failure)
	}
	at := map[string]int{} // of a tool call, or one of a subagent's: the chore
	for _, text := range kept(p, run, core.EventToolResult) {
		var r core.ToolResult
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			t.Fatal(err)
		}
		if at[r.ToolUseID] = len(w.said); r.ParentID == "" {
			r.Output = strings.ReplaceAll(r.Output, dir, "PROJECT")
			w.said = append(w.said, r)
		}
	}
	if len(w.said) != len(chores) {
		t.Fatalf("%d results of %d chores: %+v", len(w.said), len(chores), w.said)
	}
	var records []core.GateRecord
	s.must("GateLog.Read", &records, core.GateLogQuery{ChannelID: ch, Limit: 10_000})
	w.asked = map[int][]core.GateRecord{}
	for _, r := range records {
		i, known := at[r.ToolUseID]
		if !known {
			i = -1
		}
		if r.Kind != "counted" && r.Kind != "log" {
			w.asked[i] = append(w.asked[i], r)
		}
	}
	out, err := exec.Command("bash", "-c", `cd "$1" && find . -path '*/objects' -prune -o -path ./.git/index -prune -o -printf '%P %M %l\n' | sort
cd "$2/home" && find . -path '*/objects' -prune -o -path ./.ssh -prune -o -path ./.local/share/pnpm -prune -o -path './.npm/_*' -prune -o -path ./.cache -prune -o -path './go' -prune -o -printf '~/%P %M %l\n' | sort`, "find", dir,
		filepath.Join(s.h.dir, "channels", string(ch))).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	w.files = strings.ReplaceAll(string(out), dir, "PROJECT")
	return w
}

// dayProject is the project as a person has cloned it.
func dayProject(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range dayFiles {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("bash", "-euc", `git init -q -b main && git add . && git -c user.name=A -c user.email=a@example.org commit -q -m 'the project' && git remote add origin https://example.org/app.git`)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_DATE=2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2026-01-01T00:00:00Z")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return dir
}

// goroot is the folder of this computer's Go, which the image does not have.
func goroot(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}
