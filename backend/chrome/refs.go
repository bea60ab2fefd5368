package chrome

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

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

// leave makes the elements of a session stale, or of one frame of it: the frame shows
// another document, in which Chromium may use their numbers again.
func (r *refTable) leave(session, frame string) {
	for i, e := range r.byRef {
		if e.session == session && (frame == "" || e.frame == frame) {
			delete(r.byNode, e.node)
			r.byRef[i].backend = 0
		}
	}
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
		e := r.byRef[n-1-r.old]
		if e.backend == 0 {
			return ref{}, core.Fail(core.CodeNotFound, nil, fmt.Sprintf("The frame that ref %d was in shows another page now;", n),
				"call read_page again.")
		}
		return e, nil
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

// hidden says that an element cannot be acted on as it is.
func (e ref) hidden(n int) error {
	if e.role == "option" || e.role == "MenuListOption" {
		return core.Fail(core.CodeConflict, nil, fmt.Sprintf("The option of ref %d is in a list that is closed;", n),
			"call form_input with the ref of the list, and “"+e.name+"” as value.")
	}
	return core.Fail(core.CodeConflict, nil, fmt.Sprintf("The element of ref %d is hidden or has no size;", n),
		"call read_page to see what is there.")
}

// show scrolls the element of a ref into view and says where it is then.
func (t *tab) show(ctx context.Context, n int) (ref, box, error) {
	e, err := t.element(n)
	if err != nil {
		return e, box{}, err
	}
	if err := t.bring(ctx, e.node, e.role); err != nil {
		var connected bool
		if ask := t.askNode(ctx, e.node, `function() { return this.isConnected }`, &connected); ask == nil && connected {
			return e, box{}, e.hidden(n)
		}
		return e, box{}, goneOr(err, n)
	}
	if e.session != t.session { // the frame itself may be out of view
		if err := t.showFrames(ctx, e.session); err != nil {
			return e, box{}, err
		}
		// Until it has been drawn, Chromium gives what a hand does there to the frame around it.
		if err := t.askIn(ctx, e.session, t.frameOf(e.session), drawn, nil); err != nil {
			return e, box{}, goneOr(err, n)
		}
	}
	return t.place(ctx, n)
}

// drawn waits until a frame has been drawn, at most 300 ms.
const drawn = `() => new Promise(r => { requestAnimationFrame(() => requestAnimationFrame(() => r())); setTimeout(r, 300) })`

// place says where the element of a ref is in the viewport: the part of it that can be seen.
func (t *tab) place(ctx context.Context, n int) (ref, box, error) {
	e, err := t.element(n)
	if err != nil {
		return e, box{}, err
	}
	at, ok := t.boxOf(ctx, e.node, e.role)
	if !ok {
		return e, box{}, e.hidden(n)
	}
	p, err := t.placement(ctx, e.session)
	if err != nil {
		return e, box{}, err
	}
	w, h := t.viewport(ctx)
	at = p.box(at)
	at.x, at.y, at.w, at.h = max(at.x, 0), max(at.y, 0), min(at.x+at.w, w)-max(at.x, 0), min(at.y+at.h, h)-max(at.y, 0)
	if at.w <= 0 || at.h <= 0 {
		return e, box{}, core.Fail(core.CodeConflict, nil,
			fmt.Sprintf("The element of ref %d is outside of the viewport, and the page cannot be scrolled to it;", n),
			"make the viewport larger with resize_window, or act on the element with evaluate.")
	}
	return e, at, nil
}

// boxes fills the boxes of elements, all of them at once. One without a box keeps zeros.
func (t *tab) boxes(ctx context.Context, elements []core.BrowserElement) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	placements := map[string]placement{}
	nodes := make([]node, len(elements))
	for i, e := range elements {
		r, err := t.element(e.Ref)
		if err != nil {
			continue
		}
		nodes[i] = r.node
		if _, ok := placements[r.session]; !ok {
			placements[r.session], _ = t.placement(ctx, r.session)
		}
	}
	var wg sync.WaitGroup
	next := make(chan int)
	for range min(16, len(elements)) {
		wg.Go(func() {
			for i := range next {
				if nodes[i].backend == 0 {
					continue
				}
				if at, ok := t.boxOf(ctx, nodes[i], elements[i].Role); ok {
					at = placements[nodes[i].session].box(at)
					elements[i].X, elements[i].Y, elements[i].Width, elements[i].Height = at.x, at.y, at.w, at.h
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
