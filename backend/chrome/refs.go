package chrome

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/chromedp/cdproto/dom"

	"loop/backend/core"
)

const maxRefs = 10_000 // that are kept of one document

// node names an element of a page: Chromium's number for it, and the session and frame
// that the number is one of.
type node struct {
	session, frame string
	backend        int64
}

// ref is an element that was read.
type ref struct {
	node
	role, name string
}

// refTable numbers the elements of one document, from 1. An element keeps its number for
// as long as the document lasts, so that an older number never means a newer element.
// It is guarded by the Browser's mu.
type refTable struct {
	byRef  []ref
	byNode map[node]int
	old    int // numbers before byRef's first: of elements that were read too long ago
	former int // numbers that the document before had
}

func (r *refTable) forget() {
	if len(r.byRef) > 0 {
		r.former = r.old + len(r.byRef)
	}
	r.byRef, r.byNode, r.old = nil, nil, 0
}

// number is an element's ref. Where there are too many, the older half is given up.
func (r *refTable) number(e ref) int {
	if n, ok := r.byNode[e.node]; ok {
		r.byRef[n-1-r.old] = e
		return n
	}
	if len(r.byRef) >= maxRefs {
		for _, o := range r.byRef[:maxRefs/2] {
			delete(r.byNode, o.node)
		}
		r.byRef = append([]ref(nil), r.byRef[maxRefs/2:]...)
		r.old += maxRefs / 2
	}
	if r.byNode == nil {
		r.byNode = map[node]int{}
	}
	r.byRef = append(r.byRef, e)
	r.byNode[e.node] = r.old + len(r.byRef)
	return r.old + len(r.byRef)
}

func (r *refTable) find(n int) (ref, error) {
	switch {
	case n > r.old && n <= r.old+len(r.byRef):
		return r.byRef[n-1-r.old], nil
	case n >= 1 && n <= r.old:
		return ref{}, core.Fail(core.CodeNotFound, nil, fmt.Sprintf("Ref %d was read too long ago;", n), "call read_page or find again.")
	case n >= 1 && len(r.byRef) == 0 && n <= r.former:
		return ref{}, core.Fail(core.CodeNotFound, nil, fmt.Sprintf("The page has changed since ref %d was read;", n), "call read_page again.")
	case len(r.byRef) == 0:
		return ref{}, core.Fail(core.CodeNotFound, nil, "No refs of this page were read yet.", "Call read_page or find first.")
	}
	return ref{}, core.Fail(core.CodeNotFound, nil, fmt.Sprintf("There is no ref %d; the last read_page or find gave 1 to %d.",
		n, r.old+len(r.byRef)), "Call read_page again.")
}

// element is the one that a ref names.
func (t *tab) element(n int) (ref, error) {
	t.b.mu.Lock()
	defer t.b.mu.Unlock()
	return t.refs.find(n)
}

// box is where an element is, in CSS pixels of the viewport.
type box struct{ x, y, w, h float64 }

func (b box) center() (x, y float64) { return b.x + b.w/2, b.y + b.h/2 }

// quadBox is the box around a quad of the protocol.
func quadBox(q []float64) (box, bool) {
	if len(q) != 8 {
		return box{}, false
	}
	x0, y0, x1, y1 := q[0], q[1], q[0], q[1]
	for i := 0; i < 8; i += 2 {
		x0, x1 = min(x0, q[i]), max(x1, q[i])
		y0, y1 = min(y0, q[i+1]), max(y1, q[i+1])
	}
	return box{x0, y0, x1 - x0, y1 - y0}, x1 > x0 && y1 > y0
}

type quads struct {
	Quads [][]float64 `json:"quads"`
}

// first is the first box that is not empty.
func (q quads) first() (box, bool) {
	for _, one := range q.Quads {
		if b, ok := quadBox(one); ok {
			return b, true
		}
	}
	return box{}, false
}

