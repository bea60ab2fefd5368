//go:build chrome

package chrome

import (
	"strconv"
	"testing"
	"time"

	"loop/backend/core"
)

// castOf returns the frames of a rig, each acknowledged at once.
func castOf(o *Options) chan core.BrowserFrame {
	frames := make(chan core.BrowserFrame, 1000)
	o.Frame = func(f core.BrowserFrame) {
		f.Ack()
		select {
		case frames <- f:
		default:
		}
	}
	return frames
}

// rest waits until no frame has come for d, and says how many came and whether the last
// one was sharp.
func rest(frames chan core.BrowserFrame, d time.Duration) (n int, sharp bool) {
	for {
		select {
		case f := <-frames:
			n++
			sharp = f.Sharp
		case <-time.After(d):
			return n, sharp
		}
	}
}

func TestCastOfAStaticPageRests(t *testing.T) {
	var o Options
	frames := castOf(&o)
	r := start(t, o)
	r.open("form.html")
	r.Cast(true, 60)
	n, sharp := rest(frames, 3*time.Second)
	if n < 2 || n > 20 || !sharp {
		t.Errorf("%d frames, the last one sharp: %v", n, sharp)
	}
	if n, _ := rest(frames, 3*time.Second); n != 0 {
		t.Errorf("%d frames of a page at rest", n)
	}
	r.open("shadow.html")
	if n, sharp := rest(frames, 3*time.Second); n < 2 || !sharp {
		t.Errorf("after a navigation: %d frames, sharp %v", n, sharp)
	}
	r.must("new_tab", obj{"url": r.url + "/long.html"})
	if n, sharp := rest(frames, 3*time.Second); n < 2 || !sharp {
		t.Errorf("after another tab: %d frames, sharp %v", n, sharp)
	}
	r.Cast(false, 60)
	r.must("computer", obj{"action": "scroll", "delta_y": 500})
	if n, _ := rest(frames, time.Second); n != 0 {
		t.Errorf("%d frames without a cast", n)
	}
}

func TestCastOfMotion(t *testing.T) {
	var o Options
	frames := castOf(&o)
	r := start(t, o)
	r.open("motion.html")
	r.Cast(true, 60)
	<-frames
	n := 0
	for end := time.After(3 * time.Second); ; n++ {
		select {
		case <-frames:
			continue
		case <-end:
		}
		break
	}
	drawn, err := strconv.Atoi(r.eval(`n`))
	t.Logf("%d frames in 3 s; the page drew %d, %v", n, drawn, err)
	if n < 20 && 3*n < drawn { // on a busy computer a page draws little itself
		t.Errorf("%d frames in 3 s", n)
	}
}

func TestInput(t *testing.T) {
	r := start(t, Options{})
	r.open("form.html")
	r.eval(`window.moves = 0; addEventListener("mousemove", e => { moves++; window.lastX = e.clientX })`)
	begun := time.Now()
	for i := range 10_000 {
		r.Input(core.BrowserInput{Kind: core.InputMove, X: float64(i % 1000), Y: 300})
	}
	if d := time.Since(begun); d > time.Second {
		t.Errorf("queueing took %v", d)
	}
	at := r.must("find", obj{"query": "Name"}).Elements[0]
	x, y := at.X+5, at.Y+5
	r.Input(core.BrowserInput{Kind: core.InputDown, X: x, Y: y, Button: "left", ClickCount: 1})
	r.Input(core.BrowserInput{Kind: core.InputUp, X: x, Y: y, Button: "left", ClickCount: 1})
	r.Input(core.BrowserInput{Kind: core.InputKey, Key: "a", Code: "KeyA", KeyCode: 65, Modifiers: core.ModifierCtrl})
	r.Input(core.BrowserInput{Kind: core.InputKeyUp, Key: "a", Code: "KeyA", KeyCode: 65, Modifiers: core.ModifierCtrl})
	r.Input(core.BrowserInput{Kind: core.InputKey, Key: "x", Code: "KeyX", KeyCode: 88, Text: "x"})
	r.Input(core.BrowserInput{Kind: core.InputText, Text: "日本語"})
	var value string
	for end := time.Now().Add(10 * time.Second); value != "x日本語" && time.Now().Before(end); {
		value = r.eval(`new Promise(r => setTimeout(() => r(document.getElementById("name").value), 20))`)
	}
	if value != "x日本語" {
		t.Errorf("the field has %q", value)
	}
	t.Log("moves that the page saw:", r.eval(`moves`))
}
