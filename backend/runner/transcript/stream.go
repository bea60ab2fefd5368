package transcript

import "loop/backend/core"

// stream follows the message being written, so that its pieces carry their
// message, block and place.
func (p *Parser) stream(line []byte) ([]Item, error) {
	var w wireStream
	if err := decode(line, &w); err != nil {
		return nil, err
	}
	if w.Parent != "" {
		return nil, nil // a sub-agent's own words come as whole messages
	}
	switch e := w.Event; e.Type {
	case "message_start":
		p.msgID, p.block, p.sent = clipShort(e.Message.ID), -1, 0
		p.saw("", e.Message.Model)
		p.tally.heard(p.msgID, e.Message.Model, "", e.Message.Usage)
		return p.turn(true), nil
	case "message_delta": // the first to say how much was written
		p.tally.heard(p.msgID, "", "", e.Usage)
	case "content_block_start":
		p.block, p.sent = e.Index, 0
		if e.Block.Name != "" && p.msgID != "" && e.Index >= 0 && e.Index <= maxBlocks {
			return []Item{p.piece(e.Index, "tool", clipShort(e.Block.Name))}, nil
		}
	case "content_block_delta":
		kind, text := "text", e.Delta.Text
		if e.Delta.Type == "thinking_delta" {
			kind, text = "thinking", e.Delta.Thinking
		}
		if p.msgID == "" || text == "" || e.Index < 0 || e.Index > maxBlocks {
			return nil, nil // joined in the middle: the whole message will follow
		}
		if e.Index != p.block {
			p.block, p.sent = e.Index, 0
		}
		if p.sent+len(text) > maxText {
			p.sent = maxText // nothing after a piece that is left out: it would not follow what is there
			return nil, nil
		}
		return []Item{p.piece(e.Index, kind, text)}, nil
	}
	return nil, nil
}

func (p *Parser) piece(block int, kind, text string) Item {
	at := p.sent
	p.sent += len(text)
	return Item{Type: core.EventMessageStreaming, Passing: true, Data: core.MessageStreaming{
		MsgID: p.msgID, Block: block, Kind: kind, Offset: at, Delta: text,
	}}
}

// maxBlocks bounds the number of a block; real messages have a few.
const maxBlocks = 1000