// goneOr says that an element is gone where that is what Chromium's refusal means.
func goneOr(err error, n int) error {
	if _, ok := errors.AsType[*protocolError](err); ok || errors.Is(err, errEnded) {
		if errors.Is(err, errEnded) {
			return err
		}
		return core.Fail(core.CodeNotFound, err, fmt.Sprintf("The element of ref %d is gone from the page;", n), "call read_page again.")
	}
	return err
}

// show scrolls the element of a ref into view and says where it is then.
func (t *tab) show(ctx context.Context, n int) (ref, box, error) {
	e, err := t.element(n)
	if err != nil {
		return e, box{}, err
	}
	hidden := core.Fail(core.CodeConflict, nil, fmt.Sprintf("The element of ref %d is hidden or has no size;", n),
		"call read_page to see what is there.")
	if e.role == "option" || e.role == "MenuListOption" {
		hidden = core.Fail(core.CodeConflict, nil, fmt.Sprintf("The option of ref %d is in a list that is closed;", n),
			"call form_input with the ref of the list, and “"+e.name+"” as value.")
	}
	if err := t.callIn(ctx, e.session, dom.CommandScrollIntoViewIfNeeded, obj{"backendNodeId": e.backend}, nil); err != nil {
		var connected bool
		if ask := t.askNode(ctx, e.node, `function() { return this.isConnected }`, &connected); ask == nil && connected {
			return e, box{}, hidden
		}
		return e, box{}, goneOr(err, n)
	}
	if e.session != t.session { // the frame itself may be out of view
		if err := t.showFrames(ctx, e.session); err != nil {
			return e, box{}, err
		}
	}
	var q quads
	if err := t.callIn(ctx, e.session, dom.CommandGetContentQuads, obj{"backendNodeId": e.backend}, &q); err != nil {
		return e, box{}, hidden
	}
	at, ok := q.first()
	if !ok {
		return e, box{}, hidden
	}
	dx, dy, err := t.offset(ctx, e.session)
	if err != nil {
		return e, box{}, err
	}
	at.x += dx
	at.y += dy
	return e, at, nil
}

// frameOf is the frame that a session is of, and the session of the frame around it.
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

// offset is where a session's frame begins in the viewport of the tab.
func (t *tab) offset(ctx context.Context, session string) (x, y float64, err error) {
	for depth := 0; session != t.session && depth < maxNested; depth++ {
		o, err := t.owner(ctx, session)
		if err != nil {
			return 0, 0, err
		}
		var got struct {
			Model struct {
				Content []float64 `json:"content"`
			} `json:"model"`
		}
		if err := t.callIn(ctx, o.session, dom.CommandGetBoxModel, obj{"backendNodeId": o.backend}, &got); err != nil {
			return 0, 0, err
		}
		b, _ := quadBox(got.Model.Content)
		x, y = x+b.x, y+b.y
		session = o.session
	}
	return x, y, nil
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

// boxes fills the boxes of elements, all of them at once. One without a box keeps zeros.
func (t *tab) boxes(ctx context.Context, elements []core.BrowserElement) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	offsets := map[string][2]float64{}
	nodes := make([]node, len(elements))
	for i, e := range elements {
		r, err := t.element(e.Ref)
		if err != nil {
			continue
		}
		nodes[i] = r.node
		if _, ok := offsets[r.session]; !ok {
			x, y, _ := t.offset(ctx, r.session)
			offsets[r.session] = [2]float64{x, y}
		}
	}
	var wg sync.WaitGroup
	next := make(chan int)
	for range min(16, len(elements)) {
		wg.Go(func() {
			for i := range next {
				var q quads
				if nodes[i].backend == 0 || t.callIn(ctx, nodes[i].session, dom.CommandGetContentQuads,
					obj{"backendNodeId": nodes[i].backend}, &q) != nil {
					continue
				}
				if at, ok := q.first(); ok {
					o := offsets[nodes[i].session]
					elements[i].X, elements[i].Y, elements[i].Width, elements[i].Height = at.x+o[0], at.y+o[1], at.w, at.h
				}
			}
		})
	}
	for i := range elements {
		next <- i
	}
	close(next)
	wg.Wait()
}
