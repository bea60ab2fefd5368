package runner

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"loop/backend/core"
	"loop/backend/runner/transcript"
)

// maxLive bounds a message that is being streamed, in bytes.
const maxLive = 2 << 20

// live keeps the message being streamed for pages that load in its middle.
type live struct {
	mu     sync.Mutex
	msgID  string
	blocks []core.LiveBlock
	size   int
}

func (l *live) add(d core.MessageStreaming) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if d.MsgID != l.msgID {
		l.msgID, l.blocks, l.size = d.MsgID, nil, 0
	}
	for len(l.blocks) <= d.Block { // the parser bounds the number
		l.blocks = append(l.blocks, core.LiveBlock{})
	}
	b := &l.blocks[d.Block]
	b.Kind = d.Kind
	if d.Offset == len(b.Text) && l.size+len(d.Delta) <= maxLive {
		b.Text += d.Delta
		l.size += len(d.Delta)
	}
}

func (l *live) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.msgID, l.blocks, l.size = "", nil, 0
}

// settle empties the first block of that kind: its whole text is stored now. A
// whole message with another id than the one being streamed was sent instead of it;
// a call of a tool does not name its message.
func (l *live) settle(msgID, kind string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if msgID != l.msgID && kind != "tool" {
		l.blocks, l.size = nil, 0
		return
	}
	for i := range l.blocks {
		if b := &l.blocks[i]; b.Kind == kind && b.Text != "" {
			l.size -= len(b.Text)
			b.Text = ""
			break
		}
	}
}

func (l *live) snapshot(run core.RunID) *core.LiveMessage {
	l.mu.Lock()
	defer l.mu.Unlock()
	full := false
	blocks := append([]core.LiveBlock(nil), l.blocks...)
	for i, b := range blocks {
		if b.Kind == "tool" {
			blocks[i] = core.LiveBlock{}
		}
		full = full || blocks[i].Text != ""
	}
	if !full {
		return nil
	}
	return &core.LiveMessage{RunID: run, MsgID: l.msgID, Blocks: blocks}
}

// cut is what was streamed of a message that never came whole, as it is stored.
func (l *live) cut() []transcript.Item {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []transcript.Item
	for i, b := range l.blocks {
		if strings.TrimSpace(b.Text) == "" {
			continue
		}
		switch b.Kind {
		case "text":
			out = append(out, transcript.Item{Type: core.EventMessageCreated, Data: core.MessageCreated{
				MsgID: l.msgID, Content: b.Text, IsBot: true, IsProcessed: true, Cut: true}})
		case "thinking":
			out = append(out, transcript.Item{Type: core.EventThinking, Data: core.Thinking{MsgID: l.msgID, Text: b.Text, Cut: true}})
		case "tool":
			out = append(out, transcript.Item{Type: core.EventToolUse, Data: core.ToolUse{
				ToolUseID: fmt.Sprintf("%s/%d", l.msgID, i), Name: b.Text, Input: json.RawMessage("{}"), Cut: true}})
		}
	}
	return out
}
