package runner

import (
	"sync"

	"loop/backend/core"
)

// live keeps the message being streamed for pages that load in its middle.
type live struct {
	mu     sync.Mutex
	msgID  string
	blocks []LiveBlock
}

func (l *live) add(d core.MessageStreaming) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if d.MsgID != l.msgID {
		l.msgID, l.blocks = d.MsgID, nil
	}
	for len(l.blocks) <= d.Block { // the parser bounds the number
		l.blocks = append(l.blocks, LiveBlock{})
	}
	b := &l.blocks[d.Block]
	b.Kind = d.Kind
	if d.Offset == len(b.Text) {
		b.Text += d.Delta
	}
}

func (l *live) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.msgID, l.blocks = "", nil
}

// settle empties the first block of that kind: its whole text is stored now.
func (l *live) settle(msgID, kind string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if msgID != l.msgID {
		return
	}
	for i := range l.blocks {
		if b := &l.blocks[i]; b.Kind == kind && b.Text != "" {
			b.Text = ""
			break
		}
	}
}

func (l *live) snapshot(run core.RunID) *LiveMessage {
	l.mu.Lock()
	defer l.mu.Unlock()
	full := false
	for _, b := range l.blocks {
		full = full || b.Text != ""
	}
	if !full {
		return nil
	}
	return &LiveMessage{RunID: run, MsgID: l.msgID, Blocks: append([]LiveBlock(nil), l.blocks...)}
}
