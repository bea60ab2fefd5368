package chrome

import (
	"context"
	"fmt"

	"github.com/chromedp/cdproto/dom"

	"loop/backend/core"
)

// placement says where the points of a frame are in the viewport of another: a frame may
// be shifted, scaled and turned.
type placement struct{ xx, xy, x0, yx, yy, y0 float64 }

var inPlace = placement{xx: 1, yy: 1}

func (p placement) apply(x, y float64) (float64, float64) {
	return p.xx*x + p.xy*y + p.x0, p.yx*x + p.yy*y + p.y0
}

// after is where p puts what q has put.
func (p placement) after(q placement) placement {
	x0, y0 := p.apply(q.x0, q.y0)
	return placement{
		xx: p.xx*q.xx + p.xy*q.yx, xy: p.xx*q.xy + p.xy*q.yy, x0: x0,
		yx: p.yx*q.xx + p.yy*q.yx, yy: p.yx*q.xy + p.yy*q.yy, y0: y0,
	}
}

// back is which point p puts at x and y; false where p makes a line or a dot of a frame.
func (p placement) back(x, y float64) (float64, float64, bool) {
	d := p.xx*p.yy - p.xy*p.yx
	if d == 0 {
		return 0, 0, false
	}
	x, y = x-p.x0, y-p.y0
	return (p.yy*x - p.xy*y) / d, (p.xx*y - p.yx*x) / d, true
}

// box is the box around where p puts b.
func (p placement) box(b box) box {
	q := make([]float64, 0, 8)
	for _, c := range [][2]float64{{b.x, b.y}, {b.x + b.w, b.y}, {b.x + b.w, b.y + b.h}, {b.x, b.y + b.h}} {
		x, y := p.apply(c[0], c[1])
		q = append(q, x, y)
	}
	out, _ := quadBox(q)
	return out
}

// frameOf is the frame that a session is of.
func (t *tab) frameOf(session string) string {
	t.b.mu.Lock()
	defer t.b.mu.Unlock()
	for frame, s := range t.frames {
		if s == session {
			return frame
		}
	}
	return ""
}

// owner is the element that holds a frame with a session of its own.
func (t *tab) owner(ctx context.Context, session string) (node, error) {
	frame := t.frameOf(session)
	if frame == "" {
		return node{}, core.Fail(core.CodeNotFound, nil, "The frame of the element is gone;", "call read_page again.")
	}
	t.b.mu.Lock()
	candidates := []string{t.session}
	for _, s := range t.frames {
		if s != session {
			candidates = append(candidates, s)
		}
	}
	t.b.mu.Unlock()
	var last error
	for _, s := range candidates {
		var got struct {
			Backend int64 `json:"backendNodeId"`
		}
		if last = t.callIn(ctx, s, dom.CommandGetFrameOwner, obj{"frameId": frame}, &got); last == nil {
			return node{session: s, backend: got.Backend}, nil
		}
	}
	return node{}, last
}

const maxNested = 8 // frames inside frames that have processes of their own

// within is where a session's frame is in the viewport of the session around it.
func (t *tab) within(ctx context.Context, session string) (placement, string, error) {
	o, err := t.owner(ctx, session)
	if err != nil {
		return placement{}, "", err
	}
	var got struct {
		Model struct {
			Content []float64 `json:"content"`
		} `json:"model"`
	}
	if err := t.callIn(ctx, o.session, dom.CommandGetBoxModel, obj{"backendNodeId": o.backend}, &got); err != nil {
		return placement{}, "", err
	}
	var size [2]float64
	if err := t.askIn(ctx, session, t.frameOf(session), `() => [innerWidth, innerHeight]`, &size); err != nil {
		return placement{}, "", err
	}
	q, w, h := got.Model.Content, size[0], size[1]
	if len(q) != 8 || !(w > 0) || !(h > 0) {
		return placement{}, "", core.Fail(core.CodeConflict, nil, "The frame of the element is hidden or has no size;",
			"call read_page to see what is there.")
	}
	return placement{
		xx: (q[2] - q[0]) / w, xy: (q[6] - q[0]) / h, x0: q[0],
		yx: (q[3] - q[1]) / w, yy: (q[7] - q[1]) / h, y0: q[1],
	}, o.session, nil
}

// placement is where a session's frame is in the viewport of the tab.
func (t *tab) placement(ctx context.Context, session string) (placement, error) {
	p := inPlace
	for depth := 0; session != t.session; depth++ {
		if depth == maxNested {
			return p, core.Fail(core.CodeTooMany, nil, fmt.Sprintf("The element is in more than %d frames of other sites.", maxNested),
				"Open the address of one of them with navigate.")
		}
		one, around, err := t.within(ctx, session)
		if err != nil {
			return p, err
		}
		p, session = one.after(p), around
	}
	return p, nil
}

// showFrames scrolls the frames around a session into view.
func (t *tab) showFrames(ctx context.Context, session string) error {
	for depth := 0; session != t.session && depth < maxNested; depth++ {
		o, err := t.owner(ctx, session)
		if err != nil {
			return err
		}
		if err := t.callIn(ctx, o.session, dom.CommandScrollIntoViewIfNeeded, obj{"backendNodeId": o.backend}, nil); err != nil {
			return err
		}
		session = o.session
	}
	return nil
}

// nodesAt are the elements at a place of the viewport: the frames of other sites that are
// there, outermost first, and what is there in the innermost.
func (t *tab) nodesAt(ctx context.Context, x, y float64, inside bool) ([]node, error) {
	nothing := func(err error) error {
		if _, is := isDialog(err); is {
			return err
		}
		return core.Fail(core.CodeNotFound, err, "Nothing is there.", "")
	}
	session := t.session
	var path []node
	for range maxNested {
		m, err := t.metrics(ctx, session)
		if err != nil {
			return path, nothing(err)
		}
		var got struct {
			Backend int64  `json:"backendNodeId"`
			FrameID string `json:"frameId"`
		}
		// Chromium wants to know the place in the document.
		at := m.CSSLayoutViewport
		if err := t.callIn(ctx, session, dom.CommandGetNodeForLocation, obj{"x": int64(x + at.PageX), "y": int64(y + at.PageY),
			"includeUserAgentShadowDOM": inside, "ignorePointerEventsNone": false}, &got); err != nil {
			return path, nothing(err)
		}
		n := node{session: session, backend: got.Backend, frame: got.FrameID}
		path = append(path, n)
		inner, ok := t.frameIn(ctx, n)
		if !ok {
			return path, nil
		}
		p, _, err := t.within(ctx, inner)
		if err != nil {
			return path, nil //nolint:nilerr // the frame itself is the answer then
		}
		if x, y, ok = p.back(x, y); !ok {
			return path, nil
		}
		session = inner
	}
	return path, nil
}

// frameIn is the session of the frame that an element holds, if that has one of its own.
func (t *tab) frameIn(ctx context.Context, n node) (string, bool) {
	t.b.mu.Lock()
	frames := make(map[string]string, len(t.frames))
	for id, s := range t.frames {
		frames[id] = s
	}
	t.b.mu.Unlock()
	for id, s := range frames {
		var got struct {
			Backend int64 `json:"backendNodeId"`
		}
		if s != n.session && t.callIn(ctx, n.session, dom.CommandGetFrameOwner, obj{"frameId": id}, &got) == nil && got.Backend == n.backend {
			return s, true
		}
	}
	return "", false
}
