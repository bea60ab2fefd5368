//go:build chrome

package chrome

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/input"

	"loop/backend/core"
	"loop/backend/soaktest"
)

// TestGrid clicks all over a page, over one that is scrolled and over a frame of another
// site, at three scales and zoomed: each click is on the CSS pixel that was meant, by the
// agent's tool as by the person's mouse.
func TestGrid(t *testing.T) {
	r := start(t, Options{})
	n := 10
	if soaktest.Whole() {
		n = 100
	}
	for _, place := range []struct {
		page         string
		x, y, dx, dy int // of what is clicked on, and how far the event's place is from the viewport's
		w, h         int
	}{
		{"grid.html", 0, 0, 0, 0, 1280, 800}, {"grid.html?tall", 0, 0, 0, 0, 1280, 800}, {"grid.html?frame", 40, 56, -40, -56, 1100, 650},
	} {
		for _, v := range []core.BrowserView{{Width: 1280, Height: 800, Scale: 1}, {Width: 1280, Height: 800, Scale: 1.5}, {Width: 1280, Height: 800, Scale: 2},
			{Width: 1600, Height: 1000, Scale: 1, Zoom: 1.25}} {
			r.look(v)
			r.open(place.page)
			r.eval(`scrollTo(777, 1234); 0`)
			var want [][2]float64
			tb, err := r.current()
			if err != nil {
				t.Fatal(err)
			}
			// A frame that was just opened gets no clicks until it was drawn.
			for try, there := 0, ""; there != fmt.Sprintf("[%d,%d]", 600+place.dx, 400+place.dy); try++ {
				if try == 100 {
					t.Fatalf("%s: a click is at %s", place.page, there)
				}
				if err := tb.click(t.Context(), 600, 400, input.MouseButtonLeft, 1, 0); err != nil {
					t.Fatal(err)
				}
				there = r.eval(`await ` + wait(`hits.length`) + `; hits.splice(0).pop()`)
			}
			byHand := 0
			for i := range n {
				for j := range n {
					x, y := place.x+i*(place.w-1)/(n-1), place.y+j*(place.h-1)/(n-1)
					want = append(want, [2]float64{float64(x + place.dx), float64(y + place.dy)})
					switch {
					case (i+j)%n == 0: // as the tool does it, which waits for what a click begins
						r.must("computer", obj{"action": "click", "x": x, "y": y})
					case (i+j)%n == n/2:
						err = tb.click(t.Context(), float64(x), float64(y), input.MouseButtonLeft, 1, 0)
					default:
						r.Input(core.BrowserInput{Kind: core.InputMove, X: float64(x), Y: float64(y)})
						r.Input(core.BrowserInput{Kind: core.InputDown, X: float64(x), Y: float64(y), ClickCount: 1})
						r.Input(core.BrowserInput{Kind: core.InputUp, X: float64(x), Y: float64(y), ClickCount: 1})
						if byHand++; byHand%20 == 0 {
							r.eval(`0`) // which comes after them: a hand that is too quick is not heard
						}
					}
					if err != nil {
						t.Fatal(err)
					}
				}
			}
			r.eval(fmt.Sprintf(`await %s; 0`, wait(fmt.Sprintf(`hits.length === %d`, len(want)))))
			var got [][2]float64
			decodeJSON(t, r.must("evaluate_js", obj{"expression": `hits.slice(0, 900)`}).Result, &got)
			for at := 900; at < len(want); at += 900 {
				var more [][2]float64
				decodeJSON(t, r.eval(fmt.Sprintf(`hits.slice(%d, %d)`, at, at+900)), &more)
				got = append(got, more...)
			}
			if len(got) != len(want) {
				t.Fatalf("%s, %+v: %d clicks of %d", place.page, v, len(got), len(want))
			}
			wrong := 0
			for i := range want {
				if got[i] != want[i] {
					if wrong++; wrong < 5 {
						t.Errorf("%s, %+v: click %v came as %v", place.page, v, want[i], got[i])
					}
				}
			}
			if wrong > 0 {
				t.Errorf("%s, %+v: %d clicks are on another pixel", place.page, v, wrong)
			}
		}
	}
}

// wait is a promise of a condition, for at most five seconds.
func wait(condition string) string {
	return `new Promise(r => { const look = n => (` + condition + `) || n > 100 ? r() : setTimeout(look, 50, n + 1); look(0) })`
}
