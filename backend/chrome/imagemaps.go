package chrome

import (
	"context"

	"github.com/chromedp/cdproto/dom"
)

// area is a part of an image that is a link. Chromium gives it no box of its own.
type area struct {
	image node
	box   box     // a part of it with its middle inside, in CSS pixels from the corner of the image's border
	w, h  float64 // of the image with its border
}

const imageText = `const image = e => {
	const map = e.localName === "area" && e.closest("map");
	return map && [...e.getRootNode().querySelectorAll("img[usemap]")].find(i =>
		i.useMap.slice(i.useMap.indexOf("#") + 1) === map.name && i.getClientRects().length) || null;
};`

// areaShape says where an area is in its image, from the corner of the image's border as
// Chromium counts: x, y, width and height of a part of it, and width and height of the image.
const areaShape = `function() {` + imageText + `
	const img = image(this);
	if (!img) return null;
	const w = img.offsetWidth, h = img.offsetHeight;
	const c = this.coords.split(/[\s,;]+/).filter(n => n).map(n => parseFloat(n) || 0);
	const around = (x, y) => [Math.min(...x), Math.min(...y), Math.max(...x) - Math.min(...x), Math.max(...y) - Math.min(...y)];
	const poly = () => {
		const x = c.filter((_, i) => i % 2 === 0), y = c.filter((_, i) => i % 2 === 1), all = around(x, y);
		const inside = (px, py) => y.reduce((is, yi, i) => {
			const j = (i || y.length) - 1;
			return yi > py !== y[j] > py && px < (x[j] - x[i]) * (py - yi) / (y[j] - yi) + x[i] ? !is : is;
		}, false);
		const steps = [8, 4, 12, 2, 6, 10, 14, 1, 3, 5, 7, 9, 11, 13, 15];
		for (const i of steps) for (const j of steps) {
			const at = [all[0] + all[2] * i / 16, all[1] + all[3] * j / 16];
			if (inside(...at)) return [at[0] - 1, at[1] - 1, 2, 2];
		}
		return all;
	};
	const shape = this.shape.toLowerCase();
	let at = [0, 0, w, h];
	if (shape.startsWith("circ") && c.length > 2) at = [c[0] - c[2] * 0.7, c[1] - c[2] * 0.7, c[2] * 1.4, c[2] * 1.4];
	else if (shape.startsWith("poly") && c.length > 5) at = poly();
	else if (shape !== "default" && c.length > 3) at = around([c[0], c[2]], [c[1], c[3]]);
	return [...at, w, h];
}`

// areaOf is where an element is in its image; false unless it is part of an image that is shown.
func (t *tab) areaOf(ctx context.Context, n node) (area, bool) {
	var v []float64
	if t.askNode(ctx, n, areaShape, &v) != nil || len(v) != 6 || !(v[4] > 0) || !(v[5] > 0) {
		return area{}, false
	}
	a := area{box: box{v[0], v[1], v[2], v[3]}, w: v[4], h: v[5]}
	var err error
	a.image, err = t.related(ctx, n, `function() {`+imageText+` return image(this) }`)
	return a, err == nil
}

// placed is where an area is in the viewport of its session.
func (t *tab) placed(ctx context.Context, a area) (box, bool) {
	var got struct {
		Model struct {
			Border []float64 `json:"border"`
		} `json:"model"`
	}
	if t.callIn(ctx, a.image.session, dom.CommandGetBoxModel, obj{"backendNodeId": a.image.backend}, &got) != nil {
		return box{}, false
	}
	q := got.Model.Border
	if len(q) != 8 {
		return box{}, false
	}
	at := placement{
		xx: (q[2] - q[0]) / a.w, xy: (q[6] - q[0]) / a.h, x0: q[0],
		yx: (q[3] - q[1]) / a.w, yy: (q[7] - q[1]) / a.h, y0: q[1],
	}.box(a.box)
	return at, at.w > 0 && at.h > 0
}

// ownBox is the box that Chromium gives an element, in the viewport of its session.
func (t *tab) ownBox(ctx context.Context, n node) (box, bool) {
	var q quads
	if t.callIn(ctx, n.session, dom.CommandGetContentQuads, obj{"backendNodeId": n.backend}, &q) != nil {
		return box{}, false
	}
	return q.first()
}

// boxOf is where an element is in the viewport of its session; false if it is nowhere.
func (t *tab) boxOf(ctx context.Context, n node, role string) (box, bool) {
	at, ok := t.ownBox(ctx, n)
	if ok || role != "link" {
		return at, ok
	}
	a, ok := t.areaOf(ctx, n)
	if !ok {
		return box{}, false
	}
	return t.placed(ctx, a)
}

// bring scrolls an element into view.
func (t *tab) bring(ctx context.Context, n node, role string) error {
	what := obj{"backendNodeId": n.backend}
	if role == "link" {
		if _, own := t.ownBox(ctx, n); !own {
			if a, ok := t.areaOf(ctx, n); ok { // Chromium would scroll to another place
				what = obj{"backendNodeId": a.image.backend,
					"rect": obj{"x": a.box.x, "y": a.box.y, "width": a.box.w, "height": a.box.h}}
			}
		}
	}
	return t.callIn(ctx, n.session, dom.CommandScrollIntoViewIfNeeded, what, nil)
}
