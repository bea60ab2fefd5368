//go:build chrome

package chrome

import (
	"context"
	"testing"
	"time"

	"loop/backend/core"
)

// press clicks as a person does.
func (r *rig) press(x, y float64, button string) {
	for _, kind := range []string{core.InputMove, core.InputDown, core.InputUp} {
		r.Input(core.BrowserInput{Kind: kind, X: x, Y: y, Button: button, ClickCount: 1})
	}
}

func (r *rig) keys(k key) {
	r.Input(core.BrowserInput{Kind: core.InputKey, Key: k.key, Code: k.code, KeyCode: int(k.vk), Text: k.text})
	r.Input(core.BrowserInput{Kind: core.InputKeyUp, Key: k.key, Code: k.code, KeyCode: int(k.vk)})
}

// until waits for a change of what panes show.
func (r *rig) shows(what string, ok func() bool) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), 20*time.Second)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-ctx.Done():
			r.t.Fatalf("never: %s", what)
		case <-tick.C:
		}
	}
}

func (r *rig) popup(kind string) (p core.BrowserPopup) {
	r.t.Helper()
	r.shows("a popup "+kind, func() bool {
		var open bool
		p, open = r.Popup()
		return open && p.Kind == kind
	})
	return p
}

func TestWhatChromiumDoesNotDrawIsOffered(t *testing.T) {
	r := start(t, Options{})
	r.open("pickers.html")
	r.press(60, 35, "left")
	p := r.popup("select")
	if len(p.Options) != 3 || p.Options[0].Label != "One" || !p.Options[0].Chosen || p.Options[1].Group != "More" || !p.Options[2].Disabled || p.Y != 20 {
		t.Fatalf("%+v", p)
	}
	r.fails("no such choice", "answer_popup", obj{"id": p.ID, "index": 2})
	r.press(60, 35, "left")
	p = r.popup("select")
	r.must("answer_popup", obj{"id": p.ID, "index": 1})
	r.has(r.eval(`log.join(", ")`), "input s=Two, change s=Two")
	r.fails("not show that any more", "answer_popup", obj{"id": p.ID, "index": 0})
	r.keys(namedKeys["space"])
	p = r.popup("select")
	r.must("answer_popup", obj{"id": p.ID})
	if _, open := r.Popup(); open {
		t.Error("still open")
	}

	r.press(60, 75, "left")
	p = r.popup("input")
	if p.Input != "color" || p.Value != "#336699" {
		t.Fatalf("%+v", p)
	}
	r.must("answer_popup", obj{"id": p.ID, "value": "#ff0000"})
	r.has(r.eval(`log.join(", ")`), "change c=#ff0000")

	r.press(30, 108, "right")
	if p = r.popup("menu"); p.Link != r.url+"/log.html" {
		t.Fatalf("%+v", p)
	}
	r.press(30, 140, "right") // the page has a menu of its own there
	r.shows("the cursor", func() bool { return r.Cursor() == "grab" })
	r.eval(`new Promise(r => setTimeout(r, 50))`)
	if p, open := r.Popup(); open {
		t.Errorf("a menu over the page's own: %+v", p)
	}
	r.eval(`document.title = typeof loopPopup + typeof loopPopups`)
	r.has(r.eval(`document.title`), "undefinedundefined") // the page has no way to it
}

func TestAnInputMethodShowsWhatItHasSoFar(t *testing.T) {
	r := start(t, Options{})
	r.open("pickers.html")
	r.press(60, 195, "left")
	r.Input(core.BrowserInput{Kind: core.InputCompose, Text: "に"})
	r.Input(core.BrowserInput{Kind: core.InputCompose, Text: "にほ"})
	r.shows("the composition", func() bool { return r.eval(`t.value`) == "にほ" })
	r.Input(core.BrowserInput{Kind: core.InputText, Text: "日本"})
	r.shows("the text", func() bool { return r.eval(`t.value`) == "日本" })
	log := r.eval(`log.join(", ")`)
	r.has(log, "compositionstart")
	r.has(log, "compositionupdate にほ")
	r.has(log, "compositionend 日本")
	r.Input(core.BrowserInput{Kind: core.InputCompose, Text: "x"})
	r.Input(core.BrowserInput{Kind: core.InputCompose})
	r.shows("a given up composition", func() bool { return r.eval(`t.value`) == "日本" })
}

func TestThePickerSaysHowTextLooks(t *testing.T) {
	r := start(t, Options{})
	r.open("pickers.html")
	got := r.must("element_at", obj{"x": 30, "y": 140}).Target
	if got == nil || got.Text == nil || got.Text.Size != 20 || got.Text.Color != "#000000" || got.Text.Contrast != 5.3 {
		t.Fatalf("%+v %+v", got, got.Text)
	}
	up := r.must("parent_of", obj{"ref": got.Ref}).Target
	if up == nil || up.Selector != "body" || up.Text != nil {
		t.Fatalf("%+v", up)
	}
	if n := r.must("find_text", obj{"query": "it"}).Result; n != "1" {
		t.Errorf("found %q", n)
	}
	if n := r.must("find_text", obj{"query": "nowhere"}).Result; n != "0" {
		t.Errorf("found %q", n)
	}
}
