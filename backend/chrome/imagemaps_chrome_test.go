//go:build chrome

package chrome

import "testing"

// TestPartsOfImages acts on the links of an image map: in a long image that is scrolled to,
// in frames of the same and of another site, and where another part lies over one.
func TestPartsOfImages(t *testing.T) {
	t.Parallel()
	r := start(t, Options{})
	r.open("imagemap.html")
	r.comes(`loaded`, "2")
	at := r.refs()
	for _, name := range []string{"Hall", "Tower", "Corner", "Inner", "Away", "Hall"} {
		r.eval(`document.title = "-"`)
		r.has(r.must("computer", obj{"action": "click", "ref": at[name]}).Result, `Clicked ref`)
		r.comes(`document.title`, name+" true")
	}
	r.must("computer", obj{"action": "hover", "ref": at["Tower"]})
	if at["Lost"] != 0 {
		t.Error("a part of no image has a ref")
	}
	r.eval(`plan.scrollIntoView(); 0`)
	for _, e := range r.must("read_page", nil).Elements {
		if e.Name == "Hall" && (e.X != 40 || e.Y != 10 || e.Width != 100 || e.Height != 50) {
			t.Errorf("Hall is at %v,%v with %v×%v", e.X, e.Y, e.Width, e.Height)
		}
	}
	r.has(r.must("computer", obj{"action": "click", "ref": at["Behind"]}).Result, "it is covered there by <area id=hall>, which got the click")
	r.comes(`document.title`, "Hall true")
}
