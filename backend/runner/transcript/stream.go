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
	case "content_block_start":
		p.block, p.sent = e.Index, 0
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
		at := p.sent
		p.sent += len(text)
		if p.sent > maxText {
			return nil, nil
		}
		return []Item{{Type: core.EventMessageStreaming, Passing: true, Data: core.MessageStreaming{
			MsgID: p.msgID, Block: e.Index, Kind: kind, Offset: at, Delta: text,
		}}}, nil
	}
	return nil, nil
}

// maxBlocks bounds the number of a block; real messages have a few.
const maxBlocks = 1000
