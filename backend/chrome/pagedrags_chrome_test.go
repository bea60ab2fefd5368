//go:build chrome

package chrome

import (
	"testing"

	"loop/backend/core"
)

// TestDragsOfEveryKind drags by the page's drag and drop, also between frames of two sites, by
// pointer events, in fields, over words and on a canvas.
func TestDragsOfEveryKind(t *testing.T) {
	t.Parallel()
	r := start(t, Options{})
	for _, c := range []struct {
		from, to         [2]int
		expression, want string
	}{
		{[2]int{40, 30}, [2]int{230, 30}, `said.slice(1).join()`, "dropped wordsmine on drop,end move"},
		{[2]int{70, 30}, [2]int{90, 30}, `said.slice(1).join()`, "dropped wordsmine on near,end move"},
		{[2]int{40, 30}, [2]int{330, 30}, `said.slice(1).join()`, "end none"},
		{[2]int{40, 30}, [2]int{450, 40}, `said.slice(1).sort().join()`, "dropped in frame words,end none"},
		{[2]int{450, 120}, [2]int{230, 30}, `said.slice(1).sort().join()`, "dropped from frame on drop,ended none"},
		{[2]int{450, 120}, [2]int{450, 40}, `said.slice(1).join()`, "dropped in frame from frame,ended copy"},
		{[2]int{40, 120}, [2]int{140, 160}, `said.slice(1).join()`, "pointer at 110,140"},
		{[2]int{18, 210}, [2]int{110, 210}, `slide.value > 40 && slide.value < 60`, "true"},
		{[2]int{12, 240}, [2]int{75, 240}, `getSelection().toString().trim()`, "select"},
		{[2]int{30, 300}, [2]int{150, 330}, `dots > 7`, "true"},
		{[2]int{305, 258}, [2]int{305, 300}, `sort.innerText.replace(/\n/g, "")`, "BCA"},
	} {
		r.open("drags.html")
		r.comes(`said[0]`, "in")
		r.must("computer", obj{"action": "left_click_drag", "start_x": c.from[0], "start_y": c.from[1], "x": c.to[0], "y": c.to[1]})
		r.comes(c.expression, c.want)
	}
	for _, c := range [][2]string{{"double_click", "select"}, {"triple_click", "select these words"}} {
		r.must("computer", obj{"action": c[0], "x": 30, "y": 240})
		r.comes(`getSelection().toString().trim()`, c[1])
	}
	r.fails("needs start_x, start_y, x and y", "computer", obj{"action": "left_click_drag", "x": 4, "y": 3})
	r.fails("outside of the viewport", "computer", obj{"action": "left_click_drag", "start_x": -4, "start_y": 1, "x": 4, "y": 3})
}

// TestPersonDragsBetweenSites drags by hand as panes do. A page hears the end of a drag that
// another site took.
func TestPersonDragsBetweenSites(t *testing.T) {
	t.Parallel()
	r := start(t, Options{})
	for _, c := range []struct {
		from, to [2]float64
		want     string
	}{
		{[2]float64{40, 30}, [2]float64{230, 30}, "dropped wordsmine on drop,end move"},
		{[2]float64{40, 30}, [2]float64{450, 40}, "dropped in frame words,end none"},
		{[2]float64{450, 120}, [2]float64{230, 30}, "dropped from frame on drop,ended none"},
		{[2]float64{450, 120}, [2]float64{450, 40}, "dropped in frame from frame,ended copy"},
	} {
		r.open("drags.html")
		r.comes(`said[0]`, "in")
		hand := func(kind string, x, y float64) {
			r.Input(core.BrowserInput{Kind: kind, X: x, Y: y, Button: "left", ClickCount: 1})
		}
		hand(core.InputMove, c.from[0], c.from[1])
		hand(core.InputDown, c.from[0], c.from[1])
		n := 4.0
		r.waitFor("the drag", func() bool {
			n = min(n+1, 14)
			hand(core.InputMove, c.from[0]+n, c.from[1])
			r.eval(`1`)
			r.mu.Lock()
			defer r.mu.Unlock()
			return r.active.pointer.drag != nil
		})
		for i := 1.0; i <= 5; i++ {
			hand(core.InputMove, c.from[0]+(c.to[0]-c.from[0])*i/5, c.from[1]+(c.to[1]-c.from[1])*i/5)
			r.eval(`1`)
		}
		hand(core.InputUp, c.to[0], c.to[1])
		r.comes(`said.slice(1).sort().join()`, c.want)
	}
}
