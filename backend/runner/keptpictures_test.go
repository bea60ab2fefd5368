package runner

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"loop/backend/core"
	"loop/backend/runner/transcript"
)

func shows(id string, pictures ...string) string {
	var blocks []string
	for _, p := range pictures {
		blocks = append(blocks, fmt.Sprintf(`{"type":"image","source":{"type":"base64","media_type":"image/png","data":%q}}`,
			base64.StdEncoding.EncodeToString([]byte(p))))
	}
	return `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"` + id + `","content":[` +
		strings.Join(blocks, ",") + `]}]}}` + "\n"
}

// The picture of a tool is kept where those of prompts are, and the result refers to it.
// What is no picture, or more than is kept of a run, is left out with a word.
func TestPicturesOfToolsAreKept(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r, _ := newSpawnRig(t, plays(turn("one")+shows("t1", "picture one", "no")+shows("t2", "four")+goodResult, 0))
		r.ports.Attachments = &shelf{}
		r.start()
		defer r.quit()
		run := r.ended(r.prompt("c", "look").ID, time.Minute)
		if run.State != core.RunDone {
			t.Fatalf("%+v", run)
		}
		got := map[string]core.ToolResult{}
		for _, data := range r.told(run.ID, core.EventToolResult) {
			var res core.ToolResult
			if err := json.Unmarshal([]byte(data), &res); err != nil {
				t.Fatal(err)
			}
			got[res.ToolUseID] = res
		}
		if p := got["t1"].Pictures; len(p) != 1 || p[0].ID != "picture one" || got["t1"].Output != "[image left out]\n[image]" {
			t.Errorf("first: %+v", got["t1"])
		}
		if p := got["t2"].Pictures; len(p) != 1 || p[0].Bytes != 4 || got["t2"].Output != "[image]" {
			t.Errorf("second: %+v", got["t2"])
		}
	})
}

func TestPicturesOfARunAreBounded(t *testing.T) {
	s := New(Ports{Attachments: &shelf{}, Log: quiet}, Options{})
	w := newWork(t.Context(), s, core.Run{ID: "r", ChannelID: "c"})
	w.shown = maxPictures - 5
	items := w.parser.Parse(transcript.Line{Data: []byte(shows("t", "four", "four"))})
	w.keepPictures(t.Context(), items)
	if r, _ := items[0].Data.(core.ToolResult); len(r.Pictures) != 1 || !strings.Contains(r.Output, "left out") || items[0].Pictures != nil {
		t.Errorf("%+v", items[0])
	}
}
