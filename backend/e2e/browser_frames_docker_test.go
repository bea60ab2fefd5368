//go:build docker

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image/jpeg"
	"io"
	"net/http"
	"slices"
	"strings"

	"loop/backend/core"
)

// framesOf finds a picture for each call of the browser's tools in a run's events, and
// the person who took over and gave back between them.
func (p *browserPane) framesOf(events []core.Event) {
	p.t.Helper()
	var run core.RunID
	calls := map[string]string{} // tools by call
	for _, e := range events {
		var use core.ToolUse
		if e.Type == core.EventToolUse && json.Unmarshal(e.Data, &use) == nil && strings.HasPrefix(use.Name, "mcp__loop-browser__") {
			run, calls[use.ToolUseID] = e.RunID, use.Name
		}
	}
	if len(calls) < 7 {
		p.t.Fatalf("the agent has called %v", calls)
	}
	var frames []core.KeptFrame
	if err := p.s.call("Footage.Frames", &frames, string(run)); err != nil {
		p.t.Fatal(err)
	}
	var kinds []string
	for _, f := range frames {
		kinds = append(kinds, strings.TrimSpace(fmt.Sprint(f.Kind, " ", f.Action)))
		if f.Kind != core.FrameAct {
			continue
		}
		if tool := calls[f.ToolUseID]; tool != "mcp__loop-browser__"+f.Action {
			p.t.Errorf("the frame of %s belongs to %q", f.Action, tool)
		}
		delete(calls, f.ToolUseID)
		data := p.picture(f)
		img, err := jpeg.Decode(bytes.NewReader(data))
		if err != nil {
			p.t.Errorf("the picture of %s: %v, %d bytes, %q", f.Action, err, len(data), f.Why)
			continue
		}
		if size := img.Bounds(); size.Dx() != f.Width || f.Width != 800 || f.ViewWidth != 800 || f.ViewHeight != 600 {
			p.t.Errorf("the picture of %s has %v: %+v", f.Action, size, f)
		}
		if !strings.HasPrefix(f.URL, "http://localhost:8080/") || f.Action == "form_input" && f.Target.Name != "Name" {
			p.t.Errorf("%+v", f)
		}
	}
	if len(calls) != 0 {
		p.t.Errorf("no picture of %v", calls)
	}
	if take, give := slices.Index(kinds, "take"), slices.Index(kinds, "give"); take < 0 || give < take {
		p.t.Errorf("nobody took over and gave back: %q", kinds)
	}
}

// picture is the file of a frame, as the page reads it.
func (p *browserPane) picture(f core.KeptFrame) []byte {
	p.t.Helper()
	req, err := http.NewRequestWithContext(p.t.Context(), http.MethodGet, fmt.Sprintf("%sapi/frames/%d/%s", p.s.url, f.ID, f.Picture), nil)
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+p.s.token)
	res, err := client.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		p.t.Errorf("the picture of %s: %d %v", f.Action, res.StatusCode, err)
	}
	return data
}
