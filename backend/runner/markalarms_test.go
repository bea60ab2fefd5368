package runner

import (
	"encoding/json"
	"testing"
	"time"

	"loop/backend/core"
)

func wrote(id, file string) string {
	return `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"` + id + `","content":"done"}]},` +
		`"tool_use_result":{"type":"create","filePath":"` + file + `","content":"x\n","structuredPatch":[]}}` + "\n"
}

// TestAlarmsOfChangedFiles: a file of the project that reaches further is named as such, by its
// path from the project's folder. One elsewhere is not, as the review does not show it.
func TestAlarmsOfChangedFiles(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		files := map[string]string{
			"/work/.github/workflows/ci.yml": "CI workflow", "/work/.husky/pre-commit": "Git hook", "/work/main.go": "", "/work/docs/.github/workflows/ci.yml": "",
			"/home/loop/.claude/plans/a.md": "", "/workshop/.envrc": "", "/work/../.envrc": "", ".envrc": "Shell start-up",
		}
		said := turn("one")
		for f := range files {
			said += wrote(f, f)
		}
		r, _ := newSpawnRig(t, plays(said+goodResult, 0))
		r.store.channels["c"].Dir = "/work"
		r.start()
		defer r.quit()
		run := r.ended(r.prompt("c", "change them").ID, time.Minute)
		told := r.told(run.ID, core.EventToolResult)
		if run.State != core.RunDone || len(told) != len(files) {
			t.Fatalf("%+v, %d results", run, len(told))
		}
		for _, data := range told {
			var res core.ToolResult
			if err := json.Unmarshal([]byte(data), &res); err != nil || len(res.Files) != 1 {
				t.Fatalf("%v %s", err, data)
			}
			if f := res.Files[0]; f.Alarm != files[f.Path] {
				t.Errorf("%s: %q, want %q", f.Path, f.Alarm, files[f.Path])
			}
		}
	})
}
