package runner

import (
	"loop/backend/core"
	"loop/backend/runner/transcript"
)

// pieces takes secrets out of a message that comes piece by piece, where no
// single piece may hold the whole of one: what could be a secret's beginning is
// held until the next piece shows what it is. What is still held when a block
// ends comes with the whole message. Use it from one goroutine.
type pieces struct {
	msgID string
	block int
	kind  string
	held  string
	sent  int // bytes of the block handed out, as a viewer counts them
}

// hidden gives the items as they may be shown.
func (p *pieces) hidden(h hider, items []transcript.Item) []transcript.Item {
	if len(h.plain) == 0 {
		return items
	}
	shown := items[:0]
	for _, it := range items {
		if it, ok := p.hide(h, it); ok {
			shown = append(shown, it)
		}
	}
	return shown
}

// hide gives the item as it may be shown, and false if there is nothing to show yet.
func (p *pieces) hide(h hider, it transcript.Item) (transcript.Item, bool) {
	d, ok := it.Data.(core.MessageStreaming)
	if !ok {
		return it, true
	}
	if d.MsgID != p.msgID || d.Block != p.block || d.Kind != p.kind || d.Offset == 0 {
		*p = pieces{msgID: d.MsgID, block: d.Block, kind: d.Kind}
	}
	text := h.text(p.held + d.Delta)
	n := begun([]byte(text), h.plain)
	p.held, d.Delta = text[len(text)-n:], text[:len(text)-n]
	d.Offset = p.sent
	p.sent += len(d.Delta)
	it.Data = d
	return it, d.Delta != ""
}
