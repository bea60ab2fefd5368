//go:build docker

package e2e

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"loop/backend/core"
)

// contents describes every entry of the folders: its mode, its time of change and a
// hash of its text.
func contents(t *testing.T, dirs ...string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			line := fmt.Sprint(info.Mode(), info.ModTime().UnixNano())
			if info.Mode().IsRegular() {
				b, err := os.ReadFile(name)
				if err != nil {
					return err
				}
				line += fmt.Sprintf(" %x", sha256.Sum256(b))
			}
			all[name] = line
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// onDisk mounts another file system on a folder, as people do with data.
func onDisk(t *testing.T, dir string) {
	t.Helper()
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	switch err := syscall.Mount("loop-test", dir, "tmpfs", 0, "size=1m"); {
	case errors.Is(err, syscall.EPERM):
		return // an ordinary user cannot mount, so the folder stays an ordinary one
	case err != nil:
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
}

// TestPlanCannotWrite: an agent that plans first tries to write everywhere: to its
// worktree, to the project with its repository, to an extra folder, a mount and a
// volume, and to a file system mounted in the project. Nothing changes. Reading works,
// and each refused write gives its reason. The same script without a plan changes all
// of these places. After the approval the plan is carried out: where the gate has held it,
// in its container, and where the mounts have, in another.
func TestPlanCannotWrite(t *testing.T) {
	t.Parallel()
	t.Run("under the gate", func(t *testing.T) { planCannotWrite(t, true) })
	t.Run("without the gate", func(t *testing.T) { planCannotWrite(t, false) })
}

func planCannotWrite(t *testing.T, gated bool) {
	c := newCaller(t)
	extra, data := t.TempDir(), t.TempDir()
	volume := "loop-test-plan-" + core.NewID()
	h := newHome(t, fmt.Sprintf(`{"anthropic_base_url":"http://127.0.0.1:%s","anthropic_api_key":"k","gates":{"agentgate":{"enabled":%v}},
		"extra_dirs":[%q],"mounts":["%s:/data","%s:/vol"]}`, c.port, gated, extra, data, volume))
	t.Cleanup(func() { // the containers go before their volume; newHome removes them too late
		h.removeContainers()
		if out, err := docker(context.Background(), "volume", "rm", "-f", volume); err != nil {
			t.Logf("remove %s: %v %s", volume, err, out)
		}
	})
	s := h.serve()
	work := repository(t)
	s.add(work)
	tree := answers[core.Channel](h, "worktree", "new", "--dir", work, "--json", "plan-it")
	disk := filepath.Join(work, "disk")
	onDisk(t, disk)
	in := func(dir, name string) string { return filepath.Join(dir, name) }
	write := func(name string) step {
		return step{"Write", map[string]any{"file_path": name, "content": "written\n"}}
	}
	const git = "git -c user.name=A -c user.email=a@example.com "
	writes := []step{
		{"Edit", map[string]any{"file_path": in(tree.Dir, "a.txt"), "old_string": "one", "new_string": "two"}},
		write(in(tree.Dir, "write.txt")),
		bash("echo > " + in(tree.Dir, "shell.txt")),
		bash(git + "commit --allow-empty -m planned"),
		bash("rm " + in(work, "a.txt")),
		write(in(work, "write.txt")),
		write(in(extra, "write.txt")),
		bash("echo > /data/shell.txt"),
		bash("echo > /vol/shell.txt"),
		{mcp + "create_worktree_thread", map[string]any{"branch": "way-around"}},
	}
	reads := []step{
		bash("ls; cat a.txt; git status --short; git log --oneline"),
		{"Read", map[string]any{"file_path": in(tree.Dir, "a.txt")}},
		bash("echo temporary > /tmp/t && cat /tmp/t"),
		write("/tmp/plan.txt"),
		bash("echo kept > ~/.claude/plan-probe && cat ~/.claude/plan-probe"),
		bash("echo > " + in(disk, "shell.txt")), // the plan has an empty folder there, or a read-only one; checked below
	}
	tries := append(reads, writes...)
	c.steps["without"] = tries
	c.steps["plan"] = append(slices.Clone(tries),
		step{mcp + "queue_message", map[string]any{"content": "Write it.", "delay_seconds": 3600}},
		step{"ExitPlanMode", map[string]any{"plan": "# The plan\n\n1. Write."}})
	c.steps["approved"] = []step{write(in(tree.Dir, "approved.txt"))}

	prompt := func(word string, plan bool) core.RunID {
		var run core.Run
		s.must("Runs.Prompt", &run, map[string]any{
			"client_id": core.NewID(), "channel_id": tree.ID, "prompt": "Do-" + word, "plan": plan, "session": core.SessionStart{Mode: core.SessionFresh},
		})
		return run.ID
	}
	judge := func(run core.RunID, plan bool) {
		t.Helper()
		got := results(s.finished(tree.ID, run), run)
		if len(got) < len(tries) {
			t.Fatalf("plan %v: %d results, want %d: %q", plan, len(got), len(tries), got)
		}
		for i, st := range tries {
			var r core.ToolResult
			_ = json.Unmarshal([]byte(got[i]), &r)
			denied := plan && i >= len(reads)-1
			said := strings.ToLower(r.Output)
			readable := strings.Contains(said, "read-only file system") || strings.Contains(said, "erofs") || strings.Contains(said, "plans first") ||
				gated && (strings.Contains(said, "permission denied") || strings.Contains(said, "eacces"))
			if r.IsError != denied || denied && !readable {
				t.Errorf("plan %v, %s %v: error %v, %q", plan, st.tool, st.in, r.IsError, r.Output)
			}
		}
	}

	before := contents(t, work, extra, data)
	planned := prompt("plan", true)
	judge(planned, true)
	if after := contents(t, work, extra, data); !maps.Equal(before, after) {
		for name, what := range after {
			if before[name] != what {
				t.Errorf("%s was %q and is %q", name, before[name], what)
			}
		}
		t.Error("the plan changed something")
	}
	open := h.questions()
	if len(open) != 1 || open[0].RunID != planned || !open[0].ReadOnly {
		t.Fatalf("open questions %+v", open)
	}

	// The planning agent's own prompts plan as well. The run after the approval does
	// not.
	s.must("Runs.Answer", nil, open[0].ID, core.Answer{Action: core.AnswerApprove, Text: "Do-approved"})
	page := s.until(tree.ID, "the approved run's words", func(p timeline) bool { return strings.Contains(texts(p.Events), "That is done.") })
	if len(page.Queue) != 1 || !page.Queue[0].Plan {
		t.Errorf("queued by the planning agent: %+v", page.Queue)
	}
	if _, err := os.Stat(in(tree.Dir, "approved.txt")); err != nil {
		t.Errorf("what was approved: %v", err)
	}
	var shared, own int // containers of the channel, and of one run
	for _, box := range h.containers() {
		switch {
		case box.Config.Labels[core.LabelRun] != "":
			own++
		case box.Config.Labels[core.LabelScope] == "session:"+string(tree.ID):
			shared++
		}
	}
	if want := map[bool]int{false: 1}[gated]; shared != 1 || own != want {
		t.Errorf("%d containers of the channel and %d of a run, want 1 and %d", shared, own, want)
	}

	// As a control, the same calls do write without a plan.
	judge(prompt("without", false), false)
	for _, name := range []string{
		in(tree.Dir, "write.txt"), in(tree.Dir, "shell.txt"), in(work, "write.txt"), in(extra, "write.txt"), in(data, "shell.txt"),
		in(disk, "shell.txt"), in(work, ".worktrees/way-around/.git"),
	} {
		if _, err := os.Stat(name); err != nil {
			t.Errorf("without a plan: %v", err)
		}
	}
	if _, err := os.Stat(in(work, "a.txt")); err == nil {
		t.Error("without a plan a file was not removed")
	}
	log := exec.CommandContext(t.Context(), "git", "log", "-1", "--format=%s", "plan-it")
	log.Dir = work
	if out, err := log.CombinedOutput(); err != nil || string(out) != "planned\n" {
		t.Errorf("without a plan: git log %q %v", out, err)
	}
}
