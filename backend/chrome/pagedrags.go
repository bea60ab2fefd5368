package chrome

import (
	"context"
	"time"

	"github.com/chromedp/cdproto/input"
)

// dragBegan keeps what a page has given to drag. Chromium hands it out instead of
// starting a drag of the system's, which has no end without a person.
func (b *Browser) dragBegan(e event) {
	var p struct {
		Data *input.DragData `json:"data"`
	}
	if !b.decode(e, &p) || p.Data == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if t := b.sessions[e.session]; t != nil && t.pointer.down != "" {
		t.pointer.drag = p.Data
		b.advance()
	}
}

func dragCommand(kind input.DispatchDragEventType, x, y float64, d *input.DragData, modifiers int) command {
	return command{input.CommandDispatchDragEvent, &input.DispatchDragEventParams{Type: kind, X: x, Y: y, Data: d,
		Modifiers: int64(modifiers)}}
}

// dragFromTo drags with the left button, by the page's own drag and drop if it has one.
func (t *tab) dragFromTo(ctx context.Context, fromX, fromY, toX, toY float64) (err error) {
	over, err := t.b.input.turn(ctx)
	if err != nil {
		return err
	}
	defer over()
	defer func() {
		if err != nil {
			t.b.mu.Lock()
			t.pointer.lost()
			t.b.mu.Unlock()
		}
	}()
	err = t.send(ctx, func(p *pointer) []command {
		return append(p.moveTo(fromX, fromY, 0), p.press(fromX, fromY, input.MouseButtonLeft, 1, 0)...)
	})
	const pieces = 8
	for i := 1; i <= pieces+1 && err == nil; i++ { // a drag begun by the last piece enters after it
		f := min(float64(i)/pieces, 1)
		x, y := fromX+(toX-fromX)*f, fromY+(toY-fromY)*f
		t.draggedOver(ctx, x, y)
		err = t.send(ctx, func(p *pointer) []command { return p.moveTo(x, y, 0) })
		if i == 2 { // Chromium tells of a drag after it answered the move that began it
			short, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
			_ = t.b.until(short, func() bool { return t.pointer.drag != nil })
			cancel()
		}
	}
	if err != nil {
		return err
	}
	return t.send(ctx, func(p *pointer) []command { return p.lift(toX, toY, input.MouseButtonLeft, 1, 0) })
}

// draggedOver notes which frame a drag is over: it has to enter each like a page. The frame
// that is not known stays the one before.
func (t *tab) draggedOver(ctx context.Context, x, y float64) {
	t.b.mu.Lock()
	p := t.pointer
	frames := len(t.frames)
	t.b.mu.Unlock()
	if p.drag == nil || frames == 0 {
		return
	}
	source, in := p.source, p.in
	if source == "" {
		source = t.sessionAt(ctx, p.x, p.y, t.session)
		in = source
	}
	in = t.sessionAt(ctx, x, y, in)
	t.b.mu.Lock()
	defer t.b.mu.Unlock()
	if now := &t.pointer; now.drag == p.drag {
		now.source, now.over, now.in = source, now.over && in == p.in, in
	}
}

// sessionAt is the session of the innermost frame at a place, or else what is given.
func (t *tab) sessionAt(ctx context.Context, x, y float64, unknown string) string {
	path, err := t.nodesAt(ctx, x, y, false)
	if err != nil || len(path) == 0 {
		return unknown
	}
	return path[len(path)-1].session
}
